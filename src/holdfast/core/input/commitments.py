"""What a client commits itself to, input by input, and which part is signed.

The hashes of `input_chain`, which says what they are for, and a client's own side of
it. Apart from what reads statements, because a person who types a key is not to wait
for that to load.
"""

import hashlib
import hmac

from holdfast.model.ids import ActorId, ClientId, Epoch, Incarnation, SessionId
from holdfast.wire.signature_sizes import MAX_SIGNED, SALT

TYPE_CHECKING = False
"""Only checkers take it for true."""

if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Protocol

    class Signs(Protocol):
        """A key that signs: an identity, or a signing key."""

        public: bytes

        def sign(self, message: bytes) -> bytes:
            """Return the signature of `message`."""
            ...


_CONTEXT = b"holdfast inputs 1\n"
_NUMBER = 8


class SentInputs:
    """A client's own side: what it has sent, and has yet to sign."""

    def __init__(self, session: SessionId, client: ClientId, secret: bytes) -> None:
        self._session = session
        self._client = client
        self._secret = secret  # Known to nobody else: salts are made of it.
        self.signed = 0
        """The sequence of the last input that was signed; 0 before the first."""

        self._link = chain_begin(session, client)
        self._steps: list[tuple[bytes, bytes]] = []

    @property
    def last(self) -> int:
        """The sequence of the last input that was noted."""
        return self.signed + len(self._steps)

    def note_next(
        self, incarnation: Incarnation, epoch: Epoch, kind: str, payload: bytes
    ) -> None:
        """Take the next input that the client sends, before it is sent."""
        salt = hmac.digest(self._secret, numbered(self.last + 1), "sha256")[:SALT]
        what = content(incarnation, epoch, kind, payload)
        self._steps.append((salt, commitment(salt, what)))

    def forget_from(self, sequence: int) -> None:
        """Forget the inputs from `sequence` on: nobody counts them."""
        assert sequence > self.signed, "what was signed stays so"  # noqa: S101
        del self._steps[sequence - self.signed - 1 :]

    def statement(
        self, key: "Signs", actor: ActorId, up_to: int, rotations: bytes = b""
    ) -> dict[str, object] | None:
        """Return the fields of SIGN about the next inputs, if there are any to there.

        What leads to the key is told once: its reader has it already then.
        """
        count = min(up_to - self.signed, MAX_SIGNED, len(self._steps))
        if count < 1:
            return None
        steps = self._steps[:count]
        told = b"" if self.signed else rotations
        last, link = followed(self._link, self.signed, (made for _, made in steps))
        text = signed_bytes(self._session, actor, self._client, last, link)
        signature = key.sign(text)
        self.signed, self._link = last, link
        del self._steps[:count]
        return {
            "client": self._client,
            "last": last,
            "steps": b"".join(salt + made for salt, made in steps),
            "key": key.public,
            "rotations": told,
            "signature": signature,
        }


def content(incarnation: Incarnation, epoch: Epoch, kind: str, payload: bytes) -> bytes:
    """Return what stands for one input, made under that epoch of that life.

    Raises:
        OverflowError: There is no such epoch or life.

    """
    frame = numbered(incarnation) + numbered(epoch) + kind.encode() + b"\0"
    return hashlib.sha256(_CONTEXT + frame + payload).digest()


def commitment(salt: bytes, what: bytes) -> bytes:
    """Return what binds an operator to an input and tells nobody which."""
    return hashlib.sha256(_CONTEXT + salt + what).digest()


def chain_begin(session: SessionId, client: ClientId) -> bytes:
    """Return the link before the first input of a client."""
    return hashlib.sha256(_CONTEXT + f"{session}\n{client}\n".encode()).digest()


def followed(
    link: bytes, sequence: int, commitments: "Iterable[bytes]"
) -> tuple[int, bytes]:
    """Return sequence and link after some inputs more."""
    for made in commitments:
        sequence += 1
        link = hashlib.sha256(link + numbered(sequence) + made).digest()
    return sequence, link


def signed_bytes(
    session: SessionId, actor: ActorId, client: ClientId, last: int, link: bytes
) -> bytes:
    """Return what an operator signs."""
    lines = (session, actor, client, str(last), link.hex())
    return _CONTEXT + "".join(f"{line}\n" for line in lines).encode()


def numbered(number: int) -> bytes:
    """Return a number as it is hashed.

    Raises:
        OverflowError: It is below zero, or too large.

    """
    return number.to_bytes(_NUMBER, "big")
