"""What an image needs from this machine: the processor, and mapped files."""

# ruff: noqa: PTH123  # names of files that programs chose are no paths of ours

import os
import stat
from collections.abc import Iterable

from holdfast.core.capsule.build_id import ENOUGH, build_id
from holdfast.core.capsule.processor import read_processor
from holdfast.wire.image_manifest import MAX_MAPPED, MAX_PATH, Machine, MappedFile

_CPUINFO = "/proc/cpuinfo"
_MAX_CPUINFO = 64 * 1024
_PATH_COLUMN = 5
_DELETED = " (deleted)"
_OPEN = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOCTTY


def this_machine(criu: int) -> Machine:
    """Return this machine, with this version of CRIU; see Machine.criu."""
    named = os.uname()
    with open(_CPUINFO, encoding="ascii", errors="replace") as file:
        text = file.read(_MAX_CPUINFO)
    return Machine(named.machine, named.release, criu, read_processor(text))


def mapped_paths(pids: Iterable[int]) -> list[str]:
    """Return the files that processes have in memory, as they see their paths.

    What has no name any more is left out: CRIU puts it into the image.
    """
    found = set()
    for pid in pids:
        try:
            with open(f"/proc/{pid}/maps", encoding="utf-8", errors="strict") as file:
                found |= {_path(line) for line in file}
        except (OSError, UnicodeError):
            continue  # It is gone, or CRIU will say what is wrong with it.
    return sorted(path for path in found if path)[:MAX_MAPPED]


def mapped_files(paths: Iterable[str], root: str = "") -> dict[str, MappedFile]:
    """Return what those files are now, seen from `root`; without what is not there."""
    found = {}
    for path in paths:
        one = _looked_at(path, root)
        if one is not None:
            found[path] = one
    return found


def _path(line: str) -> str:
    columns = line.rstrip("\n").split(maxsplit=_PATH_COLUMN)
    path = columns[_PATH_COLUMN] if len(columns) > _PATH_COLUMN else ""
    # The kernel writes a line end as \012, and nothing else otherwise.
    path = path.replace("\\012", "\n")
    is_file = path.startswith("/") and not path.endswith(_DELETED)
    return path if is_file and len(path) <= MAX_PATH else ""


def _looked_at(path: str, root: str) -> MappedFile | None:
    try:
        fd = os.open(f"{root}{path}", _OPEN)
    except OSError:
        return None
    try:
        facts = os.fstat(fd)
        if not stat.S_ISREG(facts.st_mode):
            return None
        return MappedFile(path, facts.st_size, build_id(os.pread(fd, ENOUGH, 0)))
    except OSError:
        return None
    finally:
        os.close(fd)
