"""The descriptors that the keeper keeps of each session.

Theory of operation
-------------------
A holder deposits its descriptors and a record of facts when it takes a session
up, over a link that stays open. When the link ends the holder is dead, and its
successor is given the same descriptors: the terminal, the memory, the listening
socket, on which connects queue meanwhile, and the pidfd.

A holder that dies again and again is replaced after a growing delay, so that a
bug costs a little CPU and not all of it. The descriptors stay here all the while.

A session may doze: its holder asks for that, and goes. Then the end of the link is no
death, and none is planned until the session is woken.

    HELD ──died──▶ PLANNED ──due──▶ on its way ──deposit──▶ HELD
      │                ▲
      └─doze, gone─▶ DOZING ──wake──┘

Invariants, checked by tests/keeper/test_vault.py:

I1  A deposit is kept until the session is forgotten, whatever happens to holders.
I2  At most one successor is being made for a session at any moment.
I3  An exit status, once known, is kept.
I4  Of a session that dozes no successor is made; once it is woken, one is.
"""

from dataclasses import dataclass, field

from holdfast.model.ids import SessionId
from holdfast.model.session_record import HeldRecord, SessionRecord, sound_fields

FIRST_DELAY = 0.0
"""The first replacement is immediate: an operator may be typing."""

MAX_DELAY = 2.0
"""Seconds between attempts at the worst: a bug that kills every holder at once
costs a fork every two seconds."""

PATIENT = 5
"""Deaths in a row that are answered at once: a person with `kill`, not a bug."""

CALM = 0.1
"""Seconds of life after which a holder's death counts as the first again: one that
is broken dies within milliseconds of taking its session up."""

TERMINAL, MEMORY, LISTENER, LEADER = range(4)
"""Which of a session's descriptors is what: the master, the shared memory, the
listening socket, the pidfd."""

OURS = ("name", "keep", "reaps_ms", "expires", "leased", "ended_ms")
"""Facts of which we know the newest: all but the last are changed only through us,
and that is never changed."""

_STEP = 0.05

_AWAKE: "Facts" = {"dozing": False, "idle_ms": 0}

Facts = dict[str, object]


@dataclass(slots=True)
class Deposit:
    """What is kept of one session."""

    facts: Facts
    """As its holder wrote them: what we do not know is for the next holder, too."""

    fds: list[int]
    held_since: float
    deaths: int = 0
    is_held: bool = True
    replace_at: float | None = None
    exit: int | None = None
    record: SessionRecord = field(init=False)
    """What the facts say that everyone may know; the vault has its id."""

    held: HeldRecord = field(init=False)

    def __post_init__(self) -> None:
        """Read the facts."""
        self.put(self.facts)

    def put(self, facts: Facts) -> None:
        """Keep these facts."""
        self.facts = facts
        found = {"id": SessionId(""), **sound_fields(SessionRecord, facts)}
        self.record = SessionRecord(**found)
        self.held = HeldRecord(**sound_fields(HeldRecord, facts))

    def lease(self, expires: float) -> None:
        """Keep until when it may speak; of 0.0 it is not known that it ever might."""
        leased = self.held.leased or expires > 0
        self.held = self.held._replace(expires=expires, leased=leased)
        self.facts = {**self.facts, "expires": expires, "leased": leased}

    @property
    def is_dozing(self) -> bool:
        """Whether it has no holder, and needs none."""
        return self.record.dozing

    @property
    def has_exited(self) -> bool:
        """Whether its holder has written down how its leader ended."""
        return self.record.state == "exited"

    @property
    def plain_fds(self) -> list[int]:
        """Its descriptors without those that were left for when it is woken."""
        return self.fds[: len(self.fds) - self.held.left]

    @property
    def memory(self) -> int:
        """The descriptor of its shared memory."""
        return self.fds[MEMORY]


