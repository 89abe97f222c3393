"""A session's own cgroup, where it can have one, and whether it is frozen.

Only version 2 of cgroups is used: there, a frozen process can still be killed, and
nothing it forks escapes. Where the tree is mounted differs (beside version 1 it is
often .../unified), so the kernel is asked.

A session is put into its cgroup at birth, while it is one process: moving a grown
tree takes longer than stopping it with signals.

What dead ones left is swept by whoever starts next, and a cgroup in which nothing is
yet looks the same. So its maker has a lock on it until something is in it.
"""

import contextlib
import errno
import fcntl
import functools
import os
import time
from _thread import get_native_id
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

PATIENCE = 0.5
"""Seconds for the kernel to say that all is frozen; it takes a few milliseconds."""

STEP = 0.001
"""Seconds between looks: wake-ups of the events file are sometimes missed."""

SERVING = "holdfast-serving"
"""Where our own processes are, once the cgroup above it controls those of sessions."""

MEMBERS = "cgroup.procs"
"""Where a process writes 0 to be in a cgroup."""

_ATTEMPTS = 100
"""How often a cgroup is made anew that was swept before it could be locked."""

_MOUNT = 4
_ROOT = 3


class Ground(NamedTuple):
    """Where cgroups of sessions can be made; or nowhere, and why not."""

    folder: Path | None
    why_not: str


@functools.cache
def ground() -> Ground:
    """Find the place for sessions' cgroups, by trying one, once.

    Leaves nothing behind. `why_not` is a sentence for a person.
    """
    own = _own_folder()
    if own is None:
        return Ground(None, "cgroup v2 is not mounted here")
    if not os.access(own / MEMBERS, os.W_OK):
        return Ground(None, "no cgroup is delegated to us")
    # By thread: two that try at once would take each other's trial away.
    trial = SessionCgroup(own / f"holdfast-probe-{get_native_id()}")
    try:
        trial.make()
        is_frozen = trial.freeze()
    except OSError as error:
        return Ground(None, f"a cgroup cannot be made or frozen: {error.strerror}")
    finally:
        trial.remove()
    if not is_frozen:
        return Ground(None, "the kernel does not freeze cgroups here")
    return Ground(own, "")


def divide(own: Path, controller: str) -> bool:
    """Have sessions' cgroups below `own` controlled; tell whether they are.

    Raises:
        OSError: Our own processes are in the way, and cannot be moved.

    """
    if controller not in (own / "cgroup.controllers").read_text("ascii").split():
        return False
    control = own / "cgroup.subtree_control"
    if controller in control.read_text("ascii").split():
        return True
    try:
        control.write_text(f"+{controller}", encoding="ascii")
    except OSError as error:
        if error.errno != errno.EBUSY:
            raise
        _make_way(own)
        control.write_text(f"+{controller}", encoding="ascii")
    return True


def _make_way(own: Path) -> None:
    """Move what is in a cgroup one level down; what has ended meanwhile is not."""
    below = SessionCgroup(own / SERVING)
    below.folder.mkdir(exist_ok=True)
    for pid in (own / MEMBERS).read_text("ascii").split():
        with contextlib.suppress(ProcessLookupError):
            below.settle(int(pid))


def leave_sessions() -> None:
    """Move to where sessions have their cgroups, out of the one we are in, if any.

    What serves all sessions must not stand still, or end, with one of them.
    """
    with contextlib.suppress(OSError):
        own = _own_folder()
        place = None if own is None else outside(own)
        if place is not None:
            SessionCgroup(place).settle(os.getpid())


def outside(folder: Path) -> Path | None:
    """Return what the outermost session's cgroup is in; None if there is none."""
    above = [*reversed(folder.parents), folder]
    inside = (one for one in above if one.name.startswith("holdfast-s_"))
    first = next(inside, None)
    return None if first is None else first.parent


def claim(folder: Path) -> int:
    """Make a cgroup, if it is not there; return the handle by which one joins it.

    As long as that is open, here or in who was forked since, nobody sweeps it.

    Raises:
        OSError: It cannot be made, or is not ours.

    """
    for _ in range(_ATTEMPTS):
        folder.mkdir(exist_ok=True)
        with contextlib.suppress(FileNotFoundError):
            fd = os.open(folder / MEMBERS, os.O_WRONLY | os.O_CLOEXEC)
            fcntl.flock(fd, fcntl.LOCK_SH)
            if (folder / MEMBERS).exists():
                return fd
            os.close(fd)  # Who had the lock has removed it.
    raise OSError(errno.EBUSY, os.strerror(errno.EBUSY))


