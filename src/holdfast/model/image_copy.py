"""A copy of another host's session, as the host that keeps it lists it."""

from typing import NamedTuple


class ImageCopy(NamedTuple):
    """What is told of a copy, and of what is lost if the session goes on from it."""

    image: str = ""
    """What the image is called: SESSION.NUMBER."""

    session: str = ""
    name: str = ""
    """What the session was called then."""

    host: str = ""
    """The host that sent it, by its id."""

    host_name: str = ""
    """What that host calls itself."""

    made_ms: int = 0
    """Milliseconds since 1970."""

    size: int = 0
    """Bytes."""

    incarnation: int = 1
    """In which life of the session it was made."""

    through: int = 0
    """The last entry of the logbook when it was made: what the later ones tell of is
    undone."""

    known: int = 0
    """The last entry that came along; there may have been more."""

    printed: int = 0
    """Bytes that the session had printed then; what it printed later is gone."""
