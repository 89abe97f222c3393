"""Tests whether CRIU works here, by dumping and restoring a real capsule.

`criu check` says yes on machines where every dump fails, so nothing less will do.
"""

import contextlib
import mmap
import os
import select
import signal
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from holdfast.linux import exec_filter, spawn
from holdfast.linux.capsule.start import Capsule, Vacant, hold_leader, hold_vacant
from holdfast.linux.capsule.view import View
from holdfast.linux.criu import engine
from holdfast.linux.criu.program import Program
from holdfast.model.errors import HoldfastError
from holdfast.model.geometry import Size

PATIENCE = 10.0
"""Seconds for a shell to answer: a thousand times what it needs."""

_SIZE = Size(80, 24)
_COMMAND = ("/bin/sh", "-c", 'n=41; while read l; do echo "$l$((n += 1))"; done')
"""A shell with something in its memory, which it is asked for before and after."""

_SOFT_DIRTY = 1 << 55
_CLEAR_SOFT_DIRTY = b"4"


def try_out(program: Program, cache: Path) -> str:
    """Say why a capsule cannot be dumped and restored here; nothing, if it can."""
    view = View((), is_root=exec_filter.is_privileged(), uid=os.getuid())
    try:
        with tempfile.TemporaryDirectory(prefix="holdfast-trial-") as scratch:
            images, work = Path(scratch, "images"), Path(scratch, "work")
            images.mkdir()
            work.mkdir()
            return _try(program, view, engine.Folders(images, work, cache))
    except HoldfastError as error:
        return str(error)
    except OSError as error:
        return error.strerror or str(error)


def _try(program: Program, view: View, folders: engine.Folders) -> str:
    with contextlib.ExitStack() as stack:
        capsule = stack.enter_context(_started(view))
        if _answer(capsule.master, b"a") != b"a42":
            return "a shell in a capsule does not answer"
        engine.dump(program, engine.Site(capsule.record, capsule.first), folders)
        # Its ports and names are free only when it is gone.
        stack.close()
        vacant = stack.enter_context(_vacant(view))
        site = engine.Site(capsule.record._replace(first=vacant.pid), vacant.first)
        engine.restore(program, site, folders, capsule.record.terminal)
        if _answer(vacant.master, b"b") != b"b43":
            return "what was restored does not answer"
    return ""


def counts_changed_pages() -> bool:
    """Tell whether the kernel says which pages a program has changed (soft-dirty)."""
    page = mmap.PAGESIZE
    try:
        with (
            mmap.mmap(-1, page) as memory,
            Path("/proc/self/pagemap").open("rb") as map_,
        ):
            memory[0] = 1
            Path("/proc/self/clear_refs").write_bytes(_CLEAR_SOFT_DIRTY)
            memory[0] = 2
            address = _address(memory)
            map_.seek(address // page * 8)
            return bool(int.from_bytes(map_.read(8), "little") & _SOFT_DIRTY)
    except OSError:
        return False


def _address(memory: mmap.mmap) -> int:
    import ctypes  # noqa: PLC0415  # for this alone

    return ctypes.addressof(ctypes.c_char.from_buffer(memory))


@contextlib.contextmanager
def _started(view: View) -> Iterator[Capsule]:
    environment = {"PATH": os.defpath, "TERM": "dumb"}
    capsule = hold_leader(spawn.Leader(_COMMAND, "/", environment), view, _SIZE)
    try:
        spawn.say(capsule.held.word, spawn.GO)
        spawn.why_not_begun(capsule.held.report, capsule.held.program)
        yield capsule
    finally:
        _end(capsule.record.first, capsule.first, capsule.lifeline, capsule.master)


@contextlib.contextmanager
def _vacant(view: View) -> Iterator[Vacant]:
    vacant = hold_vacant(view, _SIZE)
    try:
        yield vacant
    finally:
        _end(vacant.pid, vacant.first, vacant.lifeline, vacant.master)


def _end(pid: int, first: int, lifeline: int, master: int) -> None:
    with contextlib.suppress(ProcessLookupError):
        signal.pidfd_send_signal(first, signal.SIGKILL)
    os.waitpid(pid, 0)
    for fd in (first, lifeline, master):
        os.close(fd)


def _answer(master: int, asked: bytes) -> bytes:
    """Type a line; return the line that is printed after its echo."""
    os.write(master, asked + b"\n")
    seen, deadline = b"", time.monotonic() + PATIENCE
    while seen.count(b"\n") < 2 and time.monotonic() < deadline:  # noqa: PLR2004  # echo, answer
        if select.select([master], [], [], deadline - time.monotonic())[0]:
            try:
                seen += os.read(master, 4096)
            except OSError:
                break
    lines = seen.split(b"\r\n")
    return lines[1] if len(lines) > 1 else b""