def sweep(folder: Path) -> None:
    """Remove the cgroups of sessions in which nothing runs any more, or soon will.

    And those of trials whose maker was killed in the middle.
    """
    for path in folder.glob("holdfast-s_*"):
        with contextlib.suppress(OSError):
            _remove_unclaimed(path)
    for path in folder.glob("holdfast-probe-*"):
        if not Path("/proc", path.name.rpartition("-")[2]).exists():
            SessionCgroup(path).remove()


def _remove_unclaimed(path: Path) -> None:
    fd = os.open(path / MEMBERS, os.O_WRONLY | os.O_CLOEXEC)
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        path.rmdir()
    finally:
        os.close(fd)


class SessionCgroup:
    """The cgroup of one session."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    @classmethod
    def below(cls, folder: Path, session: str) -> "SessionCgroup":
        """Return the cgroup of a session in the place that `ground` found."""
        return cls(folder / f"holdfast-{session}")

    def make(self) -> None:
        """Make it, if it is not there. Raises OSError where that is not allowed."""
        self.folder.mkdir(exist_ok=True)
        if not (self.folder / "cgroup.freeze").exists():
            raise OSError(errno.ENOTSUP, "the kernel is too old")

    @contextlib.contextmanager
    def claimed(self) -> Iterator[None]:
        """Make it, and have it not swept meanwhile. Raises OSError as `make` does."""
        fd = claim(self.folder)
        try:
            self.make()
            yield
        finally:
            os.close(fd)

    def settle(self, pid: int) -> None:
        """Put a process here; what it forks from now on is here too."""
        self._write(MEMBERS, str(pid))

    def pids(self) -> set[int]:
        """Return the processes in it and in whatever they have made below it."""
        found: set[int] = set()
        for folder, _, _ in os.walk(self.folder):
            with contextlib.suppress(OSError):
                text = (Path(folder) / MEMBERS).read_text("ascii")
                found.update(map(int, text.split()))
        return found

    def hold(self) -> None:
        """Freeze it, without waiting until all of it stands still."""
        self._write("cgroup.freeze", "1")

    def freeze(self) -> bool:
        """Freeze it; tell whether the kernel confirmed it within PATIENCE."""
        self.hold()
        give_up_at = time.monotonic() + PATIENCE
        while not self.is_frozen():
            if time.monotonic() > give_up_at:
                return False
            time.sleep(STEP)
        return True

    def thaw(self) -> bool:
        """Let it run again; tell whether the kernel confirmed it within PATIENCE.

        A cgroup that is gone has nothing to thaw. One inside a frozen one stays so.
        """
        try:
            self._write("cgroup.freeze", "0")
            give_up_at = time.monotonic() + PATIENCE
            while self.is_frozen():
                if time.monotonic() > give_up_at:
                    return False
                time.sleep(STEP)
        except OSError:
            return not self.folder.exists()
        return True

    def is_frozen(self) -> bool:
        """Tell whether every process in it stands still."""
        events = (self.folder / "cgroup.events").read_text("ascii")
        return "frozen 1" in events.splitlines()

    def kill(self) -> None:
        """Kill all of it, forks under way included; kernels before 5.14 cannot."""
        with contextlib.suppress(OSError):
            self._write("cgroup.kill", "1")

    def remove(self) -> None:
        """Remove it if it is empty; a cgroup with processes stays."""
        with contextlib.suppress(OSError):
            self.folder.rmdir()

    def _write(self, name: str, text: str) -> None:
        fd = os.open(self.folder / name, os.O_WRONLY | os.O_CLOEXEC)
        try:
            os.write(fd, text.encode())
        finally:
            os.close(fd)


def _own_folder() -> Path | None:
    """Return the folder of the cgroup we are in, where it can be seen."""
    mounts = Path("/proc/self/mountinfo").read_text("utf-8", "surrogateescape")
    own = Path("/proc/self/cgroup").read_text("utf-8", "surrogateescape")
    return own_folder(mounts, own)


def own_folder(mounts: str, own: str) -> Path | None:
    """Read from mountinfo and our own cgroup file where our cgroup is."""
    path = next(
        (line[3:] for line in own.splitlines() if line.startswith("0::/")), None
    )
    if path is None:
        return None
    for line in mounts.splitlines():
        before, _, after = line.partition(" - ")
        fields = before.split(" ")
        if after.split(" ")[0] != "cgroup2" or len(fields) <= _MOUNT:
            continue
        with contextlib.suppress(ValueError):
            # A container may see only a part of the tree, mounted as its root.
            below = Path(path).relative_to(_plain(fields[_ROOT]))
            found = Path(_plain(fields[_MOUNT])) / below
            return found.parent if found.name == SERVING else found
    return None


def _plain(text: str) -> str:
    """Undo how mountinfo writes blanks."""
    for octal, character in (("\\040", " "), ("\\011", "\t"), ("\\134", "\\")):
        text = text.replace(octal, character)
    return text
