"""One link to a holder: messages out, messages in, blocking, with deadlines.

A holder that died is replaced with the same listening socket, on which connects
queue; for the moment in which even that is missing, connecting is tried again. To
a holder elsewhere the link leads through a channel (client.dialing), in which our
key is proven already, and the host there vouches for us.
"""

import contextlib
import os
import socket
import time
from collections import deque
from types import TracebackType
from typing import Self

from holdfast.client import dialing
from holdfast.client.acting import ourselves
from holdfast.crypto.proof import local_proof
from holdfast.linux import folders
from holdfast.linux.packets import is_ours
from holdfast.model.envelopes import Right
from holdfast.model.errors import (
    NoCommonVersion,
    NotAllowed,
    SessionUnreachable,
    UnexpectedMessage,
)
from holdfast.model.ids import SessionId
from holdfast.model.text import printable
from holdfast.version import __version__
from holdfast.wire.codec import Message, decode, encode, error_from
from holdfast.wire.frames import FrameKind, FrameReader
from holdfast.wire.messages import (
    Challenge,
    ClientKind,
    Goodbye,
    Hello,
    Identify,
    Ping,
    Pong,
    Refuse,
    Welcome,
)
from holdfast.wire.versions import SPOKEN, choose, spelled

PATIENCE = 8.0
"""Seconds in which a holder that hangs is noticed and replaced; after a death it takes
a small part of that."""

READ = 256 * 1024
"""Bytes taken from the socket at once: four full frames of output."""

_STEP = 0.01
_VOUCHED_FOR = bytes(32)
"""What stands for a proof where the host puts its own in this place."""


class Connection:
    """A link on which both sides have said who they are and what they speak."""

    def __init__(self, session: SessionId, link: socket.socket) -> None:
        self._session = session
        self._link = link
        self._reader = FrameReader()
        self._heard: deque[Message] = deque()
        self._is_far = False

    @classmethod
    def open(
        cls,
        session: SessionId,
        path: str | os.PathLike[str] | None = None,
        *,
        patience: float = PATIENCE,
    ) -> Self:
        """Connect to a session's holder: at `path`, or wherever it is at home.

        Raises:
            Unavailable: None answers within `patience` seconds.
            PeerError: It speaks no version that we speak, or nonsense.
            UsageError: We have no name to act under.
            Forbidden: Its host does not let us in.

        """
        if path is None and dialing.home_of(session):
            far = dialing.patience_for(session, patience)
            deadline = time.monotonic() + far
            connection = cls(session, dialing.dial_far(session, far))
            connection._is_far = True
        else:
            deadline = time.monotonic() + patience
            path = folders.session_address(session) if path is None else path
            connection = cls(session, _dial(session, path, deadline))
        try:
            connection._greet(deadline)
        except BaseException:
            connection.close()
            raise
        return connection

    def fileno(self) -> int:
        """Return the descriptor to wait on; `pending` first, it may hold messages."""
        return self._link.fileno()

    @property
    def pending(self) -> bool:
        """Whether `receive` has something to return at once."""
        return bool(self._heard)

    def send(self, message: Message) -> None:
        """Send one message, whole.

        Raises:
            Unavailable: The holder is gone.
            UsageError: The message cannot be written.

        """
        self._link.settimeout(PATIENCE)
        try:
            self._link.sendall(encode(message))
        except OSError as error:
            raise self._gone(error) from error

    def receive(self, timeout: float | None = None) -> Message | None:
        """Return the next message, or None when none came within `timeout`.

        Questions whether we are there are answered, and not returned.

        Raises:
            Unavailable: The holder is gone, or said goodbye.
            Forbidden: It does not believe who we are, or has revoked us.
            PeerError: It sent what no holder sends.

        """
        deadline = None if timeout is None else time.monotonic() + timeout
        while True:
            while self._heard:
                message = self._heard.popleft()
                match message:
                    case Ping(number):
                        self.send(Pong(number))
                    case Goodbye():
                        raise self._dismissed(message)
                    case Refuse(refused=FrameKind.IDENTIFY):
                        raise error_from(message)
                    case _:
                        return message
            if not self._fill(deadline):
                return None

    def put_back(self, messages: list[Message]) -> None:
        """Have `receive` return these first, in this order."""
        self._heard.extendleft(reversed(messages))

    def close(self) -> None:
        """Hang up."""
        self._link.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def _greet(self, deadline: float) -> None:
        self.send(Hello(SPOKEN, f"holdfast {__version__}", ClientKind.CLI))
        answer = self.receive(max(0.0, deadline - time.monotonic()))
        match answer:
            case Welcome(version):
                choose(SPOKEN, (version,))
            case None:
                raise SessionUnreachable(self._session, "it does not say hello")
            case _:
                raise UnexpectedMessage(type(answer).__name__, "greeting")
        self._identify(deadline)

    def _identify(self, deadline: float) -> None:
        """Prove who we are. It is not answered unless it is refused, and later."""
        asked = self.receive(max(0.0, deadline - time.monotonic()))
        match asked:
            case Challenge(nonce):
                us = ourselves()
                proof = _VOUCHED_FOR
                if not self._is_far:
                    proof = local_proof(us.token(), self._session, nonce)
                self.send(Identify(dialing.actor_at(self._session, us.actor.id), proof))
            case None:
                raise SessionUnreachable(self._session, "it does not ask who we are")
            case _:
                raise UnexpectedMessage(type(asked).__name__, "greeting")

    def _fill(self, deadline: float | None) -> bool:
        left = None if deadline is None else max(0.0, deadline - time.monotonic())
        # A socket with timeout 0 does not block, and says so with another error.
        self._link.settimeout(left)
        try:
            raw = self._link.recv(READ)
        except (TimeoutError, BlockingIOError):
            return False
        except OSError as error:
            raise self._gone(error) from error
        if not raw:
            raise SessionUnreachable(self._session, "it hung up")
        self._heard.extend(map(decode, self._reader.feed(raw)))
        return True

    def _gone(self, error: OSError) -> SessionUnreachable:
        return SessionUnreachable(self._session, error.strerror or "it does not read")

    def _dismissed(self, goodbye: Goodbye) -> Exception:
        if goodbye.code == NoCommonVersion.code:
            return NoCommonVersion(spelled(SPOKEN), printable(goodbye.text))
        if goodbye.code == NotAllowed.code:
            # We are revoked: whoever comes back is not let in, and may not be told so.
            us = dialing.actor_at(self._session, ourselves().actor.id)
            return NotAllowed(us, Right.OBSERVE.value)
        return SessionUnreachable(
            self._session, f"{printable(goodbye.text)} ({goodbye.code})"
        )


def _dial(
    session: SessionId, path: str | os.PathLike[str], deadline: float
) -> socket.socket:
    while True:
        link = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        link.settimeout(max(_STEP, deadline - time.monotonic()))
        try:
            link.connect(os.fspath(path))
        except OSError as error:
            link.close()
            is_back_soon = isinstance(error, FileNotFoundError | ConnectionError)
            if not is_back_soon or time.monotonic() + _STEP > deadline:
                why = error.strerror or "no answer"
                raise SessionUnreachable(session, why) from error
            time.sleep(_STEP)
            continue
        with contextlib.suppress(OSError):
            if is_ours(link):
                return link
        link.close()
        raise SessionUnreachable(session, "its socket belongs to somebody else")
