"""Whether operators really made the inputs that a logbook says they made.

Theory of operation
-------------------
The book is read in order. A statement *counts* if it follows the one before of the
same operator and client, and is signed by a key of that operator: the one that its
id is made of, or one that took its place by rotations in the book. Operators hand
statements over, and one of them may hand over nonsense, so a statement that does
not count proves nothing against an operator: it is passed over and named.

An input is *signed* if a statement that counts has a commitment that opens to it,
or speaks of it and its payload is not in the book. What no such statement speaks of
is *unsigned*, and for that the host alone answers: the last of a client that was
cut off, all of an operator who signs nothing, or made up.

An input that differs from what its operator signed is *forged*, and the book is
refused: a holder keeps no statement that contradicts the book, so someone
has changed the book since.

A book may be too long to be held. What a statement has spoken of is counted and
dropped; of an input that none has spoken of yet a few dozen bytes are kept.

An input is made under the epoch in which its operator has the turn, or under the
one before, in which the turn was free (core.input.turn).

Invariants, checked by tests/core/input/test_signed_inputs.py:

I1  What a client noted and signed, a reader finds signed.
I2  No other session, actor, client, sequence, life, epoch, kind or payload is.
I3  A statement that was left out, changed, moved or signed by another key counts
    for nothing, and neither do those that follow it.
I4  Whatever one operator hands over, inputs of others are signed or not as before.
"""

import struct
from dataclasses import dataclass

from holdfast.core.book.logbook import Entry, EntryKind
from holdfast.core.input.commitments import chain_begin, followed, signed_bytes
from holdfast.core.input.input_chain import HIDDEN, Statement, Step, contents
from holdfast.crypto.keys import PUBLIC, verify
from holdfast.crypto.rotation import ROTATION, accepted_rotation
from holdfast.model.errors import LogTampered, RotationRefused
from holdfast.model.ids import ActorId, ClientId, Epoch, SessionId, actor_id
from holdfast.wire.messages import DIGEST

Who = tuple[ActorId, ClientId]

START = "start"
"""The command of the session, which its creator has proven to the host alone."""

_INDEX = struct.Struct(">Q")
_HIDDEN, _SHOWN = b"h", b"s"


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


class InputCheck:
    """What the statements of a book come to, as far as it was read."""

    def __init__(self, session: SessionId) -> None:
        self._session = session
        self._ends: dict[Who, tuple[int, bytes]] = {}
        self._keys: dict[ActorId, set[bytes]] = {}
        self._free: dict[Epoch, ActorId] = {}
        self._steps: dict[Who, dict[int, Step]] = {}
        """Of statements that came before their inputs, or whose inputs never came."""

        self._waiting: dict[Who, dict[int, bytes]] = {}
        """Inputs that no statement has spoken of, packed."""

        self._signed = self._hidden = 0
        self._unsigned: list[int] = []
        self._void: list[int] = []

    def read(self, entry: Entry) -> None:
        """Take the next entry of a book, itself checked already.

        Raises:
            PeerError: An input is not what its operator signed, or an entry that
                should keep a statement keeps none.

        """
        if entry.kind is EntryKind.TURN and entry.fields.get("from") is None:
            self._free[entry.epoch] = ActorId(str(entry.fields.get("to")))
        elif entry.kind is EntryKind.INPUT and entry.fields.get("input") != START:
            self._input(entry)
        elif entry.kind is EntryKind.SIGNED:
            self._statement(entry)

    def coverage(self) -> Coverage:
        """Return what is signed of all that was read."""
        waiting = self._waiting.values()
        left = [_INDEX.unpack_from(one)[0] for of in waiting for one in of.values()]
        unsigned = tuple(sorted([*self._unsigned, *left]))
        return Coverage(self._signed, self._hidden, unsigned, tuple(self._void))

    def _input(self, entry: Entry) -> None:
        who, sequence = _id_of(entry)
        was_free = self._free.get(entry.epoch) == who[0]
        packed = _packed(entry, was_free=was_free)
        step = self._steps.get(who, {}).pop(sequence, None)
        if step is not None:
            self._settle(packed, step)
            return
        waiting = self._waiting.setdefault(who, {})
        if sequence in waiting:
            # An id that comes twice in a book was signed once.
            self._unsigned.append(entry.index)
        else:
            waiting[sequence] = packed

    def _settle(self, packed: bytes, step: Step) -> None:
        (index,), word = _INDEX.unpack_from(packed), packed[_INDEX.size :]
        made = [word[at : at + DIGEST] for at in range(1, len(word), DIGEST)]
        if word[:1] == _HIDDEN:
            self._hidden += 1
        elif step.salt == HIDDEN:
            self._unsigned.append(index)
        elif any(map(step.opens_to, made)):
            self._signed += 1
        else:
            raise LogTampered(index, "its operator signed another input")

    def _statement(self, entry: Entry) -> None:
        said = Statement.from_entry(entry)
        who = said.actor, said.client
        self._learn_keys(said)
        begin = (0, chain_begin(self._session, said.client))
        sequence, link = self._ends.get(who, begin)
        made = (step.commitment for step in said.steps)
        last, link = followed(link, sequence, made)
        text = signed_bytes(self._session, *who, last, link)
        is_next = last == said.last
        if not (
            is_next
            and self._is_key_of(said.actor, said.key)
            and verify(said.key, text, said.signature)
        ):
            self._void.append(entry.index)
            return
        self._ends[who] = last, link
        waiting = self._waiting.get(who, {})
        for number, step in enumerate(said.steps, said.first):
            packed = waiting.pop(number, None)
            if packed is None:
                self._steps.setdefault(who, {})[number] = step
            else:
                self._settle(packed, step)

    def _is_key_of(self, actor: ActorId, key: bytes) -> bool:
        return actor_id(key) == actor or key in self._keys.get(actor, ())

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
            self._keys.setdefault(said.actor, set()).add(found.new)


def _id_of(entry: Entry) -> tuple[Who, int]:
    said = entry.fields
    sequence = said.get("sequence")
    number = sequence if type(sequence) is int else 0
    return (ActorId(str(said.get("actor"))), ClientId(str(said.get("client")))), number


def _packed(entry: Entry, *, was_free: bool) -> bytes:
    """Return what has to be kept of an input: its index, and what it may open to."""
    index = _INDEX.pack(entry.index)
    if "data" not in entry.fields:
        return index + _HIDDEN
    return index + _SHOWN + b"".join(contents(entry, was_free=was_free))
