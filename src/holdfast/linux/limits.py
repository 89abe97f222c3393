"""Keeps a session within limits, by cgroups of either version.

Where the second version has the controller, the session's own cgroup gets the limit.
Where only the first has it, as on machines with both, the session gets one more cgroup
in that controller's tree. A process that is in it stays in it, with all its children;
in a capsule nothing can be written there.

The second version controls nothing below a cgroup that has processes itself. If ours
has, they move one level down first, into SERVING.
"""

import contextlib
import os
import select
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

from holdfast.core.capsule import limit_files
from holdfast.core.capsule.limit_files import FIRST, MEMORY, SECOND, Counter, Line
from holdfast.linux import cgroups
from holdfast.model.errors import CannotLimit
from holdfast.model.limits import Limits

_WHAT = {"memory": "memory", "cpu": "processors", "pids": "processes"}


class Limited(NamedTuple):
    """A cgroup that keeps one limit of a session."""

    controller: str
    version: int
    folder: str

    @property
    def text(self) -> str:
        """How it is recorded, for who comes after us."""
        return f"{self.controller}:{self.version}:{self.folder}"


class Made(NamedTuple):
    """Cgroups in which nothing is yet, and the handles by which they are joined.

    Nobody takes them for left over as long as the handles are open.
    """

    limited: tuple[Limited, ...]
    handles: tuple[int, ...]


def make(session: str, limits: Limits) -> Made:
    """Make the cgroups that limits need; there is no limit in them yet.

    Raises:
        CannotLimit: The machine does not let us, and why.

    """
    made: list[Limited] = []
    handles: dict[str, int] = {}
    for controller in limit_files.controllers(limits):
        try:
            one = _placed(session, controller)
            if one.folder not in handles:
                handles[one.folder] = cgroups.claim(Path(one.folder))
            made.append(one)
            _write(one, limit_files.lifted(one.version, controller))
        except (OSError, CannotLimit) as error:
            close(handles.values())
            remove(made)
            if isinstance(error, CannotLimit):
                raise
            why = f"{_WHAT[controller]} cannot be limited: {error.strerror}"
            raise CannotLimit(why) from error
    return Made(tuple(made), tuple(handles.values()))


def close(handles: Iterable[int]) -> None:
    """Close the handles of cgroups: something is in them, or nothing will be."""
    for fd in handles:
        os.close(fd)


def apply(made: Iterable[Limited], limits: Limits) -> None:
    """Let the limits hold, for what is in the cgroups and for what comes.

    Raises:
        CannotLimit: The kernel refuses: more is in use already, for instance.

    """
    for one in made:
        try:
            _write(one, limit_files.lines(one.version, one.controller, limits))
        except OSError as error:
            why = f"{_WHAT[one.controller]} cannot be limited: {error.strerror}"
            raise CannotLimit(why) from error


def recorded(texts: Iterable[str]) -> tuple[Limited, ...]:
    """Return the cgroups that were recorded as text; what is none is left out."""
    found = []
    for text in texts:
        controller, _, rest = text.partition(":")
        version, _, folder = rest.partition(":")
        if controller in _WHAT and version in ("1", "2") and folder.startswith("/"):
            found.append(Limited(controller, int(version), folder))
    return tuple(found)


def why_not() -> str:
    """Return why no session can be limited here; empty if all three limits can be."""
    name = f"probe-{os.getpid()}"
    try:
        made = make(name, Limits(memory=1 << 30, millicpus=1000, pids=100))
    except CannotLimit as error:
        return str(error.facts["why"])
    close(made.handles)
    remove(made.limited)
    return ""


def remove(made: Iterable[Limited]) -> None:
    """Remove cgroups, if nothing is in them."""
    for one in made:
        with contextlib.suppress(OSError):
            Path(one.folder).rmdir()


def sweep() -> None:
    """Remove the cgroups of the first version in which nothing runs any more."""
    for controller in (limit_files.MEMORY, limit_files.CPU, limit_files.PIDS):
        if (above := _first(controller)) is not None:
            cgroups.sweep(Path(above))


def join(handles: Iterable[int]) -> None:
    """Be in the cgroups of which these are the handles, with all that we fork.

    Raises:
        OSError: The kernel refuses.

    """
    for fd in handles:
        os.write(fd, b"0")


class Meter:
    """Counts how often a session has met its limits, and tells when it does."""

    def __init__(self, made: Sequence[Limited]) -> None:
        self._epoll = select.epoll()
        self._files: dict[str, tuple[int, Counter]] = {}
        self._bell = -1
        self.is_silent = False
        """Whether one of the limits can be met without a sign of it."""

        for one in made:
            counter = limit_files.counter(one.version, one.controller)
            if counter is not None:
                with contextlib.suppress(OSError):
                    self._watch(one, counter)

    def fileno(self) -> int:
        """Return what is readable once a limit was met."""
        return self._epoll.fileno()

    def read(self) -> dict[str, int]:
        """Return how often each limit was met so far, by its controller."""
        found: dict[str, int] = {}
        if self._bell >= 0:
            with contextlib.suppress(BlockingIOError):
                os.eventfd_read(self._bell)
        for controller, (fd, counter) in self._files.items():
            with contextlib.suppress(OSError):
                text = os.pread(fd, 4096, 0).decode("ascii", "replace")
                found[controller] = limit_files.counted(text, counter.word)
        return found

    def close(self) -> None:
        """Count no more."""
        for fd, _ in self._files.values():
            os.close(fd)
        if self._bell >= 0:
            os.close(self._bell)
        self._epoll.close()

    def _watch(self, one: Limited, counter: Counter) -> None:
        fd = os.open(f"{one.folder}/{counter.file}", os.O_RDONLY | os.O_CLOEXEC)
        self._files[one.controller] = fd, counter
        if one.version == FIRST and one.controller == MEMORY:
            # Its file tells of nothing by itself: an event has to be asked for.
            self._bell = os.eventfd(0, os.EFD_CLOEXEC | os.EFD_NONBLOCK)
            control = Path(one.folder, "cgroup.event_control")
            control.write_text(f"{self._bell} {fd}", encoding="ascii")
            self._epoll.register(self._bell, select.EPOLLIN)
        elif one.version == FIRST:
            self.is_silent = True  # The first version tells of no failed fork.
        else:
            os.pread(fd, 4096, 0)
            self._epoll.register(fd, select.EPOLLPRI)


def _name(session: str) -> str:
    return f"holdfast-{session}"


def _placed(session: str, controller: str) -> Limited:
    """Find out which cgroup of a session keeps a limit."""
    own = cgroups.ground().folder
    if own is not None and cgroups.divide(own, controller):
        return Limited(controller, SECOND, os.fspath(own / _name(session)))
    above = _first(controller)
    if above is None:
        why = f"the kernel does not support limiting {_WHAT[controller]} here"
        raise CannotLimit(why)
    return Limited(controller, FIRST, f"{above}/{_name(session)}")


def _first(controller: str) -> str | None:
    """Return where we are in a controller's tree of the first version."""
    mounts = Path("/proc/self/mountinfo").read_text("utf-8", "surrogateescape")
    own = Path("/proc/self/cgroup").read_text("utf-8", "surrogateescape")
    place = limit_files.mounted(mounts, own).get(controller)
    if place is None:
        return None
    _, path, root, mount = place
    with contextlib.suppress(ValueError):
        return os.fspath(Path(mount) / Path(path).relative_to(root))
    return None


def _write(one: Limited, said: Iterable[Line]) -> None:
    for line in said:
        try:
            Path(one.folder, line.file).write_text(line.text, encoding="ascii")
        except OSError:
            if line.is_needed:
                raise
