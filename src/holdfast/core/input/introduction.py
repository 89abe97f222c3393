"""Whether a peer is the operator whose key the channel has proven.

Theory of operation
-------------------
An operator elsewhere has proven a key to the host, and speaks through the host to
a session's holder, which asks every client for a proof of its own: a code made
with a token that only this machine has. So the host reads along until that is
settled. It keeps the nonce of the holder's CHALLENGE, and in the place of what
the operator sent with IDENTIFY it puts the proof that the holder wants.

    reading along ──IDENTIFY of the proven actor──▶ over: bytes pass unread

Invariants, checked by tests/core/input/test_introduction.py:

I1  No IDENTIFY passes but that of the actor whose key was proven, with our proof.
I2  Everything else passes unchanged and in order, however it was cut.
I3  Before it is over no more than one small frame of either side is held.
I4  A stream that was refused goes on being refused.

A second IDENTIFY on the same link passes unread, and the holder refuses it: it
takes no nonce twice, and nobody elsewhere knows a token.
"""

from collections.abc import Callable

from holdfast.model.errors import FrameTooLarge, NotProven, UnexpectedMessage
from holdfast.model.ids import ActorId
from holdfast.wire import frames
from holdfast.wire.codec import decode, encode
from holdfast.wire.messages import Challenge, Identify

Prove = Callable[[bytes], bytes]
"""Makes the proof for a nonce."""


class Introduction:
    """One operator's way to one holder, until the holder knows who it is."""

    def __init__(self, actor: ActorId, prove: Prove) -> None:
        self.is_over = False
        self._actor = actor
        self._prove = prove
        self._nonce = b""
        self._from_holder = bytearray()
        self._from_operator = bytearray()

    def from_holder(self, data: bytes) -> bytes:
        """Take what the holder said; return what the operator is to hear of it.

        Raises:
            PeerError: It is not what a holder says.

        """
        passed, held = b"", self._from_holder
        if not self._nonce:
            held += data
            while not self._nonce and (frame := _taken(held)) is not None:
                passed += frame.to_bytes()
                message = decode(frame)
                if isinstance(message, Challenge):
                    self._nonce = message.nonce
            data = bytes(held) if self._nonce else b""
            if self._nonce:
                held.clear()
        return passed + data

    def from_operator(self, data: bytes) -> bytes:
        """Take what the operator said; return what the holder is to hear of it.

        Raises:
            Forbidden: It claims to be another operator.
            PeerError: It is not what an operator says.

        """
        if self.is_over:
            return data
        passed, held = b"", self._from_operator
        held += data
        while not self.is_over and (frame := _taken(held)) is not None:
            if frame.kind is frames.FrameKind.IDENTIFY:
                passed += self._introduced(frame)
            else:
                passed += frame.to_bytes()
        if self.is_over:
            passed += bytes(held)
            held.clear()
        return passed

    def _introduced(self, frame: frames.Frame) -> bytes:
        claim = decode(frame)
        assert isinstance(claim, Identify)  # noqa: S101  # it is what that frame has
        if claim.actor != self._actor:
            raise NotProven(claim.actor)
        if not self._nonce:
            raise UnexpectedMessage("Identify", "it was not asked for its identity")
        self.is_over = True
        return encode(Identify(claim.actor, self._prove(self._nonce)))


def _taken(held: bytearray) -> frames.Frame | None:
    """Take the first frame out of `held`, or None while it is not whole."""
    if len(held) < frames.HEADER_SIZE:
        return None
    size = int.from_bytes(held[1 : frames.HEADER_SIZE])
    if size > frames.MAX_UNPROVEN_PAYLOAD:
        raise FrameTooLarge(size, frames.MAX_UNPROVEN_PAYLOAD)
    end = frames.HEADER_SIZE + size
    found = frames.FrameReader().feed(bytes(held[:end]))
    if not found:
        return None
    del held[:end]
    return found[0]
