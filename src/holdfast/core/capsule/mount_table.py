"""The paths by which a folder can be reached, and mounts that show other processes.

Theory of operation
-------------------
A capsule has the mounts of the machine, and hides some folders by covering them. A
folder may have more names than one: the file system it lies in may be mounted
elsewhere, as a whole or from some folder on, or lie below an overlay. The kernel's
list of mounts tells all of that. Mounts of procfs and devpts that are not at their
usual place show the processes and terminals of the machine, whatever is mounted there
in the capsule.

Invariants:

I1  `names_of` contains the name that it was asked for, and is never empty.
I2  A name that it returns leads to the folder, to one in it, or to nothing.
"""

import re
from collections.abc import Iterable
from typing import NamedTuple

_DEVICE, _ROOT, _POINT, _OPTIONS = 2, 3, 4, 5
_FIELDS = 6
_KIND, _SUPER = 0, 2

CGROUPS = frozenset({"cgroup", "cgroup2"})
"""Through which processes are stopped, killed and moved."""


class Mount(NamedTuple):
    """One mount, as the kernel lists it."""

    device: str
    root: str
    """The folder of its file system that is mounted."""

    point: str
    """Where it is mounted."""

    kind: str
    lower: tuple[str, ...] = ()
    """Of an overlay: the folders that it shows."""


def read_mounts(text: str) -> list[Mount]:
    """Read what /proc/PID/mountinfo says; a line of another form is left out."""
    lines = (line.split(" - ", 1) for line in text.splitlines())
    halves = ((one[0].split(" "), one[1].split(" ")) for one in lines if one[1:])
    return [
        _mount(before, after)
        for before, after in halves
        if len(before) >= _FIELDS and len(after) > _SUPER
    ]


def names_of(folder: str, mounts: Iterable[Mount]) -> list[str]:
    """Return every path under which a folder, or a part of it, may be seen."""
    found = {folder: None}
    listed = list(mounts)
    home = _mount_of(folder, listed)
    inner = "" if home is None else _joined(home.root, _below(folder, home.point))
    for mount in listed:
        if home is not None and mount.device == home.device:
            if is_in(inner, mount.root):
                found[_joined(mount.point, _below(inner, mount.root))] = None
            elif is_in(mount.root, inner):
                found[mount.point] = None
        for lower in mount.lower:
            if is_in(folder, lower):
                found[_joined(mount.point, _below(folder, lower))] = None
    return list(found)


def outermost(folders: Iterable[str]) -> list[str]:
    """Return these folders without those that lie in another one of them."""
    listed = sorted(set(folders))
    return [
        one
        for one in listed
        if not any(one != other and is_in(one, other) for other in listed)
    ]


def above(folders: Iterable[str]) -> list[str]:
    """Return the folders that these lie in, outermost first, without the root."""
    found: dict[str, None] = {}
    for one in folders:
        parts = one.strip("/").split("/")
        for length in range(1, len(parts)):
            found["/" + "/".join(parts[:length])] = None
    return sorted(found, key=lambda one: one.count("/"))


def strange(mounts: Iterable[Mount]) -> list[str]:
    """Return where processes or terminals are shown, besides the usual places."""
    return [
        mount.point
        for mount in mounts
        if (mount.kind == "proc" and not is_in(mount.point, "/proc"))
        or (mount.kind == "devpts" and not is_in(mount.point, "/dev"))
    ]


def _mount(before: list[str], after: list[str]) -> Mount:
    kind = after[_KIND]
    options = after[_SUPER].split(",") if kind == "overlay" else []
    lower = [one for option in options for one in _lower_in(option) if one]
    return Mount(
        before[_DEVICE],
        _plain(before[_ROOT]),
        _plain(before[_POINT]),
        kind,
        tuple(lower),
    )


def _lower_in(option: str) -> list[str]:
    name, _, value = _plain(option).partition("=")
    if name == "lowerdir":
        return [one.replace("\\:", ":") for one in _COLON.split(value)]
    return [value] if name in ("lowerdir+", "upperdir") else []


def _mount_of(path: str, mounts: list[Mount]) -> Mount | None:
    """Return the mount that a path leads to: the deepest, and of those the last."""
    holding = [one for one in mounts if is_in(path, one.point)]
    deepest = max((len(one.point) for one in holding), default=0)
    return next((one for one in reversed(holding) if len(one.point) == deepest), None)


def is_in(path: str, folder: str) -> bool:
    """Tell whether a path is a folder, or lies in it."""
    return folder in ("/", path) or path.startswith(f"{folder}/")


def _below(path: str, folder: str) -> str:
    """Return what of a path comes after a folder that it is in."""
    return path if folder == "/" else path[len(folder) :]


def _joined(folder: str, rest: str) -> str:
    whole = f"{folder.rstrip('/')}/{rest.lstrip('/')}"
    return whole.rstrip("/") or "/"


def _plain(text: str) -> str:
    """Undo how the kernel writes characters that would end a field."""
    for octal, character in _WRITTEN:
        text = text.replace(octal, character)
    return text


_COLON = re.compile(r"(?<!\\):")
"""What stands between two folders; one that is part of a name has a backslash."""

_WRITTEN = (("\\040", " "), ("\\011", "\t"), ("\\012", "\n"), ("\\134", "\\"))
