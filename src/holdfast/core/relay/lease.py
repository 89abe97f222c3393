"""Whether this host may still speak for its session.

Theory of operation
-------------------
The relay lets one host at a time speak for one incarnation of a movable
session. It says so with a lease: an incarnation and a time to live. The host
renews at half time, asks again every RETRY seconds while no answer comes, and
falls silent by itself when the lease has run out.

    CLAIMING ──Granted──▶ HELD ──expiry, or Refused──▶ FENCED
        │                  ▲ │                          │ │
        │                  └─┼─────────Granted──────────┘ │
        └──GivenUp──▶ OVER ◀─┴─GivenUp, or a higher life──┘

Invariants, checked by tests/core/relay/test_lease_properties.py:

I1  Of all hosts, at most one may speak for a session at any moment.
I2  The incarnation a host speaks with never changes, let alone goes down.
I3  An answer from the relay, however late, never shortens a lease.
I4  Whether we may speak is read from the clock at every question: a loop that
    slept through the expiry answers "no" before anything else is done.
I5  What is OVER stays over, whatever arrives later.

The arithmetic of I1. A ttl is in true seconds, and each side pays for the error
of its own clock, which is at most DRIFT:

    host    stops  ttl · (1 - DRIFT) - MARGIN  after it asked       (host_span)
    relay   waits  ttl · (1 + DRIFT)           after it answered    (relay_span)

A clock of rate r shows r seconds in a true second. The slowest host, r = 1 -
DRIFT, has stopped after ttl - MARGIN / r true seconds at the latest; the
fastest relay, r = 1 + DRIFT, has waited ttl true seconds at the least; and the
host began to count before the relay did. So MARGIN lies between the two,
whatever the message delays were. No clock needs setting; each must only run,
through suspend as well (CLOCK_BOOTTIME). Normative: docs/spec/leases.md.
"""

from dataclasses import dataclass

from holdfast.model.ids import HostId, Incarnation

DRIFT = 0.01
"""The rate error we forgive a clock: a hundred times that of a bad crystal."""

MARGIN = 0.5
"""Seconds between our silence and the next host's first word: what was let
through just before the expiry has this long to reach the terminal."""

RETRY = 2.0
"""Seconds between questions while no answer comes: a relay that is back after a
restart is found again within this time."""

MAX_WAIT = 60.0
"""Longest we let a relay keep us waiting before a claim is made again."""

NEVER_LIVED = Incarnation(0)
"""The highest incarnation of a session that has had none."""


def host_span(ttl: float) -> float:
    """Return how long a host may speak, on its own clock, from when it asked."""
    return ttl * (1 - DRIFT) - MARGIN


def relay_span(ttl: float) -> float:
    """Return how long a relay waits, on its own clock, from when it answered."""
    return ttl * (1 + DRIFT)


@dataclass(frozen=True, slots=True)
class Granted:
    """The relay answered a question sent at `asked_at` with a lease."""

    incarnation: Incarnation
    ttl: float
    asked_at: float


@dataclass(frozen=True, slots=True)
class Refused:
    """The relay answered a question sent at `asked_at` with a no.

    `incarnation` is the highest it knows to have lived, `holder` who holds it
    (None: nobody may any more), `wait` the seconds until a claim can succeed.
    """

    holder: HostId | None
    incarnation: Incarnation
    wait: float
    asked_at: float


@dataclass(frozen=True, slots=True)
class Reconnected:
    """The link to the relay is new; it may have forgotten that we are here."""


@dataclass(frozen=True, slots=True)
class GivenUp:
    """The session moves elsewhere in good order, or has ended."""


@dataclass(frozen=True, slots=True)
class Renew:
    """Ask the relay to extend the lease of `incarnation`.

    `is_speaking` tells whether it has not run out yet, which a relay that has
    just started must know (leases.md, section 6).
    """

    incarnation: Incarnation
    is_speaking: bool


@dataclass(frozen=True, slots=True)
class Claim:
    """Ask the relay for the next incarnation; `seen` is the highest we know of."""

    seen: Incarnation


@dataclass(frozen=True, slots=True)
class Begin:
    """Start or restore the session as `incarnation`: it is ours now."""

    incarnation: Incarnation


@dataclass(frozen=True, slots=True)
class SelfFence:
    """Freeze the session; refuse its input and its output."""

    incarnation: Incarnation


@dataclass(frozen=True, slots=True)
class Unfence:
    """Undo SelfFence: the same incarnation was granted to us again."""

    incarnation: Incarnation


@dataclass(frozen=True, slots=True)
class Release:
    """Tell the relay that we are silent. Send it only when the fence is done."""

    incarnation: Incarnation


@dataclass(frozen=True, slots=True)
class Retire:
    """Discard what is fenced: the session lives on as incarnation `by`."""

    incarnation: Incarnation
    by: Incarnation


@dataclass(frozen=True, slots=True)
class ReportRollback:
    """Raise the alarm: the relay has forgotten an incarnation that has lived."""

    seen: Incarnation
    offered: Incarnation


Event = Granted | Refused | Reconnected | GivenUp
Effect = Renew | Claim | Begin | SelfFence | Unfence | Release | Retire | ReportRollback