@dataclass(slots=True)
class Vault:
    """Everything deposited, by session id."""

    deposits: dict[str, Deposit] = field(default_factory=dict)

    def deposit(
        self, session: str, facts: Facts, fds: list[int], now: float
    ) -> list[int]:
        """Keep what a holder brings; return descriptors that are no longer needed."""
        kept = self.deposits.get(session)
        if kept is None:
            self.deposits[session] = Deposit(facts, fds, now)
            return []
        spare, kept.fds = kept.fds, fds
        # A holder that was made ahead of time may have missed what came after.
        newer = {name: kept.facts[name] for name in OURS if name in kept.facts}
        over = {} if kept.exit is None else {"state": "exited"}
        kept.put({**facts, **newer, **over})
        kept.held_since = now
        kept.is_held, kept.replace_at = True, None
        return spare

    def doze(self, session: str, left: list[int], idle_ms: int, **seen: object) -> None:
        """Let a session doze, whose holder is about to go and leaves these."""
        kept = self.deposits[session]
        kept.fds = [*kept.fds, *left]
        asleep = {"dozing": True, "idle_ms": idle_ms, "left": len(left)}
        kept.put({**kept.facts, **asleep, **seen})

    def rouse(self, session: str) -> None:
        """Take `doze` back while the holder is there; what it left is not ours."""
        kept = self.deposits[session]
        kept.fds = kept.plain_fds
        kept.put({**kept.facts, **_AWAKE, "left": 0})

    def wake(self, session: str, now: float) -> bool:
        """Plan a holder for a session that dozes; False if it does not."""
        kept = self.deposits.get(session)
        if kept is None or not kept.is_dozing:
            return False
        kept.put({**kept.facts, **_AWAKE})
        if not kept.is_held:  # Else it is planned when the one that goes is gone.
            kept.deaths, kept.replace_at = 0, now
        return True

    def inherit(self, session: str, deposit: Deposit, at: float | None) -> bool:
        """Keep what a dead keeper had, unless its holder was here before; say so.

        The holder may still come: its successor is planned for `at`. If that is
        None, the session dozes.
        """
        if session in self.deposits:
            return False
        deposit.is_held, deposit.replace_at = False, at
        self.deposits[session] = deposit
        return True

    def holder_died(self, session: str, now: float) -> None:
        """Plan the successor of a holder whose link has ended."""
        kept = self.deposits.get(session)
        if kept is None or not kept.is_held:
            return
        kept.is_held = False
        if kept.is_dozing:
            return
        kept.deaths = 0 if now - kept.held_since > CALM else kept.deaths + 1
        kept.replace_at = now + self._delay(kept.deaths)

    def due(self, now: float) -> list[str]:
        """Return the sessions whose successor is to be made now; once each."""
        found = [
            session
            for session, kept in self.deposits.items()
            if kept.replace_at is not None and now >= kept.replace_at
        ]
        for session in found:
            self.deposits[session].replace_at = None
        return found

    def replacement_failed(self, session: str, now: float) -> None:
        """Plan another attempt: there was nobody to make a successor."""
        kept = self.deposits.get(session)
        if kept is not None and not kept.is_held:
            kept.deaths += 1
            kept.replace_at = now + self._delay(kept.deaths)

    def hurry(self, session: str, now: float) -> None:
        """Plan a successor at once for a session that nobody holds."""
        kept = self.deposits.get(session)
        if kept is not None and not kept.is_held:
            kept.replace_at = now

    def next_deadline(self) -> float | None:
        """Return when `due` has something to say, or None."""
        plans = [kept.replace_at for kept in self.deposits.values()]
        return min((at for at in plans if at is not None), default=None)

    def forget(self, session: str) -> list[int]:
        """Drop a session; return its descriptors, to be closed."""
        kept = self.deposits.pop(session, None)
        return [] if kept is None else kept.fds

    def _delay(self, deaths: int) -> float:
        if deaths <= PATIENT:
            return FIRST_DELAY
        return float(min(_STEP * 2 ** (deaths - PATIENT), MAX_DELAY))
