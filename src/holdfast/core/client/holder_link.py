"""One link to a holder: the greeting, and messages that need no request.

    HELLO ──▶ WELCOME ──▶ CHALLENGE ──▶ IDENTIFY ──▶ messages

Bytes go in, messages come out. IDENTIFY is not answered unless it is refused, and
then later. Pings are answered, and not handed on.
"""

from collections import deque
from collections.abc import Callable
from typing import NamedTuple

from holdfast.core.client.early_link import PROGRAM
from holdfast.model import errors
from holdfast.model.envelopes import Right
from holdfast.model.ids import ActorId, SessionId
from holdfast.model.text import printable
from holdfast.wire import messages
from holdfast.wire.codec import Message, decode, encode, error_from
from holdfast.wire.frames import FrameKind, FrameReader
from holdfast.wire.versions import SPOKEN, choose, spelled


class Credentials(NamedTuple):
    """Who we are, what sort of program, and how we prove it for a nonce."""

    actor: ActorId
    kind: messages.ClientKind
    prove: Callable[[bytes], bytes]


class HolderLink:
    """What has been said on one link."""

    def __init__(self, session: SessionId, credentials: Credentials) -> None:
        self._session = session
        self._credentials = credentials
        self._reader = FrameReader()
        self._heard: deque[Message] = deque()
        self._is_welcome = False
        self.is_greeted = False
        """Whether both sides have said who they are and what they speak."""

    @property
    def has_messages(self) -> bool:
        """Whether `take` has something to return, or to raise."""
        return bool(self._heard)

    @property
    def is_between_frames(self) -> bool:
        """Whether what comes next begins with a frame."""
        return not self._reader.held

    @property
    def missing(self) -> str:
        """What the holder has not done yet, if it does not go on."""
        return (
            "it does not ask for our identity"
            if self._is_welcome
            else "it does not greet"
        )

    def hello(self) -> bytes:
        """Return the first bytes to send."""
        ours = self._credentials
        return encode(messages.Hello(SPOKEN, PROGRAM, ours.kind))

    def feed(self, raw: bytes) -> bytes:
        """Take bytes from the holder, or none at its end; return what to send back.

        Raises:
            Unavailable: The holder is gone, or said goodbye before it greeted us.
            PeerError: It speaks no version that we speak, or nonsense.

        """
        if not raw:
            raise errors.SessionUnreachable(self._session, "it hung up")
        answers: list[Message] = []
        for message in map(decode, self._reader.feed(raw)):
            match message:
                case messages.Ping(number):
                    answers.append(messages.Pong(number))
                case _ if self.is_greeted:
                    self._heard.append(message)
                case _:
                    answers += self._greet(message)
        return b"".join(map(encode, answers))

    def take(self) -> Message | None:
        """Return the next message; None if there is none yet.

        Raises:
            Unavailable: The holder said goodbye.
            Forbidden: It does not believe who we are, or has revoked us.

        """
        if not self._heard:
            return None
        message = self._heard.popleft()
        match message:
            case messages.Goodbye():
                raise self._dismissed(message)
            case messages.Refuse(refused=FrameKind.IDENTIFY):
                raise error_from(message)
            case _:
                return message

    def _greet(self, message: Message) -> list[Message]:
        match message:
            case messages.Goodbye():
                raise self._dismissed(message)
            case messages.Welcome(version) if not self._is_welcome:
                choose(SPOKEN, (version,))
                self._is_welcome = True
                return []
            case messages.Challenge(nonce) if self._is_welcome:
                self.is_greeted = True
                ours = self._credentials
                return [messages.Identify(ours.actor, ours.prove(nonce))]
            case _:
                raise errors.UnexpectedMessage(type(message).__name__, "greeting")

    def _dismissed(self, goodbye: messages.Goodbye) -> errors.HoldfastError:
        if goodbye.code == errors.NoCommonVersion.code:
            return errors.NoCommonVersion(spelled(SPOKEN), printable(goodbye.text))
        if goodbye.code == errors.NotAllowed.code:
            # We are revoked. If we came back we would not be let in, nor told why.
            return errors.NotAllowed(self._credentials.actor, Right.OBSERVE.value)
        if goodbye.code == errors.DetachedBy.code:
            # To come back at once would undo what the operator wanted.
            return errors.DetachedBy.told(printable(goodbye.text), {})
        if goodbye.code == errors.SessionStopped.code:
            return errors.SessionStopped.told(printable(goodbye.text), {})
        if goodbye.code == errors.SessionMoved.code:
            return errors.SessionLeft(self._session, "to another host", goodbye.text)
        why = f"{printable(goodbye.text)} ({goodbye.code})"
        return errors.SessionUnreachable(self._session, why)
