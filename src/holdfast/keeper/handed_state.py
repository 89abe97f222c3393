"""The state that a keeper hands to the code that replaces it.

A memfd with one JSON object in it, and the descriptors it names, which keep their
numbers through the exec. The layout is normative: docs/spec/keeper.md, section 6.
"""

import json
import os
import socket
from dataclasses import asdict, dataclass, field

from holdfast.keeper.vault import Deposit, Facts

FORMAT = 1
"""Raised when a reader of the older layout would misunderstand the newer one."""


@dataclass(slots=True)
class Kept:
    """One session."""

    id: str
    facts: Facts
    fds: list[int]
    exit: int | None
    held: bool

    def to_deposit(self, now: float) -> Deposit:
        """Return it as the vault keeps it."""
        return Deposit(self.facts, self.fds, now, is_held=self.held, exit=self.exit)


@dataclass(slots=True)
class State:
    """All of it."""

    version: str
    started_at: float
    lock: int
    listener: int
    painter: int
    painter_pid: int
    nursery: int
    nursery_pid: int
    nursery_version: str
    asker: int | None
    sessions: list[Kept] = field(default_factory=list)
    links: list[tuple[int, str | None]] = field(default_factory=list)
    waiting: dict[str, int] = field(default_factory=dict)
    judge: int | None = None
    """None from code that knew no judge."""

    judge_pid: int = 0
    nursery_waits: bool = False
    """Whether the nursery's holders wait for their grips; not so from older code."""

    host: int | None = None
    """The host's link, if it has one."""

    host_runs: str = ""
    nursery_pings: bool = False
    """Whether the nursery answers when it is asked whether it is there."""

    nursery_dozes: bool = False
    """Whether the nursery's holders take up what dozed."""

    def fds(self) -> list[int]:
        """Return every descriptor that must survive the exec."""
        own = [self.lock, self.listener, self.painter, self.nursery]
        own += [] if self.judge is None else [self.judge]
        kept = [fd for one in self.sessions for fd in one.fds]
        return own + kept + [fd for fd, _ in self.links]


def write(state: State) -> int:
    """Return a memfd that holds the state."""
    memory = os.memfd_create("keeper", os.MFD_CLOEXEC)
    with os.fdopen(os.dup(memory), "wb") as file:
        file.write(json.dumps({"format": FORMAT, **asdict(state)}).encode())
    return memory


def read(memory: int) -> State:
    """Read what another version of the code may have written.

    Raises:
        ValueError: It is not of a layout we know, or is damaged.

    """
    raw = os.pread(memory, os.fstat(memory).st_size, 0)
    found = json.loads(raw)
    if not isinstance(found, dict) or found.pop("format", None) != FORMAT:
        raise ValueError("the state is of another layout")
    known = {name: found[name] for name in State.__slots__ if name in found}
    try:
        sessions = [
            Kept(one["id"], one["facts"], one["fds"], one["exit"], one["held"])
            for one in known.pop("sessions")
        ]
        links = [(int(fd), held) for fd, held in known.pop("links")]
        return State(**known, sessions=sessions, links=links)
    except (KeyError, TypeError) as error:
        raise ValueError(f"the state lacks something: {error}") from error


def socket_at(fd: int) -> socket.socket:
    """Return the socket with this number, which no child process inherits."""
    withhold(fd)
    return socket.socket(fileno=fd)


def hand_on(fd: int) -> None:
    """Let a descriptor survive an exec."""
    os.set_inheritable(fd, True)  # noqa: FBT003  # it has no other form


def withhold(fd: int) -> None:
    """Keep a descriptor from whatever we start."""
    os.set_inheritable(fd, False)  # noqa: FBT003  # it has no other form
