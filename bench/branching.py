"""Time to fork a session until both halves answer, and to preview a command.

Through the SDK. What is forked is a shell with a Python REPL, and both answer a line.
"""

import statistics
import time

from bench.table import Row, Scale, Table, progress
from tests.scenarios.support import machine

from holdfast import sync
from holdfast.linux.capsule import trial
from holdfast.linux.criu.program import find

PATIENCE = 60.0
FORK_MS, PREVIEW_MS = 500.0, 800.0


def measure(table: Table, scale: Scale) -> None:
    """Add the rows about branches and previews."""
    if find().program is None or trial.why_not():
        table.note("nothing is forked: no CRIU, or no capsules")
        return
    rounds = scale.pick(9, 3)
    with machine(), sync.connect() as host:
        forks, previews = [], []
        for number in range(rounds):
            progress(f"forks and previews, {number + 1} of {rounds}")
            forks.append(_forked(host))
            previews.append(_previewed(host))
    fork, preview = (statistics.median(one) * 1000 for one in (forks, previews))
    table.add(Row("fork, until both prompts answer", fork, "ms", at_most=FORK_MS))
    table.add(Row("preview of `true`", preview, "ms", at_most=PREVIEW_MS))


def _forked(host: sync.Host) -> float:
    with host.create(["bash", "--norc"], runtime="capsule") as session:
        session.send("python3 -q\n")
        session.wait_for(">>> ", timeout=PATIENCE)
        began_at = time.perf_counter()
        with session.fork() as branch:
            for one in (session, branch):
                one.send("print(6 * 7)\n")
            for one in (session, branch):
                one.wait_for("42", timeout=PATIENCE)
            taken = time.perf_counter() - began_at
            branch.discard()
        session.end()
    return taken


def _previewed(host: sync.Host) -> float:
    with host.create(["bash"], runtime="capsule") as session:
        session.wait_prompt(timeout=PATIENCE)
        began_at = time.perf_counter()
        session.preview("true")
        taken = time.perf_counter() - began_at
        session.end()
    return taken
