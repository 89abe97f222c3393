"""Did this operator really make these inputs?

Theory of operation
-------------------
A host writes the logbook, so a host could write an input that nobody made. To
show such a one, operators sign what they send: not each input, which would cost
more than a key may, but the running hash of all inputs of one client, with each
command, and for keys once a second at most. A *statement* is that hash with the
signature, and what is needed to follow the hash from the statement before:

    commitment   SHA-256 over salt, incarnation, epoch, kind and payload
    link         SHA-256 over the link before, the sequence and the commitment
    signed       session, actor, client, last sequence and its link

The key is in the statement too. An operator's id is made of its first key, so a
book shows by itself who signed, as long as that key was not rotated.

A salt makes a commitment say nothing about its payload. Whoever keeps the book
keeps the salts as well, except where the payload was hidden: there the salt is
left out, so that nobody who reads the book can try passwords against it, and the
book shows that there was an input but not which.

The holder only writes statements down. Whoever reads the book checks them: an
input with its payload counts as *signed* if a commitment in a genuine statement
opens to exactly that input; what is not signed is listed, and what contradicts a
statement is forged.

Invariants, checked by tests/core/test_input_chain.py:

I1  What a client noted and signed, a reader finds signed.
I2  No other session, actor, client, sequence, life, epoch, kind or payload is.
I3  A statement that was left out, changed or moved is found, and so is one that
    is signed by another key.
I4  A hidden payload cannot be tried out against what is in the book.
"""

import base64
import binascii
import hashlib
import hmac
import struct
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Protocol

from holdfast.core.logbook import Entry, EntryKind
from holdfast.crypto.keys import PUBLIC, SIGNATURE, verify
from holdfast.model.errors import LogTampered
from holdfast.model.ids import (
    ActorId,
    ClientId,
    Epoch,
    Incarnation,
    SessionId,
    actor_id,
)
from holdfast.model.inputs import Input
from holdfast.wire.lines import Value

SALT = 16
"""Bytes that keep a commitment from being tried out."""

MAX_SIGNED = 256
"""Inputs in one statement: 12 KiB of it; a client signs before there are more."""

HIDDEN = bytes(SALT)
"""In the place of a salt that is not kept."""

_CONTEXT = b"holdfast inputs 1\n"
_FRAME = struct.Struct(">QQ")
_STEP = SALT + 32

Keys = Callable[[ActorId], Iterable[bytes]]
"""Says which keys an operator has had since its first, which its id is made of."""


class Signs(Protocol):
    """A key that signs: an identity, or a signing key."""

    public: bytes

    def sign(self, message: bytes) -> bytes:
        """Return the signature of `message`."""
        ...


@dataclass(frozen=True, slots=True)
class Step:
    """One input in a statement: what it was committed to, and its salt."""

    salt: bytes = field(repr=False)
    commitment: bytes


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

    signature: bytes

    def to_fields(self) -> dict[str, Value]:
        """Return the members of the entry that keeps it."""
        raw = b"".join(step.salt + step.commitment for step in self.steps)
        return {
            "actor": self.actor,
            "client": self.client,
            "last": self.last,
            "steps": base64.b64encode(raw).decode(),
            "key": self.key.hex(),
            "signature": self.signature.hex(),
        }

    @classmethod
    def from_entry(cls, entry: Entry) -> "Statement":
        """Read the statement that an entry keeps.

        Raises:
            PeerError: It keeps none.

        """
        said = entry.fields
        last = said.get("last")
        try:
            raw = base64.b64decode(str(said.get("steps")), validate=True)
            key, signature = (
                bytes.fromhex(str(said.get(name))) for name in ("key", "signature")
            )
        except (binascii.Error, ValueError):
            raw, key, signature = b"", b"", b""
        count = len(raw) // _STEP
        sizes = (len(raw), len(key), len(signature))
        is_whole = sizes == (count * _STEP, PUBLIC, SIGNATURE)
        if not (is_whole and 1 <= count <= MAX_SIGNED and type(last) is int):
            raise LogTampered(entry.index, "it keeps no statement of an operator")
        parts = [raw[at : at + _STEP] for at in range(0, len(raw), _STEP)]
        steps = tuple(Step(part[:SALT], part[SALT:]) for part in parts)
        actor, client = ActorId(str(said.get("actor"))), str(said.get("client"))
        return cls(actor, ClientId(client), last, steps, key, signature)


def without_salts(statement: Statement, hidden: Iterable[int]) -> Statement:
    """Return what is to be kept of a statement: no salts of hidden payloads."""
    concealed = set(hidden)
    first = statement.last - len(statement.steps) + 1
    steps = tuple(
        Step(HIDDEN, step.commitment) if sequence in concealed else step
        for sequence, step in enumerate(statement.steps, first)
    )
    return replace(statement, steps=steps)


