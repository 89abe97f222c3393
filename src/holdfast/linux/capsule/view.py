"""What a capsule sees of the machine: its mounts, made by its first process.

The files are those of the machine, or layers of the capsule's own over them. Covered
are our own folders, under every name that they have, and what leads to other processes:
their place in /proc, their terminals, their cgroups, devices, and the sockets in /run,
through which services run commands for any client.

A folder that contains one of holdfast's could be renamed, and another put in its place,
with a policy of the capsule's own. What is mounted cannot be renamed: so those folders
are mounted where they are. Our program, which runs outside, is read-only.

The mounts are made in place, in a mount namespace of the capsule's own: nothing of
them is seen outside. To take one away needs a right that nothing in a capsule has.
"""

# ruff: noqa: PTH101, PTH102, PTH103, PTH110, PTH112, PTH114, PTH116, PTH120, PTH123, PTH211
# Plain strings: this is done at every start of a capsule.

import contextlib
import errno
import fcntl
import os
from collections.abc import Iterable
from typing import NamedTuple

from holdfast.core.capsule import mount_table
from holdfast.linux.capsule.namespaces import (
    BIND,
    NO_DEVICES,
    NO_EXEC,
    NO_SUID,
    PRIVATE,
    READ_ONLY,
    RECURSIVE,
    mount,
    restrict,
)
from holdfast.linux.capsule.overlays import Layered, lay
from holdfast.linux.stored.folders import COVER

INNER = "/run/holdfast"
"""What is the capsule's own, at the same place in all of them."""

STATE_PIPE = f"{INNER}/state"
"""The pipe of the session's shell."""

BRANCH = f"{INNER}/branch"
"""The file that says which branch this is (crypto/branch_token.py)."""

DEVICES = ("null", "zero", "full", "random", "urandom", "tty")
_LINKS = {
    "fd": "/proc/self/fd",
    "stdin": "fd/0",
    "stdout": "fd/1",
    "stderr": "fd/2",
    "ptmx": "pts/ptmx",
}

SEEN_IN_RUN = (
    "systemd/resolve",
    "resolvconf",
    "NetworkManager/resolv.conf",
    "nscd",
    "current-system",
)
"""What programs need of /run to look up names and find themselves."""

_READ_ONLY_PROC = ("sys", "sysrq-trigger", "irq", "bus", "fs", "acpi")
"""What root, with no capability at all, could change the machine through."""

_UNLOCK = 0x4004_5431
"""TIOCSPTLCK, for which Python has no name."""

_OUT_OF_REACH = (errno.ENOENT, errno.ENOTDIR, errno.EACCES)
"""Of a mount that another covers, or in a folder that the user may not enter."""

_PLAIN = NO_SUID | NO_DEVICES
_STILL = _PLAIN | NO_EXEC


class View(NamedTuple):
    """What one capsule is to see."""

    hidden: tuple[str, ...]
    """Holdfast's folders, by their real paths."""

    fixed: tuple[str, ...] = ()
    """Folders that can be read and not changed, by their real paths."""

    pipe: str = ""
    """The state pipe of its shell; empty if it has none."""

    is_root: bool = False
    has_own_net: bool = False
    uid: int = 0
    token: str = ""
    """What its programs are told of which branch they are in."""

    layers: tuple[Layered, ...] = ()
    """With files of its own: its trees, outer ones first. All else is read-only."""

    served: tuple[str, ...] = ()
    """Sockets in those trees at which programs outside listen, by their real paths."""


def make(view: View) -> None:
    """Make this view of the machine ours, in a mount namespace that is new.

    Raises:
        OSError: Something cannot be mounted; it is named.

    """
    mounts = mount_table.read_mounts(_mountinfo())
    pipe = os.open(view.pipe, os.O_PATH | os.O_CLOEXEC) if view.pipe else None
    devices = {name: _held(f"/dev/{name}") for name in DEVICES}
    seen = {name: _held(f"/run/{name}") for name in SEEN_IN_RUN}
    mount(None, "/", None, RECURSIVE | PRIVATE)
    _restrict(mounts, is_root=view.is_root)
    tmux = _tmux_folder(view.uid)
    if view.layers:
        lay(view.layers, mounts, view.served, is_root=view.is_root)
    mounted = {one.point for one in mounts} | {one.tree for one in view.layers}
    _pin(mount_table.above((*view.hidden, *view.fixed)), mounted)
    for one in view.fixed:
        mount(one, one, None, BIND | RECURSIVE)
        restrict(one, READ_ONLY, whole=True)
    names = (name for one in view.hidden for name in mount_table.names_of(one, mounts))
    for name in mount_table.outermost((*names, *mount_table.strange(mounts))):
        _cover(name)
    mount("proc", "/proc", "proc", _STILL)
    if view.is_root:
        for name in _READ_ONLY_PROC:
            _make_read_only(f"/proc/{name}")
    _make_devices(devices)
    _make_run(view, seen, pipe)
    _make_private(tmux, view.uid)
    _cover("/tmp/.X11-unix")  # noqa: S108  # where X has it
    for fd in (*devices.values(), *seen.values(), pipe):
        if fd is not None:
            os.close(fd)


def open_terminal() -> tuple[int, int, str]:
    """Return master and slave of the capsule's first terminal, and its key for CRIU."""
    master = os.open("/dev/ptmx", os.O_RDWR | os.O_NOCTTY | os.O_CLOEXEC)
    fcntl.ioctl(master, _UNLOCK, bytes(4))
    slave = os.open("/dev/pts/0", os.O_RDWR | os.O_NOCTTY | os.O_CLOEXEC)
    found = os.fstat(slave)
    return master, slave, f"tty[{found.st_rdev:x}:{found.st_dev:x}]"


