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
    holders: tuple[int, ...] = ()
    """Of the sessions that do not doze, in no order."""

    def everybody(self) -> list[int]:
        """Return the pids of the keeper and of all that it has started."""
        first = (self.pid, self.trustee, self.nursery, self.dozer, self.host)
        found = (*first, self.judge, self.painter, *self.holders)
        return [pid for pid in found if pid]


class RelayStatus(NamedTuple):
    """The link of a host to a relay."""

    relay: str = ""
    up: bool = False
    why: str = ""
    """Why not, if it is down."""

    knocks: int = 0


class ReapStanding(NamedTuple):
    """How a session stands with the reaper."""

    id: str = ""
    name: str = ""
    idle: float = 0.0
    """Seconds."""

    why_not: str = ""
    """Why it is not going to be reaped; empty if it is."""

    reason: str = ""
    """Why it is going to be: idle-window, population-cap or memory-cap."""

    reap_in: float = -1.0
    """Seconds until then, if nothing happens; below zero if it is not going to be."""

    memory: int = 0
    """Bytes that it has in memory."""


class ReapReport(NamedTuple):
    """What the reaper goes by, and how sessions stand."""

    on: bool = False
    after: float = 0.0
    warning: float = 0.0
    people: bool = False
    checkpoint: bool = False
    sessions_: int = 0
    memory: int = 0
    reaped: int = 0
    """Sessions that were reaped since the host began."""

    standings: tuple[ReapStanding, ...] = ()
    count_: int = 0
    """How many sessions there are."""


class DrainedSession(NamedTuple):
    """A session that has left a machine which goes down, or has not."""

    id: str = ""
    name: str = ""
    image: str = ""
    """The image it is in, if it is on disk."""

    why: str = ""
    """Why it has not left."""

    host: str = ""
    """The host that it went to, if it moved."""


class DrainReport(NamedTuple):
    """How a drain stands; the lists are cut, and the numbers are not."""

    on: bool = False
    count_: int = 0
    """How many sessions there were."""

    left: tuple[DrainedSession, ...] = ()
    stayed: tuple[DrainedSession, ...] = ()
    leaving: tuple[str, ...] = ()
    """What those are called that are on their way."""

    left_count: int = 0
    """How many have left, to disk or to another host."""

    stayed_count: int = 0
    failed: str = ""
    """Why nothing could be begun, if that is so."""

    moved_count: int = 0
    """How many of those that have left went to another host."""


class LeaseStatus(NamedTuple):
    """The lease of a movable session."""

    id: str = ""
    name: str = ""
    incarnation: int = 0
    relay: str = ""
    """Its authority: who says which host may speak for it."""

    state: str = ""
    """held, claiming, fenced, or over if another life has taken its place."""

    expires_in: float = 0.0
    """Seconds for which it is held yet."""

    why: str = ""
    """What is in the way, if it is not held."""


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
    leases: tuple[LeaseStatus, ...] = ()
    """Of movable sessions: those in trouble first, and not all if there are many."""

    lease_count: int = 0
    fenced_count: int = 0
    """How many of them are not held now."""

    operators: tuple[RemoteOperator, ...] = ()
    traffic: Traffic = Traffic()


class GuestStatus(NamedTuple):
    """What a host says of itself to an operator elsewhere; notices are for people."""

    version: str = ""
    name: str = ""
    notices: tuple[str, ...] = ()
