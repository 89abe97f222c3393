"""How long from a key to its echo, with holdfast and with tmux in between?

Keys come in blocks, one way after the other, with a pause after each: that is
how people type, and a record on its way to the disk delays nobody's next key.
"""

import statistics
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path

from bench.screens import Screen, Tmux, holdfast
from bench.table import Row, Scale, Table, percentile, progress
from tests.scenarios.support import Client, machine

KEYS = b"wxyz"
"""Letters that no escape sequence of tmux ends with."""

BLOCK = 50
"""Keys in a row before the next way has its turn: less than a line of 80."""

PAUSE = 0.005
"""Seconds between two keys; somebody who types fast needs thirty times that."""

Press = Callable[[bytes], None]


def measure(table: Table, scale: Scale) -> None:
    """Add the rows about the echo of a key."""
    with tempfile.TemporaryDirectory() as name, machine() as here:
        screens = {
            "bare": Screen("cat"),
            "cli": Screen(*holdfast("attach", here.new("cat"))),
        }
        if (tmux := Tmux.found(Path(name))) is not None:
            tmux.new("e", "cat")
            screens["tmux"] = tmux.attach("e")
        ways = {way: _on(screen) for way, screen in screens.items()}
        ways["client"] = _by(here.join(here.new("cat")))
        taken = _in_turns(ways, scale.pick(10, 1))
        for screen in screens.values():
            screen.close()
        if tmux is not None:
            tmux.close()
    _report(table, taken)


def _in_turns(
    ways: dict[str, tuple[Press, Press]], rounds: int
) -> dict[str, list[float]]:
    taken: dict[str, list[float]] = defaultdict(list)
    for number in range(rounds):
        for name, (press, afterwards) in ways.items():
            progress(f"echo, round {number + 1} of {rounds}: {name}")
            for at in range(BLOCK):
                key = KEYS[at % len(KEYS) :][:1]
                began_at = time.perf_counter()
                press(key)
                taken[name].append(time.perf_counter() - began_at)
                time.sleep(PAUSE)
            afterwards(b"\r")
    return taken


def _on(screen: Screen) -> tuple[Press, Press]:
    def press(key: bytes) -> None:
        screen.types(key)
        screen.sees(key, 5)

    def afterwards(key: bytes) -> None:
        screen.types(key)
        screen.settles()

    # The first key takes the turn, and the program may still be starting.
    screen.settles(0.5)
    afterwards(b"\r")
    return press, afterwards


def _by(client: Client) -> tuple[Press, Press]:
    def press(key: bytes) -> None:
        client.output = b""
        client.post(key)
        while key not in client.output:
            client._receive(5)  # noqa: SLF001  # the hot loop of a client

    def afterwards(key: bytes) -> None:
        client.enter(key)

    afterwards(b"\r")
    return press, afterwards


def _report(table: Table, taken: dict[str, list[float]]) -> None:
    names = {
        "bare": "bare terminal",
        "client": "a client without a terminal",
        "cli": "`holdfast attach`",
        "tmux": "`tmux attach`",
    }
    for way, name in names.items():
        if way in taken:
            half = statistics.median(taken[way]) * 1e3
            most = percentile(taken[way], 0.99) * 1e3
            table.add(Row(f"echo of a key, {name}, p50", half, "ms"))
            table.add(Row(f"echo of a key, {name}, p99", most, "ms"))
    if "tmux" not in taken:
        table.note("tmux is not installed: nothing is compared with it")
        return
    theirs = statistics.median(taken["tmux"])
    for way, name in (("cli", "`holdfast attach`"), ("client", "a client")):
        ratio = statistics.median(taken[way]) / theirs
        # The budget is about what users have before them.
        budget = 1.5 if way == "cli" else None
        table.add(Row(f"echo, p50, {name} / tmux", ratio, "x", at_most=budget))
