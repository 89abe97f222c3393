"""One client's connection: frames in, frames out, and its place in the stream."""

import contextlib
import math
import socket
from collections.abc import Callable

from holdfast.core.stream import Send, StreamWindow, Viewer
from holdfast.model.errors import HoldfastError
from holdfast.model.ids import ClientId  # noqa: TC001  # read by people too
from holdfast.wire.codec import Message, decode, encode, output_frame
from holdfast.wire.frames import FrameReader
from holdfast.wire.messages import Gap, Goodbye

CHUNK = 64 * 1024
"""Bytes of output in one frame, and what may wait here for a client: the rest
waits in the window, which all clients share."""


class Connection:
    """A client of this session."""

    def __init__(self, link: socket.socket) -> None:
        link.settimeout(0)
        self.link = link
        self.client: ClientId | None = None
        self.viewer: Viewer | None = None
        self.is_welcome = False
        self.is_closed = False
        self._reader = FrameReader()
        self._out = bytearray()
        self._last: Message | None = None

    @property
    def wants_to_write(self) -> bool:
        """Whether something waits for the client to take it."""
        return bool(self._out)

    def receive(self, handle: Callable[["Connection", Message], None]) -> None:
        """Read what has come, and hand over each message."""
        try:
            data = self.link.recv(CHUNK)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        if not data:
            self.is_closed = True
            return
        try:
            for frame in self._reader.feed(data):
                handle(self, decode(frame))
        except HoldfastError as error:
            # Whoever does not speak the protocol is not spoken to any longer.
            self.send(Goodbye(error.code, str(error)[:200]))
            self.is_closed = True

    def send(self, message: Message) -> None:
        """Send a message as soon as the client takes it."""
        self._out += encode(message)
        self.flush()

    def watch(self, at: int) -> None:
        """Send the stream from byte `at` on."""
        # One that takes nothing costs CHUNK bytes here and is told of its gap
        # later; nobody is hung up on for being slow.
        self.viewer = Viewer(at, bound=1 << 62, stalled_after=math.inf)

    def pump(self, window: StreamWindow, now: float) -> None:
        """Send as much of the stream as the client takes now."""
        viewer = self.viewer
        while viewer is not None and not self._out:
            effects = viewer.pull(window, CHUNK, now)
            if not effects:
                self._say_last()
                return
            for effect in effects:
                if isinstance(effect, Send):
                    self._out += output_frame(effect.offset, effect.data)
                    viewer.accepted(len(effect.data), now)
                else:
                    self._out += encode(Gap(effect.at - effect.gap, effect.at))
            self.flush()

    def end_with(self, last: Message) -> None:
        """Send `last` once the client has seen everything that was printed."""
        self._last = last

    def _say_last(self) -> None:
        if self._last is not None:
            last, self._last = self._last, None
            self.send(last)

    def flush(self) -> None:
        """Give the kernel what it takes."""
        try:
            sent = self.link.send(self._out)
        except BlockingIOError:
            return
        except OSError:
            self.is_closed = True
            self._out.clear()
            return
        del self._out[:sent]

    def close(self) -> None:
        """Hang up."""
        with contextlib.suppress(OSError):
            self.link.close()
