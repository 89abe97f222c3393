"""What the process that held this session before us left behind.

Theory of operation
-------------------
A process that holds a session may die at any point. Two things outlive it: the
logbook, and a *note* in shared memory. From them its successor learns who has
the turn, whether the session is frozen, every operator's rights, which input ids
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
of their inputs is still remembered, so that a repeat gets its outcome.

The entries must be durable before they are inherited: what is inherited as
applied is acknowledged without looking at the disk again.

Invariants, checked by tests/core/book/test_inheritance.py and the simulator:

I1  What was acknowledged is inherited as applied.
I2  What was not applied is never inherited as applied.
I3  The epoch is at least that of every entry and of the note.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import NamedTuple

from holdfast.core.book.book_state import Standing, past_of, settled
from holdfast.core.book.logbook import Entry, EntryKind
from holdfast.core.input.forgotten import Forgotten
from holdfast.core.input.serializer import REMEMBERED, PastInput
from holdfast.core.relay.lease import NEVER_LIVED
from holdfast.model.envelopes import Envelope
from holdfast.model.ids import (
    ActorId,
    ClientId,
    Epoch,
    Incarnation,
    Index,
    SessionId,
    next_epoch,
)
from holdfast.model.outcomes import outcome_from
from holdfast.model.session_record import ParentRecord
from holdfast.wire.lines import Value  # an annotation people read

MAX_PAST = 4 * REMEMBERED
"""Inputs looked back on: several clients' worth of what may be asked again."""


_OF_IMAGE = ("image", "through", "command", "hands")


class Note(NamedTuple):
    """What must survive the death of the process that holds the session."""

    incarnation: Incarnation
    epoch: Epoch
    holder: ActorId | None
    writing: Index | None
    applied: Index | None
    frozen: bool


class Restored(NamedTuple):
    """The image that a life goes on from, and what was true when it was made."""

    image: int
    through: int
    """The last entry of the book then: what the later ones tell of is undone."""

    command: int
    """The last command that had begun."""

    hands: tuple[ActorId, ...] = ()
    """Who had a hand in what stood typed; nobody, if nothing did."""

    origin: str = ""
    """Of a session that was moved here: the host that it comes from."""


@dataclass(frozen=True, slots=True)
class Doubt:
    """What the successor must enter into the book about the last input."""

    index: Index
    word: str


@dataclass(frozen=True, slots=True)
class Inheritance:
    """All that a successor takes up."""

    beginning: EntryKind | None
    """How its first entry calls it: opened, resumed or recovered; None: there is none,
    because nothing was interrupted."""

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
    by: ActorId | None = None
    """Who begins its next life, if it begins one."""

    offset: int = 0
    """Where the output of that life begins."""

    restored: Restored | None = None
    """What that life goes on from; None if it begins anew."""

    of: SessionId | None = None
    """Of which branch of the session that image is; None if it is its own."""

    parent: ParentRecord | None = None
    """Of a branch: the session that it was made from."""

    no_capsule: str = ""
    """Why its first life is plain, if it was to be a capsule."""

    def begun(self) -> dict[str, Value]:
        """Return what the first entry says."""
        if self.beginning is EntryKind.OPENED and self.parent is not None:
            return {
                "by": self.by,
                "parent": self.parent.session,
                "image": self.parent.image,
                "parent_incarnation": self.parent.incarnation,
                "parent_index": self.parent.entry,
            }
        if self.beginning is EntryKind.OPENED and self.no_capsule:
            return {"no_capsule": self.no_capsule}
        if self.beginning is not EntryKind.RECOVERED:
            return {}
        told: dict[str, Value] = {"by": self.by, "offset": self.offset, "of": self.of}
        found = self.restored
        if found is None:
            return {**told, **dict.fromkeys(_OF_IMAGE)}
        return {
            **told,
            "image": found.image,
            "through": found.through,
            "command": found.command,
            "hands": ",".join(found.hands),
            **({"origin": found.origin} if found.origin else {}),
        }