class LeaseHolder:
    """The host's side of the lease of one incarnation of one session.

    With `incarnation` None the next one is claimed, and `seen` says which is
    the highest known to have lived. `expires_at` continues a lease that an
    earlier process of this host held; it comes from the living holder of the
    session, never from a disk, because the clock restarts with the machine.
    """

    def __init__(
        self,
        host: HostId,
        now: float,
        *,
        incarnation: Incarnation | None = None,
        seen: Incarnation = NEVER_LIVED,
        expires_at: float | None = None,
    ) -> None:
        self._host = host
        self._born_at = now
        self._own = incarnation
        self._seen = max(seen, incarnation or NEVER_LIVED)
        self._seen_at = float("-inf")
        self.expires_at = expires_at
        """When the lease runs out on our clock: the session's holder enforces it."""

        self._granted_ask = float("-inf")
        self._asked_at = float("-inf")
        self._ask_at = now
        self._is_fenced = False
        self.is_over = False
        """Whether this lease can never be held again."""

    @property
    def incarnation(self) -> Incarnation | None:
        """The incarnation this lease is for, or None while one is being claimed."""
        return self._own

    def speaking_incarnation(self, now: float) -> Incarnation | None:
        """Return the incarnation to speak for, or None when we must be silent."""
        if self.expires_at is None or now >= self.expires_at:
            return None
        return self._own

    def may_speak(self, now: float) -> bool:
        """Tell whether input may be accepted and output sent at this moment."""
        return self.speaking_incarnation(now) is not None

    def handle(self, event: Event, now: float) -> list[Effect]:
        """Take what the relay or this host said."""
        if self.is_over:
            return []
        effects = self._expire(now)
        match event:
            case Granted() | Refused() if event.asked_at < self._born_at:
                pass  # Meant for an earlier process of this host.
            case Granted():
                effects += self._take(event, now)
            case Refused():
                effects += self._hear_no(event, now)
            case Reconnected():
                self._ask_at = min(self._ask_at, now)
            case GivenUp():  # pragma: no branch
                effects += self._give_up()
        return effects

    def tick(self, now: float) -> list[Effect]:
        """Do what the clock demands. Call it at or after `next_deadline()`."""
        if self.is_over:
            return []
        effects = self._expire(now)
        if now >= self._ask_at:
            self._asked_at = now
            self._ask_at = now + RETRY
            effects.append(self._question(now))
        return effects

    def next_deadline(self) -> float | None:
        """Return when to call `tick`, or None when there is nothing to wait for."""
        if self.is_over:
            return None
        if self._own is None or self._is_fenced or self.expires_at is None:
            return self._ask_at
        return min(self._ask_at, self.expires_at)

    def _question(self, now: float) -> Effect:
        if self._own is None:
            return Claim(self._seen)
        return Renew(self._own, self.may_speak(now))

    def _expire(self, now: float) -> list[Effect]:
        if self._own is None or self.may_speak(now):
            return []
        return self._fence(self._own)

    def _fence(self, own: Incarnation) -> list[Effect]:
        self.expires_at = None
        if self._is_fenced:
            return []
        self._is_fenced = True
        return [SelfFence(own)]

    def _take(self, grant: Granted, now: float) -> list[Effect]:
        # A number is given once: what is claimed must be higher than any heard of.
        lowest = self._seen + 1 if self._own is None else self._own
        if grant.incarnation < lowest:
            return self._doubt(grant.incarnation, grant.asked_at)
        if self._own is not None and grant.incarnation > self._own:
            return self._retire(self._own, grant.incarnation)
        expires_at = grant.asked_at + host_span(grant.ttl)
        if expires_at <= max(now, self.expires_at or now):
            return []  # Used up on its way, or overtaken by a newer answer.
        self.expires_at = expires_at
        self._granted_ask = grant.asked_at
        self._ask_at = max(grant.asked_at + grant.ttl / 2, self._asked_at + RETRY)
        return self._speak_again(grant.incarnation, now)

    def _speak_again(self, incarnation: Incarnation, now: float) -> list[Effect]:
        if self._own is None:
            self._own = incarnation
            self._learn(incarnation, now)
            return [Begin(incarnation)]
        if self._is_fenced:
            self._is_fenced = False
            return [Unfence(incarnation)]
        return []

    def _hear_no(self, refusal: Refused, now: float) -> list[Effect]:
        if self._own is None:
            return self._wait(refusal, now)
        if refusal.incarnation > self._own:
            return self._retire(self._own, refusal.incarnation)
        if refusal.incarnation < self._own:
            return self._doubt(refusal.incarnation, refusal.asked_at)
        if refusal.holder == self._host or refusal.asked_at <= self._granted_ask:
            return []  # Says that it is ours, or was said before it became ours.
        effects = self._fence(self._own)
        if refusal.holder is not None:
            effects.append(ReportRollback(self._own, self._own))
        return effects

    def _wait(self, refusal: Refused, now: float) -> list[Effect]:
        self._ask_at = now + min(max(refusal.wait, RETRY), MAX_WAIT)
        if refusal.incarnation < self._seen:
            return self._doubt(refusal.incarnation, refusal.asked_at)
        # A grant to us that is still on its way may be taken when it comes.
        is_ours = refusal.holder == self._host
        self._learn(Incarnation(refusal.incarnation - is_ours), now)
        return []

    def _learn(self, incarnation: Incarnation, now: float) -> None:
        if incarnation > self._seen:
            self._seen = incarnation
            self._seen_at = now

    def _doubt(self, offered: Incarnation, asked_at: float) -> list[Effect]:
        # Only a question sent after we had learned the higher number proves that
        # the relay forgot it; an earlier one was merely answered out of order.
        if asked_at <= self._seen_at:
            return []
        return [ReportRollback(self._seen, offered)]

    def _retire(self, own: Incarnation, by: Incarnation) -> list[Effect]:
        self.is_over = True
        return [*self._fence(own), Retire(own, by)]

    def _give_up(self) -> list[Effect]:
        self.is_over = True
        if self._own is None:
            return []
        return [*self._fence(self._own), Release(self._own)]