def _mountinfo() -> str:
    with open(
        "/proc/self/mountinfo", encoding="utf-8", errors="surrogateescape"
    ) as file:
        return file.read()


def _held(path: str) -> int | None:
    """Return a descriptor by which a path can be mounted once it is covered."""
    try:
        return os.open(path, os.O_PATH | os.O_CLOEXEC)
    except OSError:
        return None


def _restrict(mounts: Iterable[mount_table.Mount], *, is_root: bool) -> None:
    """Let no device but those in /dev be opened, and no cgroup be changed."""
    # In a container each of them may be a mount of its own.
    devices = {"/dev", *(f"/dev/{name}" for name in DEVICES)}
    for one in mounts:
        flags = 0 if one.point in devices else NO_DEVICES
        if one.kind in mount_table.CGROUPS or (
            is_root and f"{one.point}/".startswith("/sys/")
        ):
            flags |= READ_ONLY
        try:
            restrict(one.point, flags)
        except OSError as error:
            # What we cannot reach, nobody inside can.
            if error.errno not in _OUT_OF_REACH:
                raise


def _pin(folders: Iterable[str], mounted: set[str]) -> None:
    """Let these folders not be renamed: to be a mount is enough for that."""
    for one in folders:
        if one not in mounted and can_change(os.path.dirname(one)):
            mount(one, one, None, BIND | RECURSIVE)


def can_change(folder: str) -> bool:
    """Tell whether what is in a folder can be renamed, if need be by changing it."""
    return os.stat(folder).st_uid == os.getuid() or os.access(folder, os.W_OK)


def _cover(path: str) -> None:
    """Put an empty folder, which cannot be changed, where there is a folder.

    What others mount goes as it came: what is gone by now shows nothing.
    """
    with contextlib.suppress(FileNotFoundError):
        if os.path.isdir(path):
            options = f"mode={COVER:o},size=4k,nr_inodes=1"
            mount("tmpfs", path, "tmpfs", _STILL | READ_ONLY, options)
        elif os.path.exists(path):
            mount("/dev/null", path, None, BIND)


def _make_read_only(path: str) -> None:
    if os.path.exists(path):
        mount(path, path, None, BIND)
        restrict(path, READ_ONLY)


def _tmux_folder(uid: int) -> str:
    """Return where tmux has its sockets; what is put there later is covered too."""
    path = f"/tmp/tmux-{uid}"  # noqa: S108  # where it is
    with contextlib.suppress(OSError):
        os.mkdir(path, 0o700)
    return path


def _make_private(path: str, uid: int) -> None:
    """Give the capsule a folder of its own in the place of the machine's."""
    if os.path.isdir(path) and not os.path.islink(path):
        mount("tmpfs", path, "tmpfs", _PLAIN, f"mode=700,uid={uid}")


def _make_devices(devices: dict[str, int | None]) -> None:
    mount("tmpfs", "/dev", "tmpfs", NO_SUID | NO_EXEC, "mode=755,size=64k")
    for name, fd in devices.items():
        if fd is not None:
            _bind(fd, f"/dev/{name}", is_folder=False)
    for name, target in _LINKS.items():
        os.symlink(target, f"/dev/{name}")
    for name in ("pts", "shm", "mqueue"):
        os.mkdir(f"/dev/{name}")
    options = "newinstance,ptmxmode=0666,mode=620"
    mount("devpts", "/dev/pts", "devpts", NO_SUID | NO_EXEC, options)
    mount("tmpfs", "/dev/shm", "tmpfs", _STILL, "mode=1777")  # noqa: S108  # ours alone
    with contextlib.suppress(OSError):  # A kernel may have none.
        mount("mqueue", "/dev/mqueue", "mqueue", _STILL)
    restrict("/dev", READ_ONLY)


def _make_run(view: View, seen: dict[str, int | None], pipe: int | None) -> None:
    mount("tmpfs", "/run", "tmpfs", _PLAIN, "mode=755")
    own = f"/run/user/{view.uid}"
    for folder in (INNER, "/run/lock", own):
        os.makedirs(folder, 0o755)
    os.chown(own, view.uid, -1)
    os.chmod(own, 0o700)
    for name, fd in seen.items():
        if fd is not None:
            is_folder = os.path.isdir(f"/proc/self/fd/{fd}")
            _bind(fd, f"/run/{name}", is_folder=is_folder)
            if view.layers:
                restrict(f"/run/{name}", READ_ONLY)
    if pipe is not None:
        _bind(pipe, STATE_PIPE, is_folder=False)
    if view.token:
        with open(BRANCH, "x", encoding="ascii") as file:
            file.write(f"{view.token}\n")
        os.chmod(BRANCH, 0o444)
        # Its owner is who runs in there: what is mounted can be neither written to,
        # nor removed, nor covered by another.
        mount(BRANCH, BRANCH, None, BIND)
        restrict(BRANCH, READ_ONLY)


def _bind(fd: int, target: str, *, is_folder: bool) -> None:
    folder, _, _ = target.rpartition("/")
    os.makedirs(target if is_folder else folder, exist_ok=True)
    if not is_folder:
        os.close(os.open(target, os.O_CREAT | os.O_WRONLY | os.O_CLOEXEC, 0o600))
    mount(f"/proc/self/fd/{fd}", target, None, BIND | RECURSIVE)
