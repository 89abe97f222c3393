"""Break holdfast on purpose while people and agents work, and judge what came of it.

    make chaos MINUTES=3 SEED=7
    python -m tests.chaos.run --seconds 20 --seed 7 --keep DIR

A keeper with its helpers, holders, two hosts, a relay and a painter run as they always
do. Two typists share a session, an agent works under keys, viewers watch, sessions
begin and end, others move and go to disk; meanwhile the faults of a schedule strike
(tests/chaos/schedule.py), which depends on the seed alone. What was asked and answered
is written down and read by checkers (tests/chaos/checks.py). Exits with 1 if a promise
was broken, and says which.
"""

import argparse
import asyncio
import contextlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Coroutine
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from tests.chaos import report
from tests.chaos.faults import Injector
from tests.chaos.history import History, Line, read
from tests.chaos.operators import Agent, Caller, Mover, Starter, Typist, Viewer
from tests.chaos.schedule import schedule
from tests.chaos.stage import Stage, stage, started
from tests.scenarios.support import apply_policy, eventually

SETTLE = 60.0
"""Seconds that everything has to come to rest once the last fault is over."""

WORKERS = 32
"""Threads: one for each operator that blocks, and some for what the SDK does."""

POLICY = '[default]\nagent = "allow"\n'

PRIVATE = "HOLDFAST_CHAOS_PRIVATE"
"""Set when this process has a mount namespace of its own, which its disks end with."""


async def play(made: Stage, seed: int, seconds: float, *, moves: bool) -> None:
    """Have everybody work while the faults strike, then let it come to rest."""
    threads = ThreadPoolExecutor(max_workers=WORKERS)
    asyncio.get_running_loop().set_default_executor(threads)
    over, stopped = asyncio.Event(), threading.Event()
    injector = Injector(made)
    viewers = [Viewer(made, "near viewer"), Viewer(made, "far viewer", "there")]
    workers = [Typist(made, name, seed).work for name in ("anna", "bert")]
    workers += [Caller(made).work, Starter(made, seed).work]
    workers += [Mover(made).work] if moves and made.can.capsules else []
    async with asyncio.TaskGroup() as tasks:
        for viewer in viewers:
            tasks.create_task(_bounded(viewer.watch(), seconds + 2 * SETTLE))
        tasks.create_task(_bounded(Agent(made, seed).work(over), seconds + SETTLE))
        for work in workers:
            tasks.create_task(asyncio.to_thread(work, stopped))
        faults = schedule(seed, seconds)
        await asyncio.to_thread(injector.run, faults)
        over.set()
        stopped.set()
        made.history.note("over", faults=len(faults))
        await asyncio.to_thread(injector.wait_calm, SETTLE)
        (made.folder / "printed.stop").touch()
    for viewer in viewers:
        viewer.report()


async def _bounded(work: Coroutine[object, object, None], seconds: float) -> None:
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            await work


def conclude(made: Stage, *, moves: bool) -> None:
    """Write down how everything stands in the end."""
    note = made.history.note
    listed = _at_rest(made)
    for one in listed:
        answers = one["state"] in ("lost", "exited") or _answers(made, one["id"])
        note(
            "listed",
            session=one["id"],
            name=one["name"],
            state=one["state"],
            exit=one["exit"],
            pid=one["pid"],
            started=started(one["pid"]),
            answers=answers,
        )
    note("tally", tokens=(made.folder / "read").read_text().split())
    note("effects", keys=(made.folder / "effects").read_text().split())
    printed = made.folder / "printed"
    note("printed", lines=int(printed.read_text()) if printed.exists() else 0)
    for name in ("typed", "worked", "printed"):
        entries = made.alpha.do("log", name, "--json", "--last", "1000000").splitlines()
        note("book", name=name, entries=entries)
    if moves and made.can.capsules:
        _conclude_moves(made)


def _conclude_moves(made: Stage) -> None:
    def lives_at() -> list[str]:
        found = []
        for name, place in (("alpha", made.alpha), ("beta", made.beta)):
            sessions = json.loads(place.do("ls", "--json"))["sessions"]
            ended = ("lost", "stopped", "exited")
            mine = [one for one in sessions if one["id"] == made.sessions["counted"]]
            found += [name for one in mine if one["state"] not in ended]
        return found

    def is_once() -> bool:
        return len(lives_at()) == 1

    with contextlib.suppress(AssertionError):
        eventually("it lives at one of them", is_once)
    text = (made.folder / "ticks").read_text().split("\n")[:-1]
    numbers = [int(one) for one in text]
    made.history.note("ticks", name="counted", numbers=numbers, lives_at=lives_at())


def _at_rest(made: Stage) -> list[Line]:
    """Return all sessions, once those that end by themselves have had time to."""
    deadline = time.monotonic() + SETTLE
    while True:
        listed = eventually("everything is listed", lambda: _listed(made))
        short = [one for one in listed if str(one["name"]).startswith("short-")]
        ended = all(one["state"] in ("lost", "exited") for one in short)
        if ended or time.monotonic() > deadline:
            return listed
        time.sleep(0.2)


def _listed(made: Stage) -> list[Line] | None:
    done = made.alpha.run("ls", "--all", "--json")
    if not done.stdout:
        return None
    told = json.loads(done.stdout)
    lost = [{**one, "state": "lost", "exit": None, "pid": 0} for one in told["lost"]]
    return [one for one in (*told["sessions"], *lost) if not one.get("host")]


def _answers(made: Stage, session: object) -> bool:
    deadline = time.monotonic() + SETTLE
    while time.monotonic() < deadline:
        if made.alpha.run("state", str(session)).returncode == 0:
            return True
    return False


def run(seed: int, seconds: float, kept: Path, *, moves: bool) -> int:
    """Do a run; print its report and return its exit status."""
    path = kept / f"chaos-{seed}.jsonl"
    history = History(path)
    try:
        with stage(history, moves=moves) as made:
            apply_policy(POLICY)
            asyncio.run(play(made, seed, seconds, moves=moves))
            conclude(made, moves=moves)
    finally:
        history.close()
    text, status = report.written(read(path), seed, seconds)
    sys.stdout.write(f"{text}\nhistory: {path}\n")
    return status


def main() -> int:
    """Read the arguments, and do a run."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=20.0)
    parser.add_argument("--minutes", type=float, help="so many minutes instead")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--keep", type=Path, help="folder for the history")
    parser.add_argument("--no-moves", action="store_true")
    options = parser.parse_args()
    _enter_private_mounts()
    kept = options.keep or Path(tempfile.mkdtemp(prefix="hf-chaos-"))
    kept.mkdir(parents=True, exist_ok=True)
    seconds = options.seconds if options.minutes is None else options.minutes * 60
    return run(options.seed, seconds, kept, moves=not options.no_moves)


def _enter_private_mounts() -> None:
    if os.getuid() != 0 or PRIVATE in os.environ or not shutil.which("unshare"):
        return
    words = ["unshare", "--mount", "--propagation", "private", sys.executable, "-m"]
    words += ["tests.chaos.run", *sys.argv[1:]]
    sys.exit(subprocess.call(words, env={**os.environ, PRIVATE: "1"}))


if __name__ == "__main__":
    sys.exit(main())
