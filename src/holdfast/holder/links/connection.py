"""One client's connection: frames in, frames out, and its place in the stream."""

import contextlib
import socket
from collections import deque
from collections.abc import Callable, Iterable

from holdfast.core.session.stream import Send, StreamWindow, Viewer
from holdfast.holder.poll import Poll
from holdfast.linux import packets
from holdfast.model.actors import Actor
from holdfast.model.errors import HoldfastError
from holdfast.model.ids import ActorId, ClientId
from holdfast.wire.codec import OUTPUT_HEAD, Message, decode, encode, output_head
from holdfast.wire.frames import MAX_UNPROVEN_PAYLOAD, FrameReader
from holdfast.wire.messages import Gap, Goodbye, Mode

CHUNK = 64 * 1024
"""Bytes of output in one frame. What the kernel has not taken of the last one waits
here for a client; the rest waits in the window, which all clients share."""


READ = 8 * 1024
"""Bytes taken from a client at once: as many keys as can be dealt with in a few
milliseconds, so that a seize is heard between them."""

MAX_ACTING = 16
"""Clients that act on one link: each command of an operator has one of its own, and
few run at the same time."""

MAX_UNREAD = 1024 * 1024
"""Bytes of answers that wait for a client: one that asks and asks without reading
any is hung up on. The stream does not count, it waits in the window."""


