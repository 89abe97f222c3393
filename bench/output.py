"""Throughput of output, with nobody attached and with one client.

The same text through a bare terminal, through holdfast and through tmux, in
turns; the medians are compared, because these machines are shared.
"""

import os
import statistics
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path

from bench.floor import Floor
from bench.screens import Screen, Tmux, holdfast
from bench.table import Row, Scale, Table, progress
from tests.scenarios.support import Machine, machine

LINE = b"The quick brown fox jumps over the lazy dog, and back again.\n"


def text_file(folder: Path, megabytes: int) -> Path:
    """Write plain text, as a compiler or a log would print it."""
    text = folder / "text"
    text.write_bytes(LINE * (megabytes * 1_000_000 // len(LINE)))
    return text


def text_size(megabytes: int) -> int:
    """Return how many bytes a terminal makes of the text: each line ends in two."""
    return megabytes * 1_000_000 // len(LINE) * (len(LINE) + 1)


def measure(table: Table, scale: Scale) -> None:
    """Add the rows about output."""
    megabytes, rounds = scale.pick(64, 8), scale.pick(5, 1)
    with tempfile.TemporaryDirectory() as name, machine() as here:
        folder = Path(name)
        text = text_file(folder, megabytes)
        tmux = Tmux.found(folder)
        seen: dict[str, list[int]] = defaultdict(list)
        ways: dict[str, Callable[[], float]] = {
            "bare": lambda: _attached(Screen("sh", "-c", _shown(text)))[0],
            "detached": lambda: _held_detached(here, text, folder),
            "cli": lambda: _held_attached(here, text, seen["`holdfast attach`"]),
            "client": lambda: _held_by_client(here, text),
        }
        if (floor := Floor.built(folder)) is not None:
            ways["floor detached"] = lambda: _floor_detached(floor, text, folder)
            ways["floor"] = lambda: _floor_attached(floor, text)
        if tmux is not None:
            ways["tmux detached"] = lambda: _tmux_detached(tmux, text, folder)
            ways["tmux"] = lambda: _tmux_attached(tmux, text, seen["`tmux attach`"])
        rates = _in_turns(ways, rounds, megabytes)
        if tmux is not None:
            tmux.close()
    _report(table, rates)
    # A client that cannot follow is told of a gap, and is done sooner for it.
    for name, sizes in seen.items():
        share = statistics.median(sizes) / text_size(megabytes) * 100
        table.add(Row(f"  of the output, sent on by {name}", share, "%"))


def _in_turns(
    ways: dict[str, Callable[[], float]], rounds: int, megabytes: int
) -> dict[str, float]:
    taken: dict[str, list[float]] = defaultdict(list)
    for number in range(rounds):
        for name, way in ways.items():
            progress(f"output, round {number + 1} of {rounds}: {name}")
            taken[name].append(megabytes / way())
    return {name: statistics.median(rates) for name, rates in taken.items()}


def _report(table: Table, rates: dict[str, float]) -> None:
    bare, attached, detached = rates["bare"], rates["cli"], rates["detached"]
    floors = rates.get("floor"), rates.get("floor detached")
    table.add(Row("output, bare terminal and read loop", bare, "MB/s"))
    table.add(Row("output, nobody attached", detached, "MB/s", floor=floors[1]))
    table.add(Row("output, one client without a terminal", rates["client"], "MB/s"))
    what = "output, one `holdfast attach`"
    table.add(Row(what, attached, "MB/s", floor=floors[0]))
    share = attached / bare
    table.add(Row("output, attached / bare read loop", share, "x", at_least=0.8))
    share = detached / bare
    table.add(Row("output, detached / bare read loop", share, "x", at_least=0.75))
    if "floor" in rates:
        _report_floor(table, rates)
    if "tmux" not in rates:
        table.note("tmux is not installed: nothing is compared with it")
        return
    theirs, beside = rates["tmux"], rates["tmux detached"]
    table.add(Row("output, tmux, nobody attached", beside, "MB/s"))
    table.add(Row("output, tmux, one `tmux attach`", theirs, "MB/s"))
    for what, ours, tmux, floor in (
        ("attached", attached, theirs, floors[0]),
        ("detached", detached, beside, floors[1]),
    ):
        least = None if floor is None else floor / tmux
        name = f"output, {what} / tmux {what}"
        table.add(Row(name, ours / tmux, "x", at_least=2, floor=least))


def _report_floor(table: Table, rates: dict[str, float]) -> None:
    """Add what two processes in C that do nothing else make of it."""
    for way, ours, name in (
        ("floor detached", "detached", "nobody attached"),
        ("floor", "cli", "attached"),
    ):
        what = f"output, {name} / in C without logic"
        table.add(Row(what, rates[ours] / rates[way], "x", at_least=0.75))


def _shown(text: Path) -> str:
    return f"echo READY; read go; cat {text}; echo THE-END; read stay"


def _hidden(text: Path, folder: Path) -> str:
    return f"read go < {folder}/go; cat {text}; echo done > {folder}/done; read stay"


def _attached(screen: Screen) -> tuple[float, int]:
    """Return how long the text took, and how many bytes of it were shown."""
    with screen:
        screen.sees(b"READY")
        screen.settles()
        before = screen.read
        began_at = time.perf_counter()
        screen.types(b"go\r")
        screen.sees(b"THE-END")
        return time.perf_counter() - began_at, screen.read - before


def _held_attached(here: Machine, text: Path, seen: list[int]) -> float:
    session = here.new("sh", "-c", _shown(text))
    spent, size = _attached(Screen(*holdfast("attach", session)))
    seen.append(size)
    here.ask(do="forget", id=session)
    return spent


def _held_by_client(here: Machine, text: Path) -> float:
    session = here.new("sh", "-c", _shown(text))
    client = here.join(session)
    client.wait_output(b"READY")
    began_at = time.perf_counter()
    client.post(b"go\r")
    tail = b""
    while b"THE-END" not in tail:
        client.output = b""
        client._receive(5)  # noqa: SLF001  # the hot loop of a client
        tail = tail[-64:] + client.output
    spent = time.perf_counter() - began_at
    client.close()
    here.ask(do="forget", id=session)
    return spent


def _tmux_attached(tmux: Tmux, text: Path, seen: list[int]) -> float:
    tmux.new("a", _shown(text))
    spent, size = _attached(tmux.attach("a"))
    seen.append(size)
    tmux.end("a")
    return spent


def _held_detached(here: Machine, text: Path, folder: Path) -> float:
    pipes = _pipes(folder)
    session = here.new("sh", "-c", _hidden(text, folder))
    spent = _through(pipes)
    here.ask(do="forget", id=session)
    return spent


def _tmux_detached(tmux: Tmux, text: Path, folder: Path) -> float:
    pipes = _pipes(folder)
    tmux.new("d", _hidden(text, folder))
    spent = _through(pipes)
    tmux.end("d")
    return spent


def _floor_attached(floor: Floor, text: Path) -> float:
    return _attached(Screen(*floor.showing("sh", "-c", _shown(text))))[0]


def _floor_detached(floor: Floor, text: Path, folder: Path) -> float:
    pipes = _pipes(folder)
    with floor.keeping("sh", "-c", _hidden(text, folder)):
        return _through(pipes)


def _pipes(folder: Path) -> tuple[Path, Path]:
    """Make what a program nobody looks at is started by, and says its end with."""
    pipes = (folder / "go", folder / "done")
    for path in pipes:
        path.unlink(missing_ok=True)
        os.mkfifo(path)
    return pipes


def _through(pipes: tuple[Path, Path]) -> float:
    go, done = pipes
    with go.open("w") as start:  # Returns when the program waits there.
        began_at = time.perf_counter()
        start.write("go\n")
    done.read_text()
    return time.perf_counter() - began_at
