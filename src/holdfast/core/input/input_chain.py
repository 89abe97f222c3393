"""The hash chain over an operator's inputs, which it signs.

Theory of operation
-------------------
A host writes the logbook, so a host could write an input that nobody made. To
show such a one, operators sign what they send: not each input, which would cost
more than a key may, but the running hash of all inputs of one client, with each
command, and for keys once a second at most. A *statement* is that hash with the
signature, and what is needed to follow the hash from the statement before:

    content      SHA-256 over incarnation, epoch, kind and payload
    commitment   SHA-256 over salt and content
    link         SHA-256 over the link before, the sequence and the commitment
    signed       session, actor, client, last sequence and its link

The key is in the statement too. An operator's id is made of its first key, so a
book shows by itself who signed; if that key gave way to another, the first
statement of each client also says how (crypto.rotation).

A salt makes a commitment say nothing about its payload. The holder of the
book keeps the salts as well, but only of payloads that are in the book: nobody who
reads it can try passwords against the others.

What a holder keeps of a statement, `core.input.statements` decides; whether a book's
inputs are signed, `core.input.signed_inputs` finds out.

Invariants, checked by tests/core/input/test_input_chain.py:

I1  Statements follow each other: each begins where the one before ended.
I2  What was forgotten before it was signed is in no statement, and what follows
    has its sequence.
I3  Without its salt, a commitment cannot be tried out.
"""

import base64
import binascii
import hmac
from collections.abc import Collection
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from holdfast.core.input.commitments import SentInputs, commitment, content
from holdfast.model.errors import LogTampered
from holdfast.model.ids import ActorId, ClientId, Epoch, Incarnation
from holdfast.wire.lines import Value
from holdfast.wire.messages import DIGEST, SIGNATURE, Submit
from holdfast.wire.signatures import (
    MAX_ROTATIONS,
    MAX_SIGNED,
    ROTATION,
    SALT,
    STEP,
    Sign,
)

if TYPE_CHECKING:  # Typing a key need not load the reader of logbooks.
    from holdfast.core.book.logbook import Entry
    from holdfast.core.input.commitments import Signs

HIDDEN = bytes(SALT)
"""In the place of a salt that is not kept."""


@dataclass(frozen=True, slots=True)
class Step:
    """One input in a statement: what it was committed to, and its salt."""

    salt: bytes = field(repr=False)
    commitment: bytes

    def opens_to(self, made: bytes) -> bool:
        """Tell whether `made` is the content it was committed to."""
        return hmac.compare_digest(commitment(self.salt, made), self.commitment)


@dataclass(frozen=True, slots=True)
class Statement:
    """That these are the next inputs of a client, signed by its operator."""

    actor: ActorId
    client: ClientId
    last: int
    """The sequence of the last of them."""

    steps: tuple[Step, ...]
    key: bytes
    """The Ed25519 public key that it is signed with."""

    rotations: bytes
    """What leads from the operator's first key to that one, in order."""

    signature: bytes

    @property
    def first(self) -> int:
        """The sequence of the first input that it speaks of."""
        return self.last - len(self.steps) + 1

    @classmethod
    def from_message(cls, actor: ActorId, said: Sign) -> "Statement | None":
        """Read what `actor` says on the wire; None if it is no statement."""
        whole = len(said.steps) % STEP == 0 and len(said.rotations) % ROTATION == 0
        if not whole:
            return None
        parts = (said.client, said.last, _steps(said.steps), said.key)
        return cls(actor, *parts, said.rotations, said.signature)

    def to_message(self) -> Sign:
        """Return how it travels."""
        return Sign(
            client=self.client,
            last=self.last,
            steps=self._raw_steps(),
            key=self.key,
            rotations=self.rotations,
            signature=self.signature,
        )

    def to_fields(self) -> dict[str, Value]:
        """Return the members of the entry that keeps it."""
        return {
            "actor": self.actor,
            "client": self.client,
            "last": self.last,
            "steps": base64.b64encode(self._raw_steps()).decode(),
            "key": self.key.hex(),
            "rotations": base64.b64encode(self.rotations).decode(),
            "signature": self.signature.hex(),
        }

    @classmethod
    def from_entry(cls, entry: "Entry") -> "Statement":
        """Read the statement that an entry keeps.

        Raises:
            PeerError: It keeps none.

        """
        said = entry.fields
        last = said.get("last")
        try:
            raw, rotations = (
                base64.b64decode(str(said.get(name)), validate=True)
                for name in ("steps", "rotations")
            )
            key, signature = (
                bytes.fromhex(str(said.get(name))) for name in ("key", "signature")
            )
        except (binascii.Error, ValueError):
            raw = rotations = key = signature = b""
        count, turns = len(raw) // STEP, len(rotations) // ROTATION
        sizes = (len(raw), len(rotations), len(key), len(signature))
        is_whole = sizes == (count * STEP, turns * ROTATION, DIGEST, SIGNATURE)
        is_bounded = 1 <= count <= MAX_SIGNED and turns <= MAX_ROTATIONS
        if not (is_whole and is_bounded and type(last) is int):
            raise LogTampered(entry.index, "it keeps no statement of an operator")
        actor, client = ActorId(str(said.get("actor"))), str(said.get("client"))
        parts = (_steps(raw), key, rotations, signature)
        return cls(actor, ClientId(client), last, *parts)

    def with_salts_of(self, shown: Collection[int]) -> "Statement":
        """Return what is to be kept of it: salts of these sequences only."""
        steps = tuple(
            step if sequence in shown else Step(HIDDEN, step.commitment)
            for sequence, step in enumerate(self.steps, self.first)
        )
        return replace(self, steps=steps)

    def _raw_steps(self) -> bytes:
        return b"".join(step.salt + step.commitment for step in self.steps)


class InputChain(SentInputs):
    """A client's own side: what it has sent, and has yet to sign."""

    def note(self, made: Submit) -> None:
        """Take the next input that the client sends, before it is sent."""
        assert made.sequence == self.last + 1, "inputs are noted in order"  # noqa: S101
        self.note_next(made.incarnation, made.epoch, made.kind, made.payload)

    def sign(
        self, key: "Signs", actor: ActorId, up_to: int, rotations: bytes = b""
    ) -> Statement | None:
        """Return a statement about the next inputs, if there are any up to there."""
        made = self.statement(key, actor, up_to, rotations)
        if made is None:
            return None
        return Statement.from_message(actor, Sign(**made))  # type: ignore[arg-type]  # its fields


def contents(entry: "Entry", *, was_free: bool) -> tuple[bytes, ...]:
    """Return what a logged input with its payload may have been committed to as.

    `was_free` tells whether its operator came by this turn when it was free: then it
    may have been made under the epoch before. A book may say anything, and what no
    client could have made is nothing.
    """
    said = entry.fields
    kind, data = str(said.get("input")), said.get("data")
    made_for = said.get("life")  # Of one that was made before the session was moved.
    life = Incarnation(made_for) if isinstance(made_for, int) else entry.incarnation
    try:
        payload = base64.b64decode(
            data if isinstance(data, str) else "#", validate=True
        )
        now = content(life, entry.epoch, kind, payload)
        if not was_free:
            return (now,)
        return now, content(life, Epoch(entry.epoch - 1), kind, payload)
    except (binascii.Error, OverflowError):
        return ()


def _steps(raw: bytes) -> tuple[Step, ...]:
    parts = (raw[at : at + STEP] for at in range(0, len(raw), STEP))
    return tuple(Step(part[:SALT], part[SALT:]) for part in parts)
