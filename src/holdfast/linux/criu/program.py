"""Which CRIU to run: the system's, or one in a private root beside our Python.

Debian 12 ships 3.17, which cannot dump on new kernels, and Debian 13 ships 4.1, which
cannot dump a TCP socket from Linux 6.16 on: the kernel no longer answers what it asks.
`tools/set_up_criu.py` puts a newer one into a root of its own, with its own C library,
and it is started by that library's loader. The root lies in `sys.prefix`: it belongs to
this installation, and whatever keeps a session from writing our code keeps it from
writing that, too.
"""

import functools
import os
import platform
import re
import shutil
import stat
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

OLDEST = (4, 2)
"""The first that dumps TCP sockets on Linux 6.16 and later."""

SYSTEM_FOLDERS = ("/usr/local/sbin", "/usr/sbin", "/sbin")
"""Where it is installed; few users have these in PATH."""

PATIENCE = 10.0
"""Seconds for it to say its version: a thousand times what it needs."""

LIBRARIES = {
    "x86_64": ("x86_64-linux-gnu", "ld-linux-x86-64.so.2"),
    "aarch64": ("aarch64-linux-gnu", "ld-linux-aarch64.so.1"),
}
"""For each processor the folder of Debian's libraries, and the loader in it."""


class Program(NamedTuple):
    """A CRIU that can be run."""

    command: tuple[str, ...]
    version: tuple[int, ...]

    def __str__(self) -> str:
        """Say which it is and where."""
        return f"CRIU {'.'.join(map(str, self.version))} ({self.command[-1]})"


class Search(NamedTuple):
    """What came of looking for it."""

    program: Program | None
    why_not: str = ""


def private_root(prefix: str = sys.prefix) -> Path:
    """Return where this installation's own CRIU is, or would be."""
    return Path(prefix, "lib", "holdfast", "criu")


def private_command(root: Path) -> tuple[str, ...] | None:
    """Return how to start the CRIU of a private root; None on a strange processor."""
    if (found := LIBRARIES.get(platform.machine())) is None:
        return None
    folder, loader = found
    libraries = root / "usr" / "lib" / folder
    criu = root / "usr" / "sbin" / "criu"
    return (str(libraries / loader), "--library-path", str(libraries), str(criu))


def find(path: str | None = None, root: Path | None = None) -> Search:
    """Look for one that is new enough, the system's first."""
    refused: list[str] = []
    for command in _candidates(path, private_root() if root is None else root):
        place = command[-1]
        if told := _untrusted(place):
            refused.append(told)
            continue
        version = read_version(command)
        if version >= OLDEST:
            return Search(Program(command, version))
        found = ".".join(map(str, version)) or "one that does not say its version"
        refused.append(f"{place} is {found}")
    needed = f"CRIU {OLDEST[0]}.{OLDEST[1]} or newer is needed"
    return Search(None, "; ".join([*refused, needed]) if refused else "no CRIU here")


def read_version(command: tuple[str, ...]) -> tuple[int, ...]:
    """Ask a CRIU for its version, once for each; empty if it gives none."""
    try:
        facts = Path(command[-1]).stat()
    except OSError:
        return ()
    return _said_version(command, (facts.st_ino, facts.st_size, facts.st_ctime_ns))


@functools.cache
def _said_version(command: tuple[str, ...], _: tuple[int, ...]) -> tuple[int, ...]:
    try:
        said = subprocess.run(  # noqa: S603  # it is not writable by others
            [*command, "--version"],
            check=False,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=PATIENCE,
            env={"PATH": os.defpath},
        ).stdout
    except (OSError, subprocess.TimeoutExpired):
        return ()
    found = re.search(r"^Version:\s*(\d+(?:\.\d+)*)", said, re.MULTILINE)
    return tuple(map(int, found[1].split("."))) if found else ()


def _candidates(path: str | None, root: Path) -> list[tuple[str, ...]]:
    folders = [os.environ.get("PATH", os.defpath) if path is None else path]
    if path is None:
        folders += SYSTEM_FOLDERS
    commands: list[tuple[str, ...]] = []
    for folder in ":".join(folders).split(":"):
        # A relative entry would be another program in another folder.
        found = shutil.which("criu", path=folder) if folder.startswith("/") else None
        real = os.path.realpath(found) if found else ""
        if real and (real,) not in commands:
            commands.append((real,))
    own = private_command(root)
    if own is not None and Path(own[-1]).is_file():
        commands.append(own)
    return commands


def _untrusted(place: str) -> str:
    """Say why a program that gets our rights is not to be run; empty if it is."""
    try:
        found = Path(place).stat()
    except OSError as error:
        return f"{place}: {error.strerror}"
    if found.st_uid not in (0, os.geteuid()):
        return f"{place} belongs to another user"
    if found.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        return f"{place} can be written by others"
    return ""
