"""Time from a key to its echo, with holdfast and with tmux in between.

Keys come in blocks, one way after the other, with a pause after each: that is
how people type, and a record on its way to the disk delays nobody's next key.
"""

import statistics
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path

from bench.floor import Floor
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
Afterwards = Callable[[], None]


PROMPT = ("bash", "--norc", "--noprofile")
"""A shell whose line editor echoes, with our integration where it is ours."""


def measure(table: Table, scale: Scale) -> None:
    """Add the rows about the echo of a key."""
    _report(table, _taken(scale, "cat", end=b"\r"))
    # What was typed is no command: it is taken back.
    _report_prompt(table, _taken(scale, *PROMPT, end=b"\x15"))


def _taken(scale: Scale, *program: str, end: bytes) -> dict[str, list[float]]:
    with tempfile.TemporaryDirectory() as name, machine() as here:
        screens = {
            "bare": Screen(*program),
            "cli": Screen(*holdfast("attach", here.new(*program))),
        }
        if (floor := Floor.built(Path(name))) is not None:
            screens["floor"] = Screen(*floor.showing(*program))
        if (tmux := Tmux.found(Path(name))) is not None:
            tmux.new("e", " ".join(program))
            screens["tmux"] = tmux.attach("e")
        ways = {way: _on(screen, end) for way, screen in screens.items()}
        ways["client"] = _by(here.join(here.new(*program)), end)
        taken = _in_turns(ways, scale.pick(10, 1))
        for screen in screens.values():
            screen.close()
        if tmux is not None:
            tmux.close()
    return taken


def _in_turns(
    ways: dict[str, tuple[Press, Afterwards]], rounds: int
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
            afterwards()
    return taken


def _on(screen: Screen, end: bytes) -> tuple[Press, Afterwards]:
    def press(key: bytes) -> None:
        screen.types(key)
        screen.sees(key, 5)

    def afterwards() -> None:
        screen.types(end)
        screen.settles()

    # The first key takes the turn, and the program may still be starting.
    screen.settles(0.5)
    afterwards()
    return press, afterwards


def _by(client: Client, end: bytes) -> tuple[Press, Afterwards]:
    def press(key: bytes) -> None:
        client.output = b""
        client.post(key)
        while key not in client.output:
            client._receive(5)  # noqa: SLF001  # the hot loop of a client

    def afterwards() -> None:
        client.enter(end)

    afterwards()
    return press, afterwards


def _report(table: Table, taken: dict[str, list[float]]) -> None:
    names = {
        "bare": "bare terminal",
        "client": "a client without a terminal",
        "cli": "`holdfast attach`",
        "floor": "two processes in C without logic",
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
        what = f"echo, p50, {name} / tmux"
        table.add(Row(what, ratio, "x", at_most=budget, floor=_floor(taken)))


def _report_prompt(table: Table, taken: dict[str, list[float]]) -> None:
    """Add what differs at a shell's prompt: there the shell echoes, not the kernel."""
    half = statistics.median(taken["cli"]) * 1e3
    table.add(Row("echo at a bash prompt, `holdfast attach`, p50", half, "ms"))
    if "tmux" in taken:
        ratio = statistics.median(taken["cli"]) / statistics.median(taken["tmux"])
        what = "echo at a bash prompt, p50, `holdfast attach` / tmux"
        table.add(Row(what, ratio, "x", at_most=2.0, floor=_floor(taken)))


def _floor(taken: dict[str, list[float]]) -> float | None:
    """Return what two processes in C without logic need, against tmux."""
    if "floor" not in taken:
        return None
    return statistics.median(taken["floor"]) / statistics.median(taken["tmux"])
