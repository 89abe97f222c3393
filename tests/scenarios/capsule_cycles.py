"""Put sessions to disk and bring them back, again and again, with somebody watching.

`python -m tests.scenarios.capsule_cycles --cycles 100` does it over ten programs, in
turns, and prints what it found; `--user 65534` does it as that user. In each cycle
the session is put to disk in place, asked, put to disk and ended, restored, and asked.
It exits with 1 if a session was lost, if two of its trees lived, or if an operator
who watches missed a byte or saw one twice.
"""

import argparse
import asyncio
import contextlib
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path

from tests.scenarios.capsule_workloads import WORKLOADS, Workload
from tests.scenarios.capsules import inside, space_of
from tests.scenarios.leftovers import end_everything
from tests.scenarios.support import machine

import holdfast
from holdfast.linux import procfs
from holdfast.model.errors import HoldfastError
from holdfast.sdk import events

FIRST_PORT = 18_400


@dataclass
class Watcher:
    """An operator who sees all that a session prints, through every life of it."""

    host: holdfast.Host
    session: str
    seen: bytearray = field(default_factory=bytearray)
    links: int = 0
    faults: list[str] = field(default_factory=list)

    async def watch(self) -> None:
        """Watch until cancelled; come back when the session does."""
        while True:
            with contextlib.suppress(HoldfastError):
                async with self.host.attach(self.session, observe=True) as session:
                    self.links += 1
                    async for one in session.events(after=len(self.seen)):
                        self._take(one)
            await asyncio.sleep(0.02)

    def _take(self, one: events.Event) -> None:
        match one:
            case events.Output():
                if one.offset != len(self.seen):
                    self.faults.append(f"{one.offset} after {len(self.seen)}")
                self.seen += one.data
            case events.Gap():
                self.faults.append(f"a gap: {one}")
            case _:
                pass


@dataclass
class Report:
    """What came of it."""

    cycles: int = 0
    faults: list[str] = field(default_factory=list)
    still: list[float] = field(default_factory=list)
    stops: list[float] = field(default_factory=list)
    restores: list[float] = field(default_factory=list)

    def __str__(self) -> str:
        """Say it in a few lines."""
        lines = [f"{self.cycles} cycles, {len(self.faults)} faults"]
        for what in ("still", "stops", "restores"):
            taken = sorted(getattr(self, what))
            if taken:
                half, most = statistics.median(taken), taken[-1]
                lines.append(f"{what}: half within {half:.3f} s, all in {most:.3f} s")
        return "\n".join([*lines, *self.faults])


@dataclass
class Subject:
    """One session, and how often it was asked."""

    work: Workload
    port: int
    session: holdfast.Session
    watcher: Watcher
    task: "asyncio.Task[None]"
    asked: int = 0

    async def ask(self) -> None:
        """Ask what only its memory can answer."""
        self.asked += 1
        await self.work.ask(self.session, self.port, self.asked)


def started_at(pid: int) -> int:
    """Return when a process started; 0 if it does not live."""
    found = procfs.read_stat(pid)
    return found.started if found is not None and found.lives else 0


def marks(leader: int) -> list[tuple[int, int]]:
    """Return every process of a capsule; a number alone may pass to another."""
    found = [(pid, started_at(pid)) for pid in inside(space_of(leader))]
    return [(pid, started) for pid, started in found if started]


async def cycle(host: holdfast.Host, one: Subject, report: Report) -> None:
    """Put it to disk twice, and restore it once."""
    links = one.watcher.links
    made = await one.session.checkpoint()
    report.still.append(made.still_ms / 1000)
    await one.ask()
    if one.watcher.links != links:
        report.faults.append(f"{one.work.name}: an operator was cut off in place")
    info = await host.find(one.session.id)
    old = marks(info.pid)
    began = time.monotonic()
    made = await one.session.checkpoint(stop=True)
    report.stops.append(time.monotonic() - began)
    await one.session.__aexit__(None, None, None)
    began = time.monotonic()
    one.session = await (await host.restore(made.image)).__aenter__()
    report.restores.append(time.monotonic() - began)
    if left := [pid for pid, started in old if started_at(pid) == started]:
        report.faults.append(f"{one.work.name}: two trees, {left} of the old one")
    again = await host.find(one.session.id)
    if again.incarnation != info.incarnation + 1:
        report.faults.append(f"{one.work.name}: incarnation {again.incarnation}")
    await one.ask()


