"""One image of a session, as its host lists it."""

from collections.abc import Mapping
from typing import NamedTuple, Self

from holdfast.model.errors import MalformedMessage, UsageError
from holdfast.model.ids import FIRST_INCARNATION, SessionId, parse_session_id
from holdfast.model.session_record import Facts, as_facts, fields_of


class ImageRecord(NamedTuple):
    """What is told of an image; of one that is damaged little more than that."""

    id: SessionId
    """Its session's."""

    number: int = 0
    name: str = ""
    """What the session was called last."""

    label: str = ""
    made_ms: int = 0
    """Milliseconds since 1970."""

    size: int = 0
    """Bytes."""

    incarnation: int = FIRST_INCARNATION
    """In which life of the session it was made."""

    once: bool = False
    """Whether the session ended with it: then it can be restored once."""

    problem: str = ""
    """Why it cannot be restored; empty if nothing is known to be wrong with it."""

    @property
    def image(self) -> str:
        """What the image is called."""
        return f"{self.id}.{self.number}"

    @classmethod
    def from_facts(cls, facts: object) -> Self:
        """Read what `facts` wrote, perhaps in another version.

        Raises:
            UsageError: It has no session.
            PeerError: Something in it has the wrong type.

        """
        found = fields_of(ImageRecord, facts)
        found["id"] = parse_session_id(str(found.get("id")))
        return cls(**found)

    def facts(self) -> Facts:
        """Return it as what JSON can say."""
        return {name: as_facts(value) for name, value in self._asdict().items()}


def images_in(answer: Mapping[str, object]) -> list[ImageRecord]:
    """Return the images that a host's answer lists, in its order.

    Raises:
        PeerError: Something has the wrong type.

    """
    told = answer.get("images")
    try:
        if not isinstance(told, list):
            raise MalformedMessage("list of images", "it is none")
        return [ImageRecord.from_facts(one) for one in told]
    except UsageError:
        raise MalformedMessage("list of images", "one has no session") from None
