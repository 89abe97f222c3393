"""Cost of a session elsewhere: through a relay, sealed, and back.

Relay, host, holder and client share one machine, and with it its processors; so
this is the cost of the work, without that of any distance. Beside each figure
stands the same on this machine without a relay, in the same run.
"""

import contextlib
import statistics
import sys
import time
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

from bench.echo import BLOCK, KEYS, PAUSE
from bench.output import _attached, text_file
from bench.screens import Screen, finished, holdfast
from bench.table import Row, Scale, Table, percentile, progress
from bench.turns import Turns
from tests.scenarios.elsewhere import Place, RelayPlace, places, relay

PYTHON = "`python -c pass`"
FAR = "attach to full paint, through a relay"
FILL = "yes 'a line of output, long enough to be one of many' | head -c 3000000"


def measure(table: Table, scale: Scale) -> None:
    """Add the rows about being elsewhere."""
    with relay() as between, places() as (home, away):
        home.up(between.url)
        away.do("join", "-", "--name", "box", said=home.invite())
        _echo(table, scale, home, away)
        _output(table, scale, home, away)
        _opening(table, scale, home, away)
        _reconnecting(table, scale, home, away, between)


@contextlib.contextmanager
def _shown(place: Place, address: str) -> Iterator[Screen]:
    with place.inhabited():
        screen = Screen(*holdfast("attach", address))
    with screen:
        yield screen


def _echo(table: Table, scale: Scale, home: Place, away: Place) -> None:
    for name in ("near", "far"):
        home.new("cat", name=name)
    taken: dict[str, list[float]] = defaultdict(list)
    with _shown(home, "near") as near, _shown(away, "box/far") as far:
        for screen in (near, far):
            screen.settles(1.0)
            screen.types(b"\r")
            screen.settles()
        for number in range(scale.pick(10, 2)):
            for way, screen in (("near", near), ("far", far)):
                progress(f"remote echo, round {number + 1}: {way}")
                for at in range(BLOCK):
                    key = KEYS[at % len(KEYS) :][:1]
                    began_at = time.perf_counter()
                    screen.types(key)
                    screen.sees(key, 5)
                    taken[way].append(time.perf_counter() - began_at)
                    time.sleep(PAUSE)
                screen.types(b"\r")
                screen.settles()
    half = {way: statistics.median(times) for way, times in taken.items()}
    table.add(Row("echo, attach here, p50", half["near"] * 1e3, "ms"))
    table.add(Row("echo, attach through a relay, p50", half["far"] * 1e3, "ms"))
    most = percentile(taken["far"], 0.99) * 1e3
    table.add(Row("echo, attach through a relay, p99", most, "ms"))
    ratio = half["far"] / half["near"]
    table.add(Row("echo, p50, through a relay / here", ratio, "x", at_most=3))


def _output(table: Table, scale: Scale, home: Place, away: Place) -> None:
    megabytes = scale.pick(64, 16)
    text = text_file(Path(home.folder), megabytes)
    script = f"echo READY; read go; cat {text}; echo THE-END; read stay"
    rates: dict[str, list[float]] = defaultdict(list)
    for number in range(scale.pick(5, 1)):
        spent, size = _attached(Screen("sh", "-c", script))
        rates["bare"].append(size / 1e6 / spent)
        for place, lead in ((home, ""), (away, "box/")):
            progress(f"remote output, round {number + 1}: {lead or 'here'}")
            name = f"out{number}{lead[:1]}"
            home.new("sh", "-c", script, name=name)
            with place.inhabited():
                screen = Screen(*holdfast("attach", lead + name))
            spent, size = _attached(screen)
            rates[lead].append(size / 1e6 / spent)
            home.run("end", name)
    near, far = statistics.median(rates[""]), statistics.median(rates["box/"])
    # No way through two terminals is faster than through one; the channel alone is
    # measured beside the relay.
    bare = statistics.median(rates["bare"])
    table.add(Row("output, bare terminal and read loop", bare, "MB/s"))
    table.add(Row("output, attach here, bytes shown", near, "MB/s", floor=bare))
    what = "output, attach through a relay, bytes shown"
    table.add(Row(what, far, "MB/s", at_least=30, floor=near))
    what = "output, attach through a relay / bare read loop"
    table.add(Row(what, far / bare, "x"))
    what = "output, attach through a relay / here"
    table.add(Row(what, far / near, "x", at_least=0.75))


def _opening(table: Table, scale: Scale, home: Place, away: Place) -> None:
    home.new("sh", "-c", f"{FILL}; echo LAST-LINE; read stay", name="full")
    turns = Turns("remote opening")
    turns.add(PYTHON, lambda: finished([sys.executable, "-c", "pass"]))
    turns.add("attach to full paint, here", lambda: _painted(home, "full"))
    turns.add(FAR, lambda: _painted(away, "box/full"))
    turns.add("`state`, here", lambda: _said(home, "full"))
    turns.add("`state`, through a relay", lambda: _said(away, "box/full"))
    turns.run(scale.pick(20, 3))
    for what in turns.kinds:
        is_far = what == FAR
        turns.tell(table, what, 200 if is_far else None, PYTHON if is_far else None)
    turns.tell_worst(table, FAR)


def _painted(place: Place, address: str) -> float:
    began_at = time.perf_counter()
    with _shown(place, address) as screen:
        screen.sees(b"LAST-LINE", 20)
        return time.perf_counter() - began_at


def _said(place: Place, address: str) -> float:
    with place.inhabited():
        return finished(holdfast("state", address))


def _reconnecting(
    table: Table, scale: Scale, home: Place, away: Place, between: RelayPlace
) -> None:
    home.new("cat", name="again")
    taken = []
    with _shown(away, "box/again") as screen:
        screen.settles(1.0)
        for number in range(scale.pick(10, 3)):
            progress(f"relay killed and back, {number + 1}")
            between.kill()
            between.start()
            began_at = time.perf_counter()
            key = KEYS[number % len(KEYS) :][:1]
            screen.types(key)
            screen.sees(key, 20)
            taken.append(time.perf_counter() - began_at)
            screen.settles(6.0)
    half, most = statistics.median(taken), max(taken)
    table.add(Row("relay back, next key shown, p50", half, "s"))
    what = f"relay back, next key shown, worst of {len(taken)}"
    table.add(Row(what, most, "s", at_most=2))
