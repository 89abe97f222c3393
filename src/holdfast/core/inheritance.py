"""What did the process that held this session before us leave behind?

Theory of operation
-------------------
A process that holds a session may die at any point. Two things outlive it: the
logbook, and a *note* in shared memory. From them its successor learns who has
the turn, whether the session is frozen, what everybody may do, which input ids
are known, and what became of each.

Inputs stand in one strict line, so an input in the logbook proves that every
input before it was settled: applied, unless an entry says otherwise. Only the
last one can be in doubt:

    the note says it went in            applied
    the note says its writing began     unknown: never repeated, never claimed
    the note says neither               dropped: its first byte was never written
    there is no note (the host died)    unknown

A session that begins its next life (a restore, a move, a cold recovery) has a
free turn under a new epoch, and nothing of its earlier lives can be repeated
into it, because every input names the incarnation it was made for. What became
of their inputs is remembered all the same, so that whoever asks again is told.

The entries must be durable before they are inherited: what is inherited as
applied is acknowledged without looking at the disk again.

Invariants, checked by tests/core/test_inheritance.py and the simulator:

I1  What was acknowledged is inherited as applied.
I2  What was not applied is never inherited as applied.
I3  The epoch is at least that of every entry and of the note.
"""

import base64
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from holdfast.core.entries import granted_envelope
from holdfast.core.forgotten import Forgotten
from holdfast.core.lease import NEVER_LIVED
from holdfast.core.logbook import Entry, EntryKind
from holdfast.core.rights import NOTHING
from holdfast.core.serializer import REMEMBERED, PastInput
from holdfast.model.envelopes import Envelope
from holdfast.model.errors import HoldfastError
from holdfast.model.ids import (
    NO_EPOCH,
    ActorId,
    ClientId,
    Epoch,
    Incarnation,
    Index,
    next_epoch,
)
from holdfast.model.inputs import InputId, InputKind, digest_of
from holdfast.model.outcomes import Applied, Cut, Dropped, Outcome, Refused, Unknown

MAX_PAST = 4 * REMEMBERED
"""Inputs looked back on: several clients' worth of what may be asked again."""


@dataclass(frozen=True, slots=True)
class Note:
    """What must survive the death of the process that holds the session."""

    incarnation: Incarnation
    epoch: Epoch
    holder: ActorId | None
    writing: Index | None
    applied: Index | None
    frozen: bool


@dataclass(frozen=True, slots=True)
class Doubt:
    """What the successor must enter into the book about the last input."""

    index: Index
    word: str


@dataclass(frozen=True, slots=True)
class Inheritance:
    """All that a successor takes up."""

    beginning: EntryKind
    """How its first entry calls it: opened, resumed or recovered."""

    epoch: Epoch
    holder: ActorId | None
    envelopes: Mapping[ActorId, Envelope]
    frozen: bool
    over: str | None
    applied: Index | None
    inputs: tuple[PastInput, ...]
    forgotten: Forgotten
    """Clients of whom none of the inputs is among them."""

    doubtful: Doubt | None


class _Reader:
    """Folds entries into what is true at their end."""

    def __init__(self) -> None:
        self.life = NEVER_LIVED
        self.epoch = NO_EPOCH
        self.envelopes: dict[ActorId, Envelope] = {}
        self.holder: ActorId | None = None
        self.frozen = False
        self.over: str | None = None
        self.inputs: dict[Index, PastInput] = {}
        self.forgotten = Forgotten()
        self.latest: dict[tuple[ActorId, ClientId], Index] = {}
        self.open: Index | None = None
        self.open_life = Incarnation(0)

    def begin(self, life: Incarnation) -> None:
        """Start the account of another life.

        Rights, epochs and outcomes live on, and so does a doubt until the book
        settles it. Turn and freeze do not.
        """
        self.life, self.holder, self.frozen, self.over = life, None, False, None

    def read(self, entry: Entry) -> None:  # noqa: C901  # one case for each kind
        self.epoch = max(self.epoch, entry.epoch)
        self.forgotten.begin(entry.epoch)
        match entry.kind:
            case EntryKind.TURN:
                to = entry.fields["to"]
                self.holder = None if to is None else ActorId(str(to))
            case EntryKind.FROZEN | EntryKind.THAWED:
                self.frozen = entry.kind is EntryKind.FROZEN
            case EntryKind.EXITED:
                self.over = str(entry.fields["how"])
            case EntryKind.GRANTED:
                self.envelopes[_actor(entry)] = granted_envelope(entry.fields)
            case EntryKind.REVOKED:
                self.envelopes[_actor(entry)] = NOTHING
            case EntryKind.INPUT:
                self.open, self.open_life = entry.index, entry.incarnation
                self._remember(entry, Applied(entry.index))
            case EntryKind.REFUSED:
                self._remember(entry, Refused(_refusal(entry)))
            case EntryKind.SETTLED:
                self._settle(entry)
            case _:
                pass

    def _remember(self, entry: Entry, outcome: Outcome) -> None:
        past = self.inputs[entry.index] = _past(entry, outcome)
        if entry.kind is EntryKind.INPUT:
            self.latest[past.actor, past.id.client] = entry.index
        if len(self.inputs) > MAX_PAST:
            self._forget(self._forgettable())

    def _forget(self, index: Index) -> None:
        past = self.inputs.pop(index)
        key = past.actor, past.id.client
        if self.latest.get(key) == index:
            del self.latest[key]
            self.forgotten.add(*key, past.epoch, past.id.sequence + 1)

    def _forgettable(self) -> Index:
        # Not the last that a client wrote, or a repeat would be taken for new.
        spared = (
            index
            for index, past in self.inputs.items()
            if self.latest.get((past.actor, past.id.client)) != index
        )
        return next(spared, next(iter(self.inputs)))

    def _settle(self, entry: Entry) -> None:
        index = Index(_number(entry, "of"))
        past = self.inputs.get(index)
        if past is not None:
            outcome = _settled(index, entry)
            self.inputs[index] = replace(past, outcome=outcome)
        if self.open == index:
            self.open = None