async def begun(
    host: holdfast.Host, tasks: asyncio.TaskGroup, home: Path, number: int
) -> Subject:
    """Start one of the programs, with somebody who watches."""
    work = WORKLOADS[number % len(WORKLOADS)]
    folder = home / work.name
    folder.mkdir()
    (folder / "rows").write_text("".join(f"row {one}\n" for one in range(1, 2000)))
    made = await host.create(work.command, cwd=str(folder), runtime="capsule")
    session = await made.__aenter__()
    watcher = Watcher(host, session.id)
    task = tasks.create_task(watcher.watch())
    port = FIRST_PORT + os.getpid() % 10_000 + number
    await work.begin(session, folder, port)
    return Subject(work, port, session, watcher, task)


async def conclude(one: Subject, report: Report) -> None:
    """Compare what was watched with what the session has printed."""
    if one.work.counts:
        await one.session.keys("C-c")
    end = await one.session.wait_quiet(0.5, 30)
    for _ in range(200):
        if len(one.watcher.seen) >= end:
            break
        await asyncio.sleep(0.05)
    one.task.cancel()
    name, seen = one.work.name, bytes(one.watcher.seen)
    report.faults += [f"{name}: {fault}" for fault in one.watcher.faults]
    kept = await one.session.read(max_bytes=1 << 20)
    if seen[kept.offset : kept.offset + len(kept.data)] != kept.data:
        report.faults.append(f"{name}: what was watched is not what was printed")
    if one.work.counts:
        numbers = re.findall(one.work.counts + rb"(\d+)\r", seen)
        for wanted, number in enumerate(map(int, numbers)):
            if number != wanted:
                at = seen.find(b"%s%d\r" % (one.work.counts, wanted - 1))
                around = seen[at : at + 100]
                report.faults.append(f"{name}: {number}, not {wanted}: {around!r}")
                break
    await one.session.end()
    await one.session.__aexit__(None, None, None)


async def play(cycles: int, home: Path) -> Report:
    """Do so many cycles over all programs, in turns."""
    report = Report()
    async with holdfast.connect() as host, asyncio.TaskGroup() as tasks:
        count = min(cycles, len(WORKLOADS))
        subjects = [await begun(host, tasks, home, number) for number in range(count)]
        for number in range(cycles):
            one = subjects[number % len(subjects)]
            try:
                await cycle(host, one, report)
            except (HoldfastError, AssertionError, OSError) as error:
                report.faults.append(f"{one.work.name}: lost, {error!r}"[:1000])
                subjects.remove(one)
                one.task.cancel()
                if not subjects:
                    break
            report.cycles += 1
        for one in subjects:
            await conclude(one, report)
    return report


def as_user(user: int, cycles: int) -> int:
    """Do it as somebody else, and end what that one may not look into."""
    folder = tempfile.mkdtemp(prefix="hf")
    os.chown(folder, user, user)
    words = ("-m", "tests.scenarios.capsule_cycles", "--cycles", str(cycles))
    try:
        return subprocess.run(
            [sys.executable, *words, "--folder", folder],
            user=user,
            group=user,
            extra_groups=[],
            check=False,
        ).returncode
    finally:
        end_everything(folder)


def main() -> int:
    """Do it, and say what came of it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cycles", type=int, default=100)
    parser.add_argument("--user", type=int)
    parser.add_argument("--folder", help="where sockets and state are (default: new)")
    options = parser.parse_args()
    if options.user is not None:
        return as_user(options.user, options.cycles)
    with tempfile.TemporaryDirectory(prefix="hfw") as home:
        os.environ["HOME"] = home
        # An account that nobody logs in to has a shell that only says so.
        os.environ["SHELL"] = "/bin/bash"
        with machine(options.folder):
            report = asyncio.run(play(options.cycles, Path(home)))
    sys.stdout.write(f"{report}\n")
    return 1 if report.faults else 0


if __name__ == "__main__":
    sys.exit(main())
