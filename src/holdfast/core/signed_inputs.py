"""Did these operators really make the inputs that a book says they made?

Theory of operation
-------------------
The book is read in order. A statement *counts* if it follows the one before of the
same operator and client, and is signed by a key of that operator: the one that its
id is made of, or one that took its place by rotations in the book. Operators hand
statements over, and one of them may hand over nonsense, so a statement that does
not count proves nothing against anybody: it is passed over and named.

An input is *signed* if a statement that counts has a commitment that opens to it,
or speaks of it and its payload is not in the book. What no such statement speaks of
is *unsigned*, and for that the host alone answers: the last of a client that was
cut off, all of an operator who signs nothing, or made up.

An input that differs from what its operator signed is *forged*, and the book is
refused: a holder keeps no statement that contradicts the book, so whoever has the
book has changed it.

An input is made under the epoch in which its operator has the turn, or under the
one before, in which the turn was free (core.turn).

Invariants, checked by tests/core/test_signed_inputs.py:

I1  What a client noted and signed, a reader finds signed.
I2  No other session, actor, client, sequence, life, epoch, kind or payload is.
I3  A statement that was left out, changed, moved or signed by another key counts
    for nothing, and neither do those that follow it.
I4  Whatever one operator hands over, inputs of others are signed or not as before.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field

from holdfast.core.input_chain import (
    HIDDEN,
    Statement,
    Step,
    chain_begin,
    contents,
    followed,
    signed_bytes,
)
from holdfast.core.logbook import Entry, EntryKind
from holdfast.crypto.keys import PUBLIC, verify
from holdfast.crypto.rotation import ROTATION, accepted_rotation
from holdfast.model.errors import LogTampered, RotationRefused
from holdfast.model.ids import ActorId, ClientId, Epoch, SessionId, actor_id

Who = tuple[ActorId, ClientId]

START = "start"
"""The command of the session, which its creator has proven to the host alone."""

READ_KINDS = frozenset({EntryKind.INPUT, EntryKind.SIGNED, EntryKind.TURN})
"""The entries that are looked at; the others may be left out."""


@dataclass(frozen=True, slots=True)
class Coverage:
    """What of a logbook its operators have signed."""

    signed: int = 0
    """Inputs that are, payload and all."""

    hidden: int = 0
    """Inputs that are, and whose payload nobody kept."""

    unsigned: tuple[int, ...] = ()
    """Indices of inputs that no statement speaks of."""

    void: tuple[int, ...] = ()
    """Indices of statements that count for nothing."""


@dataclass(slots=True)
class _Reader:
    """What the statements of a book come to, as far as it was read."""

    session: SessionId
    ends: dict[Who, tuple[int, bytes]] = field(default_factory=dict)
    steps: dict[tuple[ActorId, ClientId, int], Step] = field(default_factory=dict)
    keys: dict[ActorId, set[bytes]] = field(default_factory=dict)
    void: list[int] = field(default_factory=list)

    def read(self, entry: Entry) -> None:
        said = Statement.from_entry(entry)
        who = said.actor, said.client
        self._learn_keys(said)
        begin = (0, chain_begin(self.session, said.client))
        sequence, link = self.ends.get(who, begin)
        last, link = followed(link, sequence, said.steps)
        text = signed_bytes(self.session, *who, last, link)
        is_next = last == said.last
        if not (
            is_next
            and self._is_key_of(said.actor, said.key)
            and verify(said.key, text, said.signature)
        ):
            self.void.append(entry.index)
            return
        self.ends[who] = last, link
        for number, step in enumerate(said.steps, said.first):
            self.steps[*who, number] = step

    def _is_key_of(self, actor: ActorId, key: bytes) -> bool:
        return actor_id(key) == actor or key in self.keys.get(actor, ())

    def _learn_keys(self, said: Statement) -> None:
        """Follow the rotations that a statement brings along, as far as they lead."""
        raw = said.rotations
        for at in range(0, len(raw), ROTATION):
            one = raw[at : at + ROTATION]
            old = one[:PUBLIC]
            if not self._is_key_of(said.actor, old):
                continue  # It was known by a later key when it came to this host.
            try:
                found = accepted_rotation(one, old)
            except RotationRefused:
                return
            self.keys.setdefault(said.actor, set()).add(found.new)


def check_inputs(entries: Iterable[Entry], session: SessionId) -> Coverage:
    """Check every input of a book, itself checked already, against its statements.

    Raises:
        PeerError: An input is not what its operator signed, or an entry that
            should keep a statement keeps none.

    """
    reader = _Reader(session)
    inputs: list[tuple[Entry, bool]] = []
    free: dict[Epoch, ActorId] = {}
    for entry in entries:
        if entry.kind is EntryKind.TURN and entry.fields.get("from") is None:
            free[entry.epoch] = ActorId(str(entry.fields.get("to")))
        elif entry.kind is EntryKind.INPUT and entry.fields.get("input") != START:
            was_free = free.get(entry.epoch) == entry.fields.get("actor")
            inputs.append((entry, was_free))
        elif entry.kind is EntryKind.SIGNED:
            reader.read(entry)
    return _coverage(reader, inputs)


def _coverage(reader: _Reader, inputs: list[tuple[Entry, bool]]) -> Coverage:
    signed = hidden = 0
    unsigned: list[int] = []
    for entry, was_free in inputs:
        # An id that comes twice in a book was signed once.
        step = reader.steps.pop(_id_of(entry), None)
        if step is None:
            unsigned.append(entry.index)
        elif "data" not in entry.fields:
            hidden += 1
        elif step.salt == HIDDEN:
            unsigned.append(entry.index)
        elif _opens(entry, step, was_free=was_free):
            signed += 1
        else:
            raise LogTampered(entry.index, "its operator signed another input")
    return Coverage(signed, hidden, tuple(unsigned), tuple(reader.void))


def _id_of(entry: Entry) -> tuple[ActorId, ClientId, int]:
    said = entry.fields
    sequence = said.get("sequence")
    number = sequence if type(sequence) is int else 0
    return ActorId(str(said.get("actor"))), ClientId(str(said.get("client"))), number


def _opens(entry: Entry, step: Step, *, was_free: bool) -> bool:
    return any(map(step.opens_to, contents(entry, was_free=was_free)))