def inherit(
    entries: Iterable[Entry], note: Note | None, incarnation: Incarnation
) -> Inheritance:
    """Work out what a successor that is to live `incarnation` takes up.

    `note` is None when the host died, and the note with it.
    """
    reader = _Reader()
    for entry in entries:
        if entry.incarnation != reader.life:
            reader.begin(entry.incarnation)
        reader.read(entry)
    # A life may have died before the disk took its first entry.
    has_lived = note is not None and note.incarnation == incarnation
    if reader.life != incarnation:
        first = reader.life == NEVER_LIVED
        reader.begin(incarnation)
        if not has_lived:
            return _next_life(
                reader, EntryKind.OPENED if first else EntryKind.RECOVERED
            )
    return _same_life(reader, note if has_lived else None)


def _next_life(reader: _Reader, beginning: EntryKind) -> Inheritance:
    doubt = None if reader.open is None else Doubt(reader.open, "unknown")
    return Inheritance(
        beginning=beginning,
        epoch=next_epoch(reader.epoch),
        holder=None,
        envelopes=reader.envelopes,
        frozen=False,
        over=None,
        applied=None,
        inputs=_inputs(reader, doubt),
        forgotten=reader.forgotten,
        doubtful=doubt,
    )


def _same_life(reader: _Reader, note: Note | None) -> Inheritance:
    doubt = _doubt(reader, note)
    epoch, holder, frozen = reader.epoch, reader.holder, reader.frozen
    # A seize or a freeze that the disk could not take at once is in the note and
    # not in the log.
    if note is not None:
        frozen = note.frozen
        if note.epoch >= epoch:
            epoch, holder = note.epoch, note.holder
    return Inheritance(
        beginning=EntryKind.RESUMED,
        epoch=epoch,
        holder=holder,
        envelopes=reader.envelopes,
        frozen=frozen,
        over=reader.over,
        applied=note.applied if note is not None else None,
        inputs=_inputs(reader, doubt),
        forgotten=reader.forgotten,
        doubtful=doubt,
    )


def _inputs(reader: _Reader, doubt: Doubt | None) -> tuple[PastInput, ...]:
    if doubt is not None:
        past = reader.inputs[doubt.index]
        outcome = _OUTCOMES[doubt.word](doubt.index)
        reader.inputs[doubt.index] = replace(past, outcome=outcome)
    return tuple(reader.inputs.values())


_OUTCOMES: dict[str, type[Applied] | type[Unknown] | type[Dropped]] = {
    "applied": Applied,
    "unknown": Unknown,
    "dropped": Dropped,
}


def _doubt(reader: _Reader, note: Note | None) -> Doubt | None:
    last = reader.open
    if last is None:
        return None
    if note is None or reader.open_life != reader.life:
        return Doubt(last, "unknown")  # The note of that life died with it.
    if note.applied is not None and note.applied >= last:
        # The book must hold it before anybody is told: the note dies with the host.
        return Doubt(last, "applied")
    return Doubt(last, "unknown" if note.writing == last else "dropped")


def _past(entry: Entry, outcome: Outcome) -> PastInput:
    return PastInput(
        _actor(entry),
        InputId(ClientId(str(entry.fields["client"])), _number(entry, "sequence")),
        _digest(entry),
        outcome,
        entry.epoch,
    )


def _actor(entry: Entry) -> ActorId:
    return ActorId(str(entry.fields["actor"]))


def _digest(entry: Entry) -> bytes | None:
    data = entry.fields.get("data")
    if not isinstance(data, str):
        return None
    kind = InputKind(str(entry.fields["input"]))
    return digest_of(kind, base64.b64decode(data))


def _refusal(entry: Entry) -> HoldfastError:
    code = str(entry.fields["code"])
    return HoldfastError(f"it was refused: {code}", code=code)


def _settled(index: Index, entry: Entry) -> Outcome:
    match entry.fields["as"]:
        case "cut":
            return Cut(index, _number(entry, "written"))
        case "dropped":
            return Dropped(index)
        case "applied":
            return Applied(index)
        case _:
            return Unknown(index)


def _number(entry: Entry, name: str) -> int:
    value = entry.fields[name]
    assert isinstance(value, int), f"{name} is a number in every entry"  # noqa: S101
    return value
