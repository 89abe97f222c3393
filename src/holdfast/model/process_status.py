"""How a keeper and a host say they do: what `holdfast status` shows.

Standard library only, for the keeper; what is missing has its default, so that each
version understands the other.
"""

from typing import NamedTuple


class ReplacedProcesses(NamedTuple):
    """Processes that hung and were replaced, and the last one, `ago` seconds ago."""

    count_: int = 0
    last: str = ""
    ago: float = 0.0


class GivenUpHolder(NamedTuple):
    """The last of the holders of a session that never took over."""

    id: str = ""
    count_: int = 0
    why: str = ""
    at_ms: int = 0


class KeeperStatus(NamedTuple):
    """A keeper, and the processes that it has started; a pid of 0 means none."""

    version: str = ""
    pid: int = 0
    uptime: float = 0.0
    python: str = ""
    root: str = ""
    nursery: int = 0
    nursery_version: str = ""
    trustee: int = 0
    dozer: int = 0
    painter: int = 0
    judge: int = 0
    host: int = 0
    upgrading: bool = False
    stalled: dict[str, str] | None = None
    """Who does not answer, and why."""

    replaced: ReplacedProcesses = ReplacedProcesses()
    sessions: int = 0
    dozing: int = 0
    given_up: tuple[GivenUpHolder, ...] = ()


class RelayStatus(NamedTuple):
    """The link of a host to a relay."""

    relay: str = ""
    up: bool = False
    why: str = ""
    """Why not, if it is down."""

    knocks: int = 0


class RemoteOperator(NamedTuple):
    """An operator who came through a relay."""

    actor: str = ""
    session: str | None = None
    bytes_in: int = 0
    bytes_out: int = 0


class Traffic(NamedTuple):
    """What came through relays since the host began."""

    came: int = 0
    turned_away: int = 0
    not_met: int = 0
    bytes_in: int = 0
    bytes_out: int = 0


class HostStatus(NamedTuple):
    """A host; `began` tells one from the one that takes its place."""

    pid: int = 0
    version: str = ""
    root: str = ""
    uptime: float = 0.0
    began: float = 0.0
    keeper: bool = False
    cleared: int = 0
    host: str = ""
    public_key: str = ""
    static_key: str = ""
    relay: int = 0
    links: tuple[RelayStatus, ...] = ()
    operators: tuple[RemoteOperator, ...] = ()
    traffic: Traffic = Traffic()


class GuestStatus(NamedTuple):
    """What a host says of itself to an operator elsewhere; notices are for people."""

    version: str = ""
    name: str = ""
    notices: tuple[str, ...] = ()
