"""The first messages on a link, before the rest of the client is loaded.

Theory of operation
-------------------
To load a client takes longer than to attach. So a command greets, proves itself and
asks what it wants with this machine alone, which loads next to nothing:

    HELLO ──▶ WELCOME, CHALLENGE ──▶ IDENTIFY and the request ──▶ frames

Nothing is decided here that `holder_link` does not decide. What was said and what was
heard is kept, and the caller that goes on with the ordinary machines gives them both:
they hear the same bytes from the beginning, and what they want to say has to be what
was said, byte for byte (client.connection). So whatever is unusual, even in the middle,
is left to them: `NotOneOfThese` means that nothing was said to what came last.

Invariants, checked by tests/core/client/test_early_link.py:

I1  What is said is what a HolderLink says that is told the same, and then the request.
I2  Nothing is said to bytes of which a part is not understood.
"""

from holdfast.version import __version__
from holdfast.wire import first_messages as first
from holdfast.wire.versions import SPOKEN

TYPE_CHECKING = False
"""Only checkers take it for true."""

if TYPE_CHECKING:
    from collections.abc import Callable

    from holdfast.model.ids import ActorId

PROGRAM = f"holdfast {__version__}"
"""What we say that we are; others see it."""

KIND = "cli"
"""What sort of program: ClientKind.CLI, which is slow to load."""

VOUCHED_FOR = bytes(32)
"""Stands for a proof where the host puts its own in this place."""


class EarlyLink:
    """What was said and heard on one link so far."""

    def __init__(
        self, actor: "ActorId", prove: "Callable[[bytes], bytes]", request: bytes
    ) -> None:
        """Act as `actor`, and send `request`, whole frames, behind the proof."""
        self._actor = actor
        self._prove = prove
        self._request = request
        self._held = bytearray()
        self._is_welcome = False
        self.is_greeted = False
        """Whether we have said who we are, and what we want."""

        self.said = bytearray()
        """All that was said, for the code that goes on."""

        self.heard: list[bytes] = []
        """All that was heard, in the pieces in which it came."""

    def hello(self) -> bytes:
        """Return the first bytes to send."""
        fields: first.Fields = {
            "versions": SPOKEN,
            "product": PROGRAM,
            "client": KIND,
        }
        return self.says(first.frame(first.HELLO, fields))

    def says(self, raw: bytes) -> bytes:
        """Take note of what is sent; return it."""
        self.said += raw
        return raw

    def hear(self, raw: bytes) -> tuple[bytes, list[tuple[int, bytes]]]:
        """Take bytes from the holder; return what to send, and frames to look at.

        Raises:
            NotOneOfThese: It is nothing that we know what to say to.

        """
        self.heard.append(raw)
        self._held += raw
        frames = first.frames_in(self._held)
        answer = b""
        while frames and not self.is_greeted:
            answer += self._greet(*frames.pop(0))
        if answer and frames:
            raise first.NotOneOfThese  # Nobody speaks before we have said who we are.
        return self.says(answer), frames

    def _greet(self, kind: int, payload: bytes) -> bytes:
        fields = first.read(kind, payload)
        if kind == first.WELCOME and not self._is_welcome:
            if fields["version"] not in SPOKEN:
                raise first.NotOneOfThese
            self._is_welcome = True
            return b""
        nonce = fields.get("nonce")
        if not self._is_welcome or not isinstance(nonce, bytes):
            raise first.NotOneOfThese
        self.is_greeted = True
        proven: first.Fields = {"actor": self._actor, "proof": self._prove(nonce)}
        return first.frame(first.IDENTIFY, proven) + self._request
