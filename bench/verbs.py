"""What `run` adds to the command's own time, and how long small verbs take.

The bare command is typed into a shell on a terminal of our own, and timed until
its end is printed. `run` is timed in a client that is loaded already; what a whole
`holdfast run` takes besides is Python's start, which is shown beside it.

Small verbs are whole commands, from their start to their end, beside a bare start of
Python and beside tmux, all in turn.
"""

import os
import pty
import shutil
import statistics
import sys
import time
from collections.abc import Callable
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

from bench.screens import Tmux, finished, holdfast
from bench.table import Row, Scale, Table, percentile, progress
from bench.turns import Turns
from tests.scenarios.shells import shell
from tests.scenarios.support import Machine, machine

from holdfast.client import command_run
from holdfast.client.driver import new_client
from holdfast.core.client.command_run import Wish
from holdfast.model.ids import SessionId

PATIENCE = 20.0
LIMIT = 64 * 1024
PYTHON = "`python -c pass`"

SMALL: dict[str, Callable[[str], list[str]]] = {
    "ls": lambda _: [],
    "send": lambda session: [session, "x"],
    "state": lambda session: [session],
    "screen": lambda session: [session],
}
BOUND = ("ls", "send", "state")
BUDGET = 45
"""Milliseconds for those, from their start to their end."""

RUN_BUDGET = 60
"""Milliseconds for a whole `run` of a command that takes no time, and for `end`."""

FULL = 1_200_000
"""Bytes that fill a session's window, and a little more."""


def measure(table: Table, scale: Scale) -> None:
    """Add the rows about commands that are run."""
    rounds = scale.pick(200, 10)
    bare = _measure_bare(rounds)
    table.add(Row("`true` in a bare shell, p50", bare, "ms"))
    with machine() as here, TemporaryDirectory(prefix="hf") as home:
        session = shell(here, Path(home))
        taken = _timed("run", rounds, lambda: _run(session, b"true"))
        p50, p99 = statistics.median(taken), percentile(taken, 0.99)
        table.add(
            Row("`run true` over the bare command, p50", p50 - bare, "ms", at_most=20)
        )
        table.add(Row("`run true`, p99", p99, "ms"))
        _run(session, f"head -c {FULL} /dev/zero | tr '\\0' x".encode())
        taken = _timed("run, window full", rounds, lambda: _run(session, b"true"))
        full = statistics.median(taken) - bare
        table.add(Row("the same, with the window full, p50", full, "ms", at_most=20))
        _measure_whole(table, here, session, scale.pick(25, 3))
    _measure_small(table, scale.pick(25, 3))


def _measure_small(table: Table, rounds: int) -> None:
    """Add the rows about commands that ask or type one thing."""
    turns = Turns("small verbs")
    with (
        machine() as here,
        TemporaryDirectory(prefix="hf") as folder,
        ExitStack() as ends,
    ):
        session = here.new("sh", "-c", "stty -echo; exec cat >/dev/null")
        turns.add(PYTHON, lambda: finished([sys.executable, "-c", "pass"]))
        for verb, words in SMALL.items():
            command = holdfast(verb, *words(session))
            turns.add(f"`{verb}`", partial(finished, command))
        if shutil.which("tmux"):
            tmux = Tmux(Path(folder))
            ends.callback(tmux.close)
            listing, typing = (
                tmux.words("ls"),
                tmux.words("send-keys", "-t", "keep", "x"),
            )
            turns.add("tmux ls", lambda: finished(listing))
            turns.add("tmux send-keys", lambda: finished(typing))
        turns.run(rounds)
    for what in turns.kinds:
        is_bound = what.strip("`") in BOUND
        most, beside = (BUDGET, PYTHON) if is_bound else (None, None)
        turns.tell(table, what, most, beside)
    for verb in BOUND:
        turns.tell_ratio(table, f"`{verb}`", PYTHON, at_most=4)


def _measure_whole(
    table: Table, here: Machine, session: SessionId, rounds: int
) -> None:
    """Add the rows about whole commands that run something, or end it."""
    turns = Turns("run and end")
    waiting = [here.new("sh", "-c", "read stay") for _ in range(rounds + 1)]
    turns.add(PYTHON, lambda: finished([sys.executable, "-c", "pass"]))
    turns.add("`run true`", lambda: finished(holdfast("run", session, "true")))
    turns.add("`end`", lambda: finished(holdfast("end", waiting.pop())))
    turns.run(rounds)
    for what in ("`run true`", "`end`"):
        turns.tell(table, what, RUN_BUDGET, PYTHON)


def _run(session: SessionId, line: bytes) -> None:
    deadline = time.monotonic() + PATIENCE
    client = new_client()
    command_run.run(session, client, line, Wish(LIMIT), deadline)


def _measure_bare(rounds: int) -> float:
    """Return how many milliseconds a shell takes from Enter to its next prompt."""
    child, terminal = pty.fork()
    if child == 0:
        os.environ["PS1"] = "<ready>"
        os.execvp("bash", ["bash", "--norc", "--noprofile"])  # noqa: S606, S607
    _read_until(terminal, b"<ready>")

    def true() -> None:
        os.write(terminal, b"true\r")
        _read_until(terminal, b"<ready>")

    taken = _timed("bare", rounds, true)
    os.close(terminal)
    os.waitpid(child, 0)
    return statistics.median(taken)


def _read_until(terminal: int, wanted: bytes) -> None:
    seen = b""
    while wanted not in seen:
        seen += os.read(terminal, 4096)


def _timed(what: str, rounds: int, do: Callable[[], object]) -> list[float]:
    taken = []
    for number in range(rounds):
        progress(f"{what}, {number + 1} of {rounds}")
        began_at = time.perf_counter()
        do()
        taken.append((time.perf_counter() - began_at) * 1e3)
    return taken