class Connection:
    """A client of this session."""

    def __init__(
        self, link: socket.socket, poll: Poll, gone: "list[Connection]"
    ) -> None:
        """Serve a client; once it is hung up on, it is put among those `gone`."""
        link.settimeout(0)
        self.link = link
        self._poll = poll
        self._gone = gone
        self.process = packets.process_of(link)
        self.client: ClientId | None = None
        self.clients: list[ClientId] = []
        """For which clients of its operator it acts, the latest last."""

        self.viewer: Viewer | None = None
        self._window: StreamWindow | None = None
        self.actor: Actor | None = None
        self.mode = Mode.OBSERVE
        self.program, self.nonce = "", b""
        self.attached_at = 0.0
        self.dismissed_by: ActorId | None = None
        """The operator who detached it, if one did."""

        self.is_welcome = self.is_closed = False
        self._reader = FrameReader(limit=MAX_UNPROVEN_PAYLOAD)
        self.unsent = bytearray()
        """What waits for the client to take it."""

        self._waits_for_room = False
        self._is_full = False
        """Whether the kernel takes nothing of the stream until it has room."""

        self.handle: Callable[[Connection, Message], None] = lambda _, __: None
        """Takes its messages."""

        self.skipped: Callable[[int], None] = lambda _: None
        """Told how much of the stream it has missed, because it reads too slowly."""

        self._coming: deque[Message] = deque()
        self._last: Message | None = None

    @property
    def operator(self) -> Actor:
        """Who it is; ask only once that is proven."""
        assert self.actor is not None, "no client passes without proof of identity"  # noqa: S101
        return self.actor

    def receive(self, handle: Callable[["Connection", Message], None]) -> None:
        """Read what has come, and hand over each message."""
        self.handle = handle
        try:
            data = self.link.recv(READ)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        self.take(data, handle)

    def take(
        self, data: bytes, handle: Callable[["Connection", Message], None]
    ) -> None:
        """Take what was read, nothing at its end, and hand over each message."""
        if not data:
            self.hang_up()
            return
        try:
            for frame in self._reader.feed(data):
                handle(self, decode(frame))
            if self._reader.is_limited:
                self._take_after_proof(handle)
        except HoldfastError as error:
            # A peer that breaks the protocol is hung up on.
            self.dismiss(Goodbye(error.code, str(error)[:200]))

    def _take_after_proof(
        self, handle: Callable[["Connection", Message], None]
    ) -> None:
        """Allow larger frames to a client that has proven who it is.

        What is too large for one that has not is refused here.
        """
        if self.actor is not None:
            self._reader.raise_limit()
        for frame in self._reader.feed(b""):
            handle(self, decode(frame))

    @property
    def is_quiet(self) -> bool:
        """Whether nothing of it is half read, and nothing waits to be sent."""
        viewer, window = self.viewer, self._window
        return (
            not (self.is_closed or self.unsent or self._coming or self._reader.held)
            and viewer is not None
            and window is not None
            and viewer.cursor == window.end
        )

    def acts_for(self, client: ClientId) -> list[ClientId]:
        """Note that a client acts here; return those that do so no more."""
        self.clients = [one for one in self.clients if one != client] + [client]
        gone, self.clients = self.clients[:-MAX_ACTING], self.clients[-MAX_ACTING:]
        return gone

    @property
    def is_behind(self) -> bool:
        """Whether something that was queued has not been taken yet."""
        return bool(self._coming)

    def queue(self, messages: Iterable[Message]) -> None:
        """Send messages one after the other, each when the last one was taken.

        They are written down one by one: what many clients are sent is kept once.
        """
        self._coming.extend(messages)

    def send(self, message: Message) -> None:
        """Send a message as soon as the client takes it."""
        if self._coming:
            self._coming.append(message)  # Nothing comes between parts.
            return
        self.unsent += encode(message)
        self.flush()
        if len(self.unsent) > MAX_UNREAD:
            self.hang_up()

    def watch(self, window: StreamWindow, at: int) -> None:
        """Send the stream from byte `at` on."""
        # One that takes nothing costs CHUNK bytes here and is told of its gap
        # later; nobody is hung up on for being slow.
        self.viewer = Viewer(at)
        self._window = window

    def passes(self, at: int, frame: bytes) -> bool:
        """Send output that has just come, at `at`, if the client has all before it.

        Tell whether that was done; else `pump`. The frame may be empty.
        """
        viewer = self.viewer
        if (
            viewer is None
            or viewer.cursor != at
            or not frame
            or self.unsent
            or self._coming
            or self._is_full
            or self._last is not None
        ):
            return False
        try:
            sent = self.link.send(frame)
        except OSError:
            return False  # It has no room, or is gone.
        viewer.kept_up(len(frame) - OUTPUT_HEAD)
        if sent < len(frame):
            self.unsent += frame[sent:]
            self._wait_for_room()
        return True

    def pump(self) -> None:
        """Send as much of the stream as the client takes now."""
        while self._coming and not self.unsent:
            self.unsent += encode(self._coming.popleft())
            self.flush()
        viewer, window = self.viewer, self._window
        if viewer is None or window is None:
            return
        end = window.end
        while viewer.cursor != end and not (self.unsent or self._is_full):
            for effect in viewer.pull(window, CHUNK):
                if isinstance(effect, Send):
                    self._offer(viewer, effect)
                else:
                    self.skipped(effect.gap)
                    self.unsent += encode(Gap(effect.at - effect.gap, effect.at))
                    self._push()
        if self._is_full or self.unsent or self._waits_for_room:
            self._wait_for_room()
        if self._last is not None and viewer.cursor == end and not self.unsent:
            last, self._last = self._last, None
            self.send(last)

    def _offer(self, viewer: Viewer, piece: Send) -> None:
        """Send a piece of the stream straight from the window.

        What was begun is kept here until it is taken. If nothing was, nothing is: what
        the client is told meanwhile then comes before it.
        """
        if self.unsent:
            return  # A gap comes first. The piece is offered again.
        head, data = output_head(piece.offset, len(piece.data)), piece.data
        try:
            sent = self.link.sendmsg((head, data))
        except BlockingIOError:
            sent = 0
        except OSError:
            self._is_full = True  # For ever.
            self._lost()
            return
        if sent:
            viewer.accepted(len(data))
            if sent < len(head) + len(data):
                self.unsent += head[sent:]
                self.unsent += data[max(0, sent - len(head)) :]
        else:
            self._is_full = True

    def end_with(self, last: Message) -> None:
        """Send `last` once the client has seen everything that was printed."""
        self._last = last

    def flush(self) -> None:
        """Give the kernel what it takes."""
        self._push()
        self._wait_for_room()

    def _push(self) -> None:
        sent = 0
        try:
            sent = self.link.send(self.unsent)
        except BlockingIOError:
            pass
        except OSError:
            self._lost()
            return
        del self.unsent[:sent]

    def _wait_for_room(self) -> None:
        """Watch for room to write while something waits for it."""
        waits = self._is_full or bool(self.unsent)
        viewer, window = self.viewer, self._window
        if self._waits_for_room and viewer is not None and window is not None:
            # What was just sent may have found room before the stream did.
            waits = waits or viewer.cursor != window.end
        if waits is not self._waits_for_room and not self.is_closed:
            self._waits_for_room = waits
            self._poll.watch_room(self.link, self._has_room if waits else None)

    def _has_room(self) -> None:
        self._is_full = False
        self._push()
        self.pump()
        self._wait_for_room()

    def _lost(self) -> None:
        self.unsent.clear()
        self._coming.clear()
        self.hang_up()

    def dismiss(self, last: Message) -> None:
        """Say one thing more, and hang up."""
        self.send(last)
        self.hang_up()

    def hang_up(self) -> None:
        """Close the connection at the end of this turn of the loop."""
        if not self.is_closed:
            self.is_closed = True
            self._gone.append(self)

    def close(self) -> None:
        """Hang up."""
        with contextlib.suppress(OSError):
            self.link.close()
