"""One link to a holder: messages out, messages in, blocking, with deadlines.

A holder that died is replaced with the same listening socket, on which connects
queue. To a holder elsewhere the link leads through a channel (client.session_location),
in which our key is proven already, and the host there vouches for us.
"""

import os
import socket
import time
from collections import deque
from collections.abc import Callable
from typing import Self

from holdfast.client import early_session, session_location
from holdfast.client.current_operator import ourselves
from holdfast.client.early_session import EarlySession
from holdfast.core.client.early_link import VOUCHED_FOR
from holdfast.core.client.holder_link import Credentials, HolderLink
from holdfast.core.client.timeouts import GREETING
from holdfast.crypto.local_proof import local_proof
from holdfast.linux.packets import is_ours
from holdfast.linux.stored import folders
from holdfast.model.errors import SessionUnreachable
from holdfast.model.ids import SessionId
from holdfast.wire.codec import Message, encode
from holdfast.wire.messages import ClientKind

READ = 256 * 1024
"""Bytes taken from the socket at once: four full frames of output."""


class Connection:
    """A link on which both sides have said who they are and what they speak."""

    def __init__(
        self, session: SessionId, link: socket.socket, credentials: Credentials
    ) -> None:
        self._session = session
        self._link = link
        self._talk = HolderLink(session, credentials)
        self._said = b""
        self._heard: deque[bytes] = deque()
        self._patience = link.gettimeout()
        self._room = memoryview(bytearray(READ))

    @classmethod
    def open(
        cls,
        session: SessionId,
        path: str | os.PathLike[str] | None = None,
        *,
        patience: float = GREETING,
    ) -> Self:
        """Connect to a session's holder: at `path`, or wherever it is at home.

        Raises:
            Unavailable: None answers within `patience` seconds.
            PeerError: It speaks no version that we speak, or nonsense.
            UsageError: We have no name to act under.
            Forbidden: Its host does not let us in.

        """
        is_far = path is None and bool(session_location.home_of(session))
        deadline = time.monotonic() + patience
        credentials = _credentials(session, is_far=is_far)
        early = None if path else early_session.begun(session)
        if early is not None and early.is_linked:
            return cls._adopted(early, credentials, deadline)
        if is_far:
            link = session_location.dial_far(session, patience)
        else:
            path = folders.session_address(session) if path is None else path
            link = _dial(session, path, patience)
        connection = cls(session, link, credentials)
        return connection._greeted(deadline)

    @classmethod
    def _adopted(
        cls, early: EarlySession, credentials: Credentials, deadline: float
    ) -> Self:
        """Go on with a link on which something was said before we were loaded.

        We hear all that was heard there. What we want to say is taken for said as
        long as it is what was said, and must be.
        """
        talk = early.talk
        assert talk is not None, "what is linked has talked"  # noqa: S101
        link = socket.socket(fileno=early.release())
        connection = cls(early.id, link, credentials)
        connection._said, connection._heard = bytes(talk.said), deque(talk.heard)
        return connection._greeted(deadline)

    def fileno(self) -> int:
        """Return the descriptor to wait on; `pending` first, it may hold messages."""
        return self._link.fileno()

    @property
    def pending(self) -> bool:
        """Whether `receive` has something to return at once."""
        return self._talk.has_messages or bool(self._heard)

    def send(self, *messages: Message) -> None:
        """Send messages, each whole.

        Raises:
            Unavailable: The holder is gone.
            UsageError: A message cannot be written; none was sent.

        """
        if messages:
            self.send_raw(b"".join(map(encode, messages)))

    def send_raw(self, frame: bytes) -> None:
        """Send a frame that was written down before.

        Raises:
            Unavailable: The holder is gone.

        """
        if self._said and not (frame := self._unsaid(frame)):
            return
        sent = 0
        try:
            if self._patience == 0:
                # What is typed fits at once, and is not to wait for a change of mode.
                try:
                    sent = self._link.send(frame)
                except BlockingIOError:
                    sent = 0
            if sent < len(frame):
                self._wait_at_most(GREETING)
                self._link.sendall(frame[sent:])
        except OSError as error:
            if not self.pending:  # Else that is heard first, and then the end.
                raise self._gone(error) from error

    def fill(self, first: Callable[[bytes], None]) -> None:
        """Read what has come; if a frame begins there, `first` sees the bytes first.

        Raises:
            Unavailable: The holder is gone, or said goodbye before it greeted us.
            PeerError: It sent what no holder sends.

        """
        self._fill(0, first if self._talk.is_between_frames else None)

    def receive(self, timeout: float | None = None) -> Message | None:
        """Return the next message, or None when none came within `timeout`.

        Raises:
            Unavailable: The holder is gone, or said goodbye.
            Forbidden: It does not believe who we are, or has revoked us.
            PeerError: It sent what no holder sends.

        """
        deadline = time.monotonic() + timeout if timeout else timeout
        while (message := self._talk.take()) is None:
            if not self._fill(deadline):
                return None
        return message

    def close(self) -> None:
        """Hang up."""
        self._link.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _greeted(self, deadline: float) -> Self:
        """Greet the holder, and return ourselves; if that fails, hang up."""
        try:
            self._greet(deadline)
        except BaseException:
            self.close()
            raise
        return self

    def _greet(self, deadline: float) -> None:
        self.send_raw(self._talk.hello())
        while not self._talk.is_greeted:
            if not self._fill(deadline):
                raise SessionUnreachable(self._session, self._talk.missing)

    def _wait_at_most(self, seconds: float | None) -> None:
        """Set the link's timeout, if it differs: each change is a system call."""
        if seconds != self._patience:
            self._patience = seconds
            self._link.settimeout(seconds)

    def _unsaid(self, raw: bytes) -> bytes:
        """Return the part that was not sent before we were loaded."""
        said, self._said = self._said[: len(raw)], self._said[len(raw) :]
        if not raw.startswith(said):
            raise SessionUnreachable(self._session, "it was told something else")
        return raw[len(said) :]

    def _fill(
        self, deadline: float | None, first: Callable[[bytes], None] | None = None
    ) -> bool:
        if self._heard:
            self._take(self._heard.popleft())
            return True
        left = max(0.0, deadline - time.monotonic()) if deadline else deadline
        # A socket with timeout 0 does not block, and says so with another error.
        self._wait_at_most(left)
        try:
            # Room for that much is made once: it costs more than a key does.
            raw = self._room[: self._link.recv_into(self._room)].tobytes()
        except (TimeoutError, BlockingIOError):
            return False
        except OSError as error:
            raise self._gone(error) from error
        if first is not None:
            first(raw)
        self._take(raw)
        return True

    def _take(self, raw: bytes) -> None:
        if answer := self._talk.feed(raw):
            self.send_raw(answer)

    def _gone(self, error: OSError) -> SessionUnreachable:
        return SessionUnreachable(self._session, error.strerror or "it does not read")


def _credentials(session: SessionId, *, is_far: bool) -> Credentials:
    us = ourselves()

    def prove(nonce: bytes) -> bytes:
        return VOUCHED_FOR if is_far else local_proof(us.token(), session, nonce)

    actor = session_location.actor_at(session, us.actor.id)
    return Credentials(actor, ClientKind.CLI, prove)


def _dial(
    session: SessionId, path: str | os.PathLike[str], patience: float
) -> socket.socket:
    link = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    link.settimeout(patience)
    why = "its socket belongs to another user"
    try:
        link.connect(os.fspath(path))
        if is_ours(link):
            return link
    except OSError as error:
        why = error.strerror or "no answer"
    link.close()
    raise SessionUnreachable(session, why)
