"""The descriptors that the keeper keeps of each session.

Theory of operation
-------------------
A holder deposits its descriptors and a record of facts when it takes a session
up, over a link that stays open. When the link ends the holder is dead, and its
successor is given the same descriptors: the terminal, the memory, the listening
socket, on which connects queue meanwhile, and the pidfd.

A holder that dies again and again is replaced after a growing delay, so that a
bug costs a little CPU and not all of it. The descriptors stay here all the while.

Invariants, checked by tests/keeper/test_vault.py:

I1  A deposit is kept until the session is forgotten, whatever happens to holders.
I2  At most one successor is being made for a session at any moment.
I3  An exit status, once known, is kept.
"""

from dataclasses import dataclass, field

from holdfast.model.ids import SessionId
from holdfast.model.session_record import HeldRecord, SessionRecord, sound_fields

FIRST_DELAY = 0.0
"""The first replacement is immediate: somebody is typing."""

MAX_DELAY = 2.0
"""Seconds between attempts at the worst: a bug that kills every holder at once
costs a fork every two seconds."""

PATIENT = 5
"""Deaths in a row that are answered at once: a person with `kill`, not a bug."""

CALM = 0.1
"""Seconds of life after which a holder's death counts as the first again: one that
is broken dies within milliseconds of taking its session up."""

MEMORY = 1
"""Which of a session's descriptors is its shared memory."""

OURS = ("name", "keep", "ended_ms")
"""Facts of which we know the newest: the first two are changed only through us, and
the last is never changed."""

_STEP = 0.05

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

    def inherit(self, session: str, deposit: Deposit, at: float) -> bool:
        """Keep what a dead keeper had, unless its holder was here before; say so.

        The holder may still come: its successor is planned for `at`.
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
        kept.deaths = 0 if now - kept.held_since > CALM else kept.deaths + 1
        kept.is_held = False
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
