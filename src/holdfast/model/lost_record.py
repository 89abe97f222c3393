"""One session that was lost, as it is listed. Standard library only, for `ls`."""

from collections.abc import Mapping
from typing import NamedTuple, Self

from holdfast.model.ids import FIRST_INCARNATION, SessionId
from holdfast.model.session_record import MAX_ID, Facts, as_facts, identified
from holdfast.model.text import printable, same_name, shown_name

MAX_COMMAND = 200
"""Characters of a command that are shown."""


class LostRecord(NamedTuple):
    """What is known of a session that no process has any more."""

    id: SessionId
    name: str = ""
    seen_ms: int = 0
    """The last sign of life, in milliseconds since 1970: it was lost then, or soon
    after."""

    command: tuple[str, ...] = ()
    cwd: str = ""
    incarnation: int = FIRST_INCARNATION
    """Which life of it was lost."""

    why: str = ""
    """Why it cannot be recovered; empty if it can."""

    needs_environment: bool = False
    """Whether its environment was not kept, so that it gets that of who recovers it."""

    host: str = ""
    """What we call the host it was at; empty if that is here."""

    image: int = 0
    """Of a session that was not lost but put to disk: in which of its images it is."""

    saved: int = 0
    """The newest of its images, from which it can go on; 0 if it has none."""

    saved_ms: int = 0
    """When that was made, in milliseconds since 1970."""

    @property
    def label(self) -> str:
        """What people called it, safe to print: an address, if it is elsewhere."""
        own = shown_name(self.name) if self.name else printable(self.id, MAX_ID)
        return f"{self.host}/{own}" if self.host else own

    @property
    def is_recoverable(self) -> bool:
        """Whether it can be started again."""
        return not self.why

    @property
    def line(self) -> str:
        """What it ran, as one line, safe to print."""
        return printable(" ".join(self.command), MAX_COMMAND)

    def is_called(self, text: str) -> bool:
        """Tell whether this is its id or its name."""
        return self.id == text or (bool(self.name) and same_name(self.name, text))

    @classmethod
    def from_facts(cls, facts: object, host: str = "") -> Self:
        """Read what `facts` wrote, perhaps in another version.

        Raises:
            UsageError: It has no id.
            PeerError: Something in it has the wrong type.

        """
        return cls(**identified(LostRecord, facts, host))

    def facts(self) -> Facts:
        """Return it as what JSON can say; `host` only if it is elsewhere."""
        state = "stopped" if self.image else "lost"
        found: Facts = {**as_facts(self), "state": state}
        found["recoverable"] = self.is_recoverable
        if not self.host:
            del found["host"]
        return found


def lost_in(answer: Mapping[str, object], host: str) -> list[LostRecord]:
    """Return the lost sessions that a host's answer lists, the last to be seen last.

    A host of older code lists none.

    Raises:
        PeerError: Something has the wrong type.

    """
    from holdfast.model.errors import MalformedMessage, UsageError  # noqa: PLC0415  # slow to load

    told = answer.get("lost") or []
    try:
        if not isinstance(told, list):
            raise MalformedMessage("list of lost sessions", "it is none")
        found = [LostRecord.from_facts(one, host) for one in told]
    except UsageError:
        raise MalformedMessage("list of lost sessions", "one has no id") from None
    return sorted(found, key=lambda one: (one.seen_ms, one.id))
