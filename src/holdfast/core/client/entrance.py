"""Attaching on one link: ATTACH goes out, and ATTACHED comes, or a refusal."""

from holdfast.core.client.attachment import Attachment
from holdfast.model.errors import UnexpectedMessage
from holdfast.wire.codec import Message, error_from
from holdfast.wire.frames import FrameKind
from holdfast.wire.messages import (
    Attached,
    Cells,
    Event,
    Pending,
    Refuse,
    Settled,
    State,
    TurnAsked,
    TurnPassed,
)


class Entrance:
    """One client that attaches."""

    def __init__(
        self,
        attachment: Attachment,
        size: Cells | None = None,
        *,
        keyframe: bool = False,
    ) -> None:
        self._attachment = attachment
        self._size = size
        self._keyframe = keyframe
        self.early: list[Message] = []
        """What came before ATTACHED: our coming may be what caused it."""

    def message(self) -> Message:
        """Return what to send."""
        return self._attachment.attach(self._size, keyframe=self._keyframe)

    def hear(self, message: Message) -> Attached | None:
        """Take what came; return ATTACHED, which the attachment has heard then.

        What the attachment then wants to send again goes first (`resume`).

        Raises:
            HoldfastError: We are refused, and why.
            PeerError: It is nothing that can come before ATTACHED.

        """
        match message:
            case Attached():
                self._attachment.heard(message)
                return message
            case Refuse(refused=FrameKind.ATTACH):
                raise error_from(message)
            case Pending() | Settled() | TurnPassed() | TurnAsked() | State() | Event():
                self.early.append(message)
                return None
            case _:
                raise UnexpectedMessage(type(message).__name__, "attaching")
