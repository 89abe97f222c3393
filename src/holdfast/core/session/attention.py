"""Decides whether a session calls for attention, and when to report it.

Theory of operation
-------------------
A program calls by what it prints (term.attention), an operator by `notify`. A call
stands until someone types; then the session has what it needed, or will call again.

    QUIET ──called──▶ STANDING ──typed──▶ QUIET
                        │  ▲
                        └──┘ called otherwise, and for as much

A call may wake the people who are told of it, so each is told once: a call that says
what the standing one says is the same call, and one that says less adds nothing. A bell
says less than a message, and a message less than an operator's word.

Nor may a program that calls continuously keep all clients busy. There is an allowance
for calls that are told; when it is used up, the last call waits until there is some
again. A bell in answer to a key is mostly a line editor's. It waits for SETTLE seconds
after the key, and is forgotten if another key comes first.

Invariants, each checked by tests/core/session/test_attention.py:

I1  Over any length of time no more calls are told than BURST, and RATE times the time.
I2  After someone has typed, no call stands and none is delayed.
I3  A reported call is not followed by one that says less, or the same, until someone
    types.
I4  A call is told within SETTLE seconds, while the allowance lasts.
"""

import math

from holdfast.core.relay.allowance import Allowance
from holdfast.model.session_record import (
    BELL,
    MESSAGE,
    NEEDS_INPUT,
    NO_ATTENTION,
    Attention,
)

RATE = 0.5
"""Calls a second that are told in the long run."""

BURST = 8
"""Calls that are told at once: more than a person answers in a row."""

SETTLE = 0.15
"""Seconds for which a bell after a key waits: a key that repeats comes sooner."""

_WEIGHTS = {"": 0, BELL: 1, MESSAGE: 2, NEEDS_INPUT: 3}


class Calls:
    """The calls of one session; `standing` is what a predecessor has told."""

    def __init__(self, now: float, standing: Attention = NO_ATTENTION) -> None:
        self.standing = standing
        """What was told and not answered."""

        self._waiting: Attention | None = None
        self._due = now
        self._spent_until = now
        self._allowance = Allowance(RATE, BURST, now)

    @property
    def is_quiet(self) -> bool:
        """Whether nobody is called for, and nothing waits."""
        return not self.standing.what and self._waiting is None

    def called(
        self, call: Attention, now: float, typed_at: float = -math.inf
    ) -> Attention | None:
        """Take a call; return what is to be told now, if anything is.

        `typed_at` is when someone typed last.
        """
        if _is_less(call, self.standing) or _is_less(call, self._waiting):
            return None
        if _is_same(call, self.standing):
            self._waiting = None  # What came in between is taken back.
            return None
        settled = typed_at + SETTLE if call.what == BELL else now
        self._waiting, self._due = call, max(settled, self._spent_until)
        return self.tick(now)

    def typed(self) -> Attention | None:
        """Note that someone typed; return the call that stood until now, if any."""
        stood, self.standing, self._waiting = self.standing, NO_ATTENTION, None
        return stood if stood.what else None

    def tick(self, now: float) -> Attention | None:
        """Return what is to be told now, if anything is."""
        if self._waiting is None or now < self._due:
            return None
        if not self._allowance.spend(1, now):
            self._due = self._spent_until = now + 1 / RATE
            return None
        self.standing, self._waiting = self._waiting, None
        return self.standing

    def next_deadline(self) -> float | None:
        """Return when to call `tick`; None if nothing waits."""
        return None if self._waiting is None else self._due


def _is_less(call: Attention, other: Attention | None) -> bool:
    return other is not None and _weight(call) < _weight(other)


def _is_same(call: Attention, other: Attention) -> bool:
    return call._replace(since_ms=0) == other._replace(since_ms=0)


def _weight(call: Attention) -> int:
    # A later version's word says as much as any: what is unknown is not thrown away.
    return _WEIGHTS.get(call.what, max(_WEIGHTS.values()))