class _Reader:
    """What is true at the end of the book, and what became of its last inputs."""

    def __init__(self, standing: Standing) -> None:
        self.standing = standing
        self.inputs: dict[Index, PastInput] = {}
        self.latest: dict[tuple[ActorId, ClientId], Index] = {}

    def remember_before(self, first: int) -> None:
        """Take up the last inputs of clients that stand before entry `first`."""
        for index, past in self.standing.past().items():
            if index < first:
                self.inputs[index] = past
                self.latest[past.actor, past.id.client] = index

    def read(self, entry: Entry) -> None:
        if entry.index > self.standing.through:
            self.standing.read(entry)
        if entry.kind in (EntryKind.INPUT, EntryKind.REFUSED):
            self._remember(entry)
        elif entry.kind is EntryKind.SETTLED:
            index = Index(entry.number("of"))
            if past := self.inputs.get(index):
                self.inputs[index] = replace(past, outcome=settled(entry))

    def _remember(self, entry: Entry) -> None:
        past = self.inputs[entry.index] = past_of(entry)
        if entry.kind is EntryKind.INPUT:
            self.latest[past.actor, past.id.client] = entry.index
        if len(self.inputs) > MAX_PAST:
            self._forget(self._forgettable())

    def _forget(self, index: Index) -> None:
        past = self.inputs.pop(index)
        key = past.actor, past.id.client
        if self.latest.get(key) == index:
            del self.latest[key]
            self.standing.forgotten.add(*key, past.epoch, past.id.sequence + 1)

    def _forgettable(self) -> Index:
        # Not the last that a client wrote, or a repeat would be taken for new.
        spared = (
            index
            for index, past in self.inputs.items()
            if self.latest.get((past.actor, past.id.client)) != index
        )
        return next(spared, next(iter(self.inputs)))


def inherit(
    entries: Iterable[Entry],
    note: Note | None,
    incarnation: Incarnation,
    before: Standing | None = None,
    *,
    is_moved: bool = False,
) -> Inheritance:
    """Work out what a successor that is to live `incarnation` takes up.

    With `is_moved` that life goes on where the one before stood still.

    `entries` are those at the end of the book, and `before` is how things stood
    somewhere among them, or right before them; without it, they are all entries.
    `note` is None when the host died, and the note with it.
    """
    reader = _Reader(before or Standing())
    begun = False
    for entry in entries:
        if not begun:
            reader.remember_before(entry.index)
            begun = True
        reader.read(entry)
    if not begun:
        reader.remember_before(reader.standing.through + 1)
    return _inherited(reader, note, incarnation, is_moved=is_moved)


def _inherited(
    reader: _Reader, note: Note | None, incarnation: Incarnation, *, is_moved: bool
) -> Inheritance:
    standing = reader.standing
    # A life may have died before the disk took its first entry.
    has_lived = note is not None and note.incarnation == incarnation
    if standing.life != incarnation:
        first = standing.life == NEVER_LIVED
        standing.begin(incarnation, is_moved=is_moved)
        if not has_lived:
            kind = EntryKind.OPENED if first else EntryKind.RECOVERED
            return _next_life(reader, kind, is_moved=is_moved)
    return _same_life(reader, note if has_lived else None)


def _next_life(reader: _Reader, beginning: EntryKind, *, is_moved: bool) -> Inheritance:
    standing = reader.standing
    doubt = None if standing.open is None else Doubt(standing.open, "unknown")
    return Inheritance(
        beginning=beginning,
        epoch=standing.epoch if is_moved else next_epoch(standing.epoch),
        holder=standing.holder,
        envelopes=standing.envelopes,
        frozen=False,
        over=None,
        applied=None,
        inputs=_inputs(reader, doubt),
        forgotten=standing.forgotten,
        doubtful=doubt,
    )


def _same_life(reader: _Reader, note: Note | None) -> Inheritance:
    standing = reader.standing
    doubt = _doubt(standing, note)
    epoch, holder, frozen = standing.epoch, standing.holder, standing.frozen
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
        envelopes=standing.envelopes,
        frozen=frozen,
        over=standing.over,
        applied=note.applied if note is not None else None,
        inputs=_inputs(reader, doubt),
        forgotten=standing.forgotten,
        doubtful=doubt,
    )


def _inputs(reader: _Reader, doubt: Doubt | None) -> tuple[PastInput, ...]:
    if doubt is not None:
        outcome = outcome_from(doubt.word, doubt.index)
        if past := reader.inputs.get(doubt.index):
            reader.inputs[doubt.index] = replace(past, outcome=outcome)
    return tuple(reader.inputs.values())


def _doubt(standing: Standing, note: Note | None) -> Doubt | None:
    last = standing.open
    if last is None:
        return None
    if note is None or standing.open_life != standing.life:
        return Doubt(last, "unknown")  # The note of that life died with it.
    if note.applied is not None and note.applied >= last:
        # The book must hold it before clients are told: the note dies with the host.
        return Doubt(last, "applied")
    return Doubt(last, "unknown" if note.writing == last else "dropped")
