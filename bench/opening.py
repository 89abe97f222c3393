"""How long a user waits: for a session made, or shown in full.

Beside each stand a bare start of Python, which is part of it, and what tmux takes for
the same, all in turn in one run.
"""

import shutil
import sys
import time
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory

from bench.screens import Screen, Tmux, finished, holdfast
from bench.table import Scale, Table
from bench.turns import Turns
from tests.scenarios.support import Machine, machine

from holdfast.linux.capsule import trial

FILL = "yes 'a line of output, long enough to be one of many' | head -c 3000000"
"""Prints three times what the window keeps."""

PYTHON = "`python -c pass`"
ATTACH = "attach to full paint, window full"
PRINTED = "attach to full paint, something printed before it"
NEW = "`new --detach`, keeper up"
CAPSULE = "`new --capsule --detach`, keeper up"


def measure(table: Table, scale: Scale) -> None:
    """Add the rows about waiting for the command line."""
    repeats = scale.pick(25, 3)
    turns = Turns("opening")
    with (
        machine() as here,
        TemporaryDirectory(prefix="hf") as folder,
        ExitStack() as ends,
    ):
        session = here.new("sh", "-c", f"{FILL}; echo LAST-LINE; read stay")
        talking = here.new("sh", "-c", f"{FILL}; while read x; do echo SAID; done")
        turns.add(PYTHON, lambda: finished([sys.executable, "-c", "pass"]))
        turns.add(ATTACH, lambda: _shown(session, b"LAST-LINE"))
        turns.add(PRINTED, lambda: _printed(talking))
        turns.add(
            NEW, lambda: finished(holdfast("new", "--detach", "--", "sleep", "1"))
        )
        if not trial.why_not():
            words = holdfast("new", "--capsule", "--detach", "--", "sleep", "1")
            turns.add(CAPSULE, lambda: finished(words))
        turns.add("a session made, at the keeper alone", lambda: _asked(here))
        if shutil.which("tmux"):
            tmux = Tmux(Path(folder))
            ends.callback(tmux.close)
            tmux.new("full", f"{FILL}; echo LAST-LINE; read stay")
            turns.add("tmux attach, the same", lambda: _tmux_shown(tmux))
            made = tmux.words("new-session", "-d", "sleep 1")
            turns.add("tmux new -d", lambda: finished(made))
        turns.run(repeats)
    budgets = {ATTACH: 60, NEW: 50, CAPSULE: 110}
    for what in turns.kinds:
        turns.tell(table, what, budgets.get(what), PYTHON if what in budgets else None)
    turns.tell_ratio(table, ATTACH, PYTHON, at_most=4)
    turns.tell_worst(table, ATTACH)


def _shown(session: str, mark: bytes) -> float:
    began_at = time.perf_counter()
    with Screen(*holdfast("attach", session)) as screen:
        screen.sees(mark)
        return time.perf_counter() - began_at


def _printed(session: str) -> float:
    """Time an attach that has no picture of the last attach to use."""
    finished(holdfast("send", session, "--enter", "x"))
    return _shown(session, b"SAID")


def _tmux_shown(tmux: Tmux) -> float:
    began_at = time.perf_counter()
    with tmux.attach("full") as screen:
        screen.sees(b"LAST-LINE")
        return time.perf_counter() - began_at


def _asked(here: Machine) -> float:
    began_at = time.perf_counter()
    here.new("sleep", "1")
    return time.perf_counter() - began_at
