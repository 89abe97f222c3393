"""The state at the end of a logbook, as far as a successor needs it.

Theory of operation
-------------------
Entries are read in their order, each once, and only what still matters is kept: the
life and its turn, who may do what, whether the session stands still or is over,
which input is in doubt, and the last input of each client. So it has the same size
after a million entries as after a thousand, and can be written down and read again
at any entry (core.book.checkpoint).

The last input of a client stands for all before it: a repeat of an earlier one
is answered *forgotten*, and nothing is applied twice.

Invariants, checked by tests/core/book/test_checkpoint.py:

I1  Reading a book from its beginning, or from where this was written down, is the
    same.
I2  What is kept is bounded by the operators of the session and MAX_LAST.
"""

import base64
from collections import OrderedDict
from dataclasses import replace
from typing import Final

import msgspec

from holdfast.core.book.entries import granted_envelope
from holdfast.core.book.logbook import Entry, EntryKind
from holdfast.core.input.forgotten import Forgotten
from holdfast.core.input.rights import NOTHING
from holdfast.core.input.serializer import MAX_CLIENTS, PastInput
from holdfast.core.relay.lease import NEVER_LIVED
from holdfast.model.envelopes import Envelope  # noqa: TC001  # people read it
from holdfast.model.errors import HoldfastError
from holdfast.model.ids import NO_EPOCH, ActorId, ClientId, Incarnation, Index
from holdfast.model.inputs import InputId, InputKind, digest_of
from holdfast.model.outcomes import Applied, Cut, Outcome, Refused, outcome_from
from holdfast.wire.lines import decode_line

MAX_LAST: Final = 4 * MAX_CLIENTS
"""Clients whose last input is kept: more than a holder remembers."""


_Who = tuple[ActorId, ClientId]


class Standing:
    """Folds entries into what is true at their end."""

    def __init__(self) -> None:
        self.through = -1
        """The last entry that was read."""

        self.life = NEVER_LIVED
        self.epoch = NO_EPOCH
        self.envelopes: dict[ActorId, Envelope] = {}
        self.holder: ActorId | None = None
        self.frozen = False
        self.over: str | None = None
        self.open: Index | None = None
        """The input of which the book does not say what became of it."""

        self.open_life = NEVER_LIVED
        self.last: OrderedDict[_Who, tuple[int, Entry | PastInput]] = OrderedDict()
        """The last input of each client, and where it stands."""

        self.endings: dict[int, Outcome] = {}
        """What became of those of them that were not applied."""

        self.forgotten = Forgotten()
        """What is kept of the clients beyond those."""

    def begin(self, life: Incarnation, *, is_moved: bool = False) -> None:
        """Start the account of another life.

        Rights, epochs and outcomes live on, and so does a doubt until the book
        settles it. Turn and freeze do not; after a move the turn does, too.
        """
        self.life, self.frozen, self.over = life, False, None
        if not is_moved:
            self.holder = None

    def read(self, entry: Entry) -> None:  # noqa: C901  # one case for each kind
        """Take the next entry."""
        if entry.incarnation != self.life:
            is_moved = bool(entry.fields.get("origin"))
            self.begin(entry.incarnation, is_moved=is_moved)
        self.through = entry.index
        self.epoch = max(self.epoch, entry.epoch)
        self.forgotten.begin(entry.epoch)
        match entry.kind:
            case EntryKind.INPUT:
                self.open, self.open_life = entry.index, entry.incarnation
                self._remember(entry)
            case EntryKind.SETTLED:
                self._settle(entry)
            case EntryKind.TURN:
                to = entry.fields["to"]
                self.holder = None if to is None else ActorId(str(to))
            case EntryKind.FROZEN | EntryKind.THAWED:
                self.frozen = entry.kind is EntryKind.FROZEN
            case EntryKind.EXITED:
                self.over = str(entry.fields["how"])
            case EntryKind.GRANTED:
                self.envelopes[entry.actor] = granted_envelope(entry.fields)
            case EntryKind.REVOKED:
                self.envelopes[entry.actor] = NOTHING
            case _:
                pass

    def past(self) -> dict[Index, PastInput]:
        """Return the last input of each client, the oldest first."""
        found: dict[Index, PastInput] = {}
        for index, last in sorted(self.last.values(), key=lambda one: one[0]):
            past = last if isinstance(last, PastInput) else _taken_apart(last)
            ending = self.endings.get(index, past.outcome)
            found[Index(index)] = replace(past, outcome=ending)
        return found

    def _remember(self, entry: Entry) -> None:
        who = (entry.actor, entry.client)
        before = self.last.pop(who, None)
        self.last[who] = (entry.index, entry)
        if before is None and len(self.last) > MAX_LAST:
            _, before = self.last.popitem(last=False)
            self._forget(before[1])
        if before is not None:
            self.endings.pop(before[0], None)

    def _forget(self, last: Entry | PastInput) -> None:
        past = last if isinstance(last, PastInput) else _taken_apart(last)
        following = past.id.sequence + 1
        self.forgotten.add(past.actor, past.id.client, past.epoch, following)

    def _settle(self, entry: Entry) -> None:
        index = Index(entry.number("of"))
        if self.open == index:
            self.open = None
        outcome = settled(entry)
        if not isinstance(outcome, Applied) and any(
            index == at for at, _ in reversed(self.last.values())
        ):
            self.endings[index] = outcome


def _taken_apart(entry: Entry) -> PastInput:
    # It may have been read in passing (core.book.log_scan), without all of its fields.
    return past_of(msgspec.structs.replace(entry, fields=decode_line(entry.line)))


def past_of(entry: Entry) -> PastInput:
    """Return the input that an entry tells of: applied, or refused."""
    outcome: Outcome = Applied(entry.index)
    if entry.kind is EntryKind.REFUSED:
        outcome = Refused(refusal(str(entry.fields["code"])))
    return PastInput(
        entry.actor,
        InputId(entry.client, entry.number("sequence")),
        _digest(entry),
        outcome,
        entry.epoch,
    )


def refusal(code: str) -> HoldfastError:
    """Return the error that an earlier process has refused something with."""
    return HoldfastError.told(f"it was refused: {code}", {"code": code})


def settled(entry: Entry) -> Outcome:
    """Return what a `settled` entry says of the input that it is about."""
    word = str(entry.fields["as"])
    written = entry.number("written") if word == Cut.word else 0
    return outcome_from(word, Index(entry.number("of")), written)


def _digest(entry: Entry) -> bytes | None:
    data = entry.fields.get("data")
    if not isinstance(data, str):
        return None
    kind = InputKind(str(entry.fields["input"]))
    return digest_of(kind, base64.b64decode(data))
