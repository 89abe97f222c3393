"""What is asked about sessions of a keeper, or of a host: typed, as JSON says it.

As in session_record: what is unknown is ignored, what is missing has its default, and
a value of another type is refused. Standard library only, for the keeper.
"""

from typing import NamedTuple, Self

from holdfast.model.session_record import Cells, fields_of


class Creation(NamedTuple):
    """A session that somebody wants."""

    name: str | None = None
    """Chosen by its holder if nobody says."""

    command: tuple[str, ...] = ()
    """Empty: the user's shell."""

    cwd: str = ""
    env: dict[str, str] | None = None
    size: Cells | None = None
    integration: bool = False
    exec_gate: bool = False
    ground: bool = False
    """Whether it begins with what this host has set, whoever asks."""

    creator: str = ""
    client: str | None = None
    asked_ms: int = 0
    proof: str = ""
    token: str = ""
    """By which the keeper knows what was made; clients choose none."""

    id: str | None = None
    """Chosen by the keeper; an older one leaves it to the holder."""

    @classmethod
    def from_facts(cls, facts: object) -> Self:
        """Read a packet.

        Raises:
            PeerError: Something in it has the wrong type.

        """
        return cls(**fields_of(cls, facts))


class Change(NamedTuple):
    """What may be changed about a session; None is left as it is."""

    name: str | None = None
    keep: bool | None = None
    state: str | None = None
    size: Cells | None = None
    ended_ms: int | None = None
