"""Number of Python calls that the holder makes for one key.

A count says more than a time on a machine that others use too. The holder is a real
one: a `sitecustomize` on its path switches a profiler on and off at a signal.
"""

import os
import pstats
import signal
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from bench.table import Row, Scale, Table
from tests.scenarios.support import Client, Machine, eventually, machine

MOST = 220
"""Calls that a key may cost. Few of them are on its way: the rest is done after its
echo, or before the key comes (ADR 0040)."""

SIGNAL = signal.SIGRTMIN + 3

PROFILER = f"""
import cProfile, os, signal
running = []
def switch(*_):
    if not running:
        running.append(cProfile.Profile())
        running[0].enable()
        return
    profile = running.pop()
    profile.disable()
    path = os.path.join({{folder!r}}, str(os.getpid()))
    profile.dump_stats(path + ".new")
    os.rename(path + ".new", path)
try:
    signal.signal({int(SIGNAL)}, switch)
except ValueError:
    pass
"""

REST = 0.02
"""Seconds in which the record settles, and the next key is prepared for."""

KEYS = [b"a"] * 19 + [b"\x7f"] * 19
"""A word and its way back: the line stays short."""


def measure(table: Table, scale: Scale) -> None:
    """Add the row about the calls of a key."""
    with profiled_machine() as (here, folder):
        for name, command in (
            ("cat", ("cat",)),
            ("bash's prompt", ("bash", "--norc", "--noprofile")),
        ):
            calls = calls_per_key(here, folder, command, scale.pick(20, 2))
            what = f"calls of Python in the holder for a key, {name}"
            table.add(Row(what, calls, "", at_most=MOST))


@contextmanager
def profiled_machine() -> Iterator[tuple[Machine, Path]]:
    """Run a keeper whose holders have a profiler, and where they leave its results."""
    with tempfile.TemporaryDirectory(prefix="hfk") as name:
        code = PROFILER.format(folder=name)
        (Path(name) / "sitecustomize.py").write_text(code)
        before = os.environ.get("PYTHONPATH")
        os.environ["PYTHONPATH"] = name if before is None else f"{name}:{before}"
        try:
            with machine() as here:
                yield here, Path(name)
        finally:
            del os.environ["PYTHONPATH"]
            if before is not None:
                os.environ["PYTHONPATH"] = before


def calls_per_key(
    here: Machine, folder: Path, command: tuple[str, ...], rounds: int
) -> float:
    """Type as a person does, each key once the echo of the last is there."""
    session = here.new(*command)
    client = here.join(session)
    holder = here.pid("holder", session)
    for key in KEYS:  # What is loaded and cached at the first keys is no key's cost.
        _press(client, key)
    os.kill(holder, SIGNAL)
    for _ in range(rounds):
        for key in KEYS:
            _press(client, key)
    os.kill(holder, SIGNAL)
    path = folder / str(holder)
    eventually("a profile", path.exists)
    # Of each function: how often it was called without itself, and so on.
    counts = pstats.Stats(str(path)).stats.items()  # type: ignore[attr-defined]
    python = sum(found[0] for (file, _, _), found in counts if file != "~")
    return float(python) / rounds / len(KEYS)


def _press(client: Client, key: bytes) -> None:
    """Type a key as people do, who have seen what is shown; wait for its echo."""
    client.post(key, waits=False, seen=client.end)
    client.wait_output(size=len(client.output) + 1)
    time.sleep(REST)
