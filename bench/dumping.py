"""Time to dump a capsule, and to restore it until it answers, beside CRIU by itself.

By itself it dumps a process of the same size that has no capsule and no terminal, and
restores it under the same number; for that it has to be root's. Both write to the same
disk, one after the other, so that a busy one slows both.
"""

import contextlib
import os
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from bench.table import Row, Scale, Table, progress

from holdfast.linux import exec_filter, spawn
from holdfast.linux.capsule.start import Capsule, hold_leader, hold_vacant
from holdfast.linux.capsule.view import View
from holdfast.linux.criu import engine
from holdfast.linux.criu.program import Program, find
from holdfast.model.geometry import Size

MEGABYTES = (0, 50, 200, 1000)
LARGE = 1000
FACTOR, MARGIN_MS = 1.2, 40.0
SIZE = Size(80, 24)
PROGRAM = """
import os, sys
heap = os.urandom({megabytes} << 20)
print("up", flush=True)
for line in sys.stdin: print("still", flush=True)
"""
ALONE = """
import os, sys, time
heap = os.urandom({megabytes} << 20)
open(sys.argv[1], "w").close()
while True: time.sleep(1)
"""


def measure(table: Table, scale: Scale) -> None:
    """Add the rows about dumping and restoring."""
    program = find().program
    if program is None:
        table.note("nothing is dumped: no CRIU that can be used")
        return
    for megabytes in MEGABYTES[: scale.pick(4, 2)]:
        # A gigabyte is a matter of the disk, and takes it ten seconds and more.
        rounds = 2 if megabytes >= LARGE else scale.pick(5, 2)
        ours, alone = [], []
        for number in range(rounds):
            progress(f"dumping {megabytes} MB, {number + 1} of {rounds}")
            ours.append(_ours(program, megabytes))
            if os.geteuid() == 0:
                alone.append(alone_round(program, megabytes))
        for at, what in enumerate(("dump", "restore")):
            own = statistics.median(one[at] for one in ours) * 1000
            bare = statistics.median(one[at] for one in alone) * 1000 if alone else None
            most = None if bare is None else FACTOR * bare + MARGIN_MS
            name = f"{what} of {megabytes} MB"
            table.add(Row(name, own, "ms", at_most=most, floor=bare))


def _ours(program: Program, megabytes: int) -> tuple[float, float]:
    view = View((), is_root=exec_filter.is_privileged(), uid=os.getuid())
    with _folders() as folders:
        capsule = _started(megabytes, view)
        began_at = time.perf_counter()
        engine.dump(program, engine.Site(capsule.record, capsule.first), folders)
        dumped = time.perf_counter() - began_at
        held = capsule.held
        _end(capsule.record.first, capsule.first, capsule.lifeline, capsule.master)
        for fd in (held.word, held.report):
            os.close(fd)
        began_at = time.perf_counter()
        vacant = hold_vacant(view, SIZE)
        site = engine.Site(capsule.record._replace(first=vacant.pid), vacant.first)
        engine.restore(program, site, folders, capsule.record.terminal)
        os.write(vacant.master, b"\n")
        _await(vacant.master, b"still")
        restored = time.perf_counter() - began_at
        _end(vacant.pid, vacant.first, vacant.lifeline, vacant.master)
    return dumped, restored


class Alone(NamedTuple):
    """Seconds that CRIU takes by itself."""

    dumped: float
    restored: float
    durable: float
    """To dump, and to have the disk keep what was written: CRIU does without."""


def alone_round(program: Program, megabytes: int) -> Alone:
    """Dump and restore a process by CRIU alone; return how long each took."""
    with _folders() as folders:
        up = folders.work / "up"
        code = ALONE.format(megabytes=megabytes)
        process = subprocess.Popen(  # noqa: S603  # what is written above
            [sys.executable, "-c", code, str(up)],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
            cwd="/",
        )
        while not up.exists():
            time.sleep(0.01)
        words = [*program.command]
        places = ["-D", str(folders.images), "-W", str(folders.work), "-v2"]
        dump = [*words, "dump", "-t", str(process.pid), *places, "-o", "dump.log"]
        began_at = time.perf_counter()
        dumped = _timed(dump)
        _sync(folders.images)
        durable = time.perf_counter() - began_at
        process.wait()
        restored = _timed([*words, "restore", "-d", *places, "-o", "restore.log"])
        os.kill(process.pid, signal.SIGKILL)
    return Alone(dumped, restored, durable)


def _sync(folder: Path) -> None:
    for path in (*folder.iterdir(), folder):
        fd = os.open(path, os.O_RDONLY)
        os.fsync(fd)
        os.close(fd)


def _timed(words: list[str]) -> float:
    began_at = time.perf_counter()
    subprocess.run(words, check=True)  # noqa: S603  # it is what is measured
    return time.perf_counter() - began_at


@contextlib.contextmanager
def _folders() -> Iterator[engine.Folders]:
    cache = Path(f"/dev/shm/holdfast-bench-{os.getuid()}")  # noqa: S108  # of one user
    with tempfile.TemporaryDirectory() as scratch:
        found = engine.Folders(Path(scratch, "images"), Path(scratch, "work"), cache)
        found.images.mkdir()
        found.work.mkdir()
        yield found


def _started(megabytes: int, view: View) -> Capsule:
    command = (sys.executable, "-c", PROGRAM.format(megabytes=megabytes))
    leader = spawn.Leader(command, "/", {"PATH": os.defpath, "TERM": "dumb"})
    capsule = hold_leader(leader, view, SIZE)
    spawn.say(capsule.held.word, spawn.GO)
    _await(capsule.master, b"up")
    return capsule


def _await(master: int, wanted: bytes) -> None:
    seen = b""
    while wanted not in seen:
        try:
            seen += os.read(master, 4096)
        except BlockingIOError:
            time.sleep(0.0005)


def _end(pid: int, first: int, lifeline: int, master: int) -> None:
    signal.pidfd_send_signal(first, signal.SIGKILL)
    os.waitpid(pid, 0)
    for fd in (first, lifeline, master):
        os.close(fd)
