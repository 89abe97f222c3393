"""Limits how often an operator may be refused a start.

Each refused start leaves a logbook, so that it is known who wanted what. An operator
that keeps trying would fill the disk with them, and people's time with
questions: after LIMIT in an hour its starts are no longer judged, and leave only an
occasional line in the host's logbook.
"""

import contextlib
import time

from holdfast.linux.stored import host_book
from holdfast.linux.stored.recent_marks import recent_marks
from holdfast.model.actors import Actor, ActorKind
from holdfast.model.errors import BudgetSpent, HoldfastError
from holdfast.model.ids import ActorId

LIMIT = 30
"""Refused starts of one operator in an hour: more than an honest one tries."""

ALL = 240
"""Of all operators. A program that takes a new name for each is met here; people,
who are made known by people, go on."""

HOUR_MS = 3_600_000

REFUSED = "refused-starts"
"""Where it stands who was refused of late."""


def demand_patience(actor: Actor) -> None:
    """Do nothing if another refusal of this operator would be put on record.

    Raises:
        Unavailable: It has been refused too often; when to try again.

    """
    now_ms = time.time_ns() // 1_000_000
    with recent_marks(REFUSED, now_ms) as marks:
        own, every = marks.untils(actor.id.encode()), marks.untils()
    if len(own) >= LIMIT:
        error = BudgetSpent("refused starts an hour", LIMIT, own[-LIMIT] - now_ms)
    elif len(every) >= ALL and actor.kind is not ActorKind.HUMAN:
        what = "refused starts of all operators an hour"
        error = BudgetSpent(what, ALL, every[-ALL] - now_ms)
    else:
        return
    with contextlib.suppress(HoldfastError):
        host_book.record_declined(actor.id, "start", error.code)
    raise error


def note_refusal(actor: ActorId) -> None:
    """Remember that a start was refused."""
    now_ms = time.time_ns() // 1_000_000
    with (
        contextlib.suppress(OSError, HoldfastError),
        recent_marks(REFUSED, now_ms) as marks,
    ):
        marks.add(actor.encode(), now_ms + HOUR_MS)