class InputChain:
    """A client's own side: what it has sent, and has yet to sign."""

    def __init__(
        self, session: SessionId, actor: ActorId, client: ClientId, secret: bytes
    ) -> None:
        self._session = session
        self._actor = actor
        self._client = client
        self._secret = secret  # Known to nobody else: salts are made of it.
        self._link = _genesis(session, client)
        self._last = 0
        self._steps: list[Step] = []

    @property
    def unsigned(self) -> int:
        """How many inputs wait for a signature; at MAX_SIGNED one is due."""
        return len(self._steps)

    def note(self, given: Input) -> None:
        """Take the next input that the client sends, before it is sent."""
        assert given.id.sequence == self._last + 1, "inputs are noted in order"  # noqa: S101
        assert len(self._steps) < MAX_SIGNED, "a statement is due"  # noqa: S101
        self._last += 1
        salt = hmac.digest(self._secret, _number(self._last), "sha256")[:SALT]
        made = commitment(
            salt, given.incarnation, given.epoch, given.kind, given.payload
        )
        self._link = _following(self._link, self._last, made)
        self._steps.append(Step(salt, made))

    def sign(self, key: Signs) -> Statement | None:
        """Return a statement about all that was noted since the last, if anything."""
        if not self._steps:
            return None
        text = signed_bytes(
            self._session, self._actor, self._client, self._last, self._link
        )
        steps, self._steps = tuple(self._steps), []
        return Statement(
            self._actor, self._client, self._last, steps, key.public, key.sign(text)
        )


@dataclass(frozen=True, slots=True)
class Coverage:
    """What of a logbook its operators have signed."""

    signed: int = 0
    """Inputs that are, payload and all."""

    hidden: int = 0
    """Inputs that are, and whose payload nobody kept."""

    unsigned: tuple[int, ...] = ()
    """Indices of inputs that no statement speaks of."""


def no_rotations(_: ActorId) -> Iterable[bytes]:
    """Know of no key but the first of each operator."""
    return ()


def check_inputs(
    entries: Iterable[Entry], session: SessionId, keys: Keys = no_rotations
) -> Coverage:
    """Check every input of a book, itself checked already, against its statements.

    Raises:
        PeerError: A statement is not its operator's, does not follow the one
            before it, or says something else than the book.

    """
    inputs: list[Entry] = []
    found: dict[tuple[ClientId, int], tuple[ActorId, Step]] = {}
    ends: dict[ClientId, tuple[int, bytes]] = {}
    for entry in entries:
        if entry.kind is EntryKind.INPUT:
            inputs.append(entry)
        elif entry.kind is EntryKind.SIGNED:
            said = Statement.from_entry(entry)
            ends[said.client] = _end(entry, said, session, keys, ends.get(said.client))
            first = said.last - len(said.steps) + 1
            for sequence, step in enumerate(said.steps, first):
                found[said.client, sequence] = (said.actor, step)
    return _coverage(inputs, found)


def commitment(
    salt: bytes, incarnation: Incarnation, epoch: Epoch, kind: str, payload: bytes
) -> bytes:
    """Return what binds an operator to one input and tells nobody which."""
    frame = _FRAME.pack(incarnation, epoch) + kind.encode() + b"\0"
    return hashlib.sha256(_CONTEXT + salt + frame + payload).digest()


def signed_bytes(
    session: SessionId, actor: ActorId, client: ClientId, last: int, link: bytes
) -> bytes:
    """Return what an operator signs."""
    lines = (session, actor, client, str(last), link.hex())
    return _CONTEXT + "".join(f"{line}\n" for line in lines).encode()


def _end(
    entry: Entry,
    said: Statement,
    session: SessionId,
    keys: Keys,
    before: tuple[int, bytes] | None,
) -> tuple[int, bytes]:
    """Check a statement against the one before it; return where it ends."""
    sequence, link = before or (0, _genesis(session, said.client))
    if said.last != sequence + len(said.steps):
        raise LogTampered(entry.index, "a statement before this one is missing")
    for step in said.steps:
        sequence += 1
        link = _following(link, sequence, step.commitment)
    text = signed_bytes(session, said.actor, said.client, said.last, link)
    is_theirs = actor_id(said.key) == said.actor or said.key in keys(said.actor)
    if not (is_theirs and verify(said.key, text, said.signature)):
        raise LogTampered(entry.index, "the statement is not signed by its operator")
    return sequence, link


def _coverage(
    inputs: list[Entry], found: Mapping[tuple[ClientId, int], tuple[ActorId, Step]]
) -> Coverage:
    signed = hidden = 0
    unsigned: list[int] = []
    for entry in inputs:
        said = entry.fields
        sequence = said.get("sequence")
        known = None
        if isinstance(sequence, int):
            known = found.get((ClientId(str(said.get("client"))), sequence))
        if known is None:
            unsigned.append(entry.index)
        elif known[0] != said.get("actor"):
            raise LogTampered(entry.index, "another operator signed this input")
        elif "data" not in said:
            hidden += 1
        elif _opens(entry, known[1]):
            signed += 1
        else:
            raise LogTampered(entry.index, "its operator signed another input")
    return Coverage(signed, hidden, tuple(unsigned))


def _opens(entry: Entry, step: Step) -> bool:
    said = entry.fields
    try:
        payload = base64.b64decode(str(said["data"]), validate=True)
    except binascii.Error:
        return False
    kind = str(said.get("input"))
    made = commitment(step.salt, entry.incarnation, entry.epoch, kind, payload)
    return hmac.compare_digest(made, step.commitment)


def _genesis(session: SessionId, client: ClientId) -> bytes:
    return hashlib.sha256(_CONTEXT + f"{session}\n{client}\n".encode()).digest()


def _following(link: bytes, sequence: int, made: bytes) -> bytes:
    return hashlib.sha256(link + _number(sequence) + made).digest()


def _number(number: int) -> bytes:
    return number.to_bytes(8, "big")
