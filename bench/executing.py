"""What does an exec cost that is judged first?

The same program executes `true` again and again, in a session without an exec gate
and in sessions with one: where nothing needs to be judged, and where rules look at
the words of every exec. All three are measured in turns.
"""

import os
import statistics
from collections import defaultdict
from pathlib import Path

from bench.table import Row, Scale, Table, progress
from tests.scenarios.gated import gated
from tests.scenarios.support import Client, Machine, apply_policy, machine

from holdfast.linux import exec_gate

EXECS = 200
MOST_MS = 0.3
"""Milliseconds that the gate may add to an exec."""

PROGRAM = """
import os, sys, time
while line := sys.stdin.readline():
    began = time.perf_counter()
    for number in range({count}):
        word = str(began + number) if "other" in line else "same"
        pid = os.posix_spawn("/bin/true", ["true", word], {{}})
        os.waitpid(pid, 0)
    print("took", (time.perf_counter() - began) / {count}, "s", flush=True)
"""

RULES = """
[[rule]]
verdict = "deny"
first = ["rm", "mkfs", "dd"]

[[rule]]
verdict = "ask"
sequence = "git push"
"""


def measure(table: Table, scale: Scale) -> None:
    """Add the rows about execs."""
    if why := exec_gate.why_not():
        table.note(f"no exec is judged here: {why}")
        return
    taken: dict[str, list[float]] = defaultdict(list)
    with machine() as here:
        bare, judged = _session(here, is_gated=False), _session(here, is_gated=True)
        holder, rounds = here.pid("holder", judged.session), scale.pick(25, 3)
        for number in range(rounds):
            progress(f"execs, round {number + 1}")
            taken["bare"].append(_round(bare))
            _policy("")
            taken["unruled"].append(_round(judged))
            _policy(RULES)
            before = _used(holder)
            taken["judged"].append(_round(judged, b"other\r"))
            taken["used"].append((_used(holder) - before) / EXECS)
            taken["again"].append(_round(judged))
    plain = statistics.median(taken["bare"])
    table.add(Row("exec of a small program, no gate, p50", plain * 1e3, "ms"))
    for name, what in (
        ("unruled", "no rules"),
        ("judged", "by new words"),
        ("again", "by the same words"),
    ):
        half = statistics.median(taken[name])
        added = f"added to an exec by the gate, {what}, p50"
        table.add(Row(added, (half - plain) * 1e3, "ms", at_most=MOST_MS))
        table.add(Row(f"exec with the gate, {what} / without", half / plain, "x"))

    used = statistics.mean(taken["used"])
    what = "processor time of the holder for an exec, by new words"
    table.add(Row(what, used * 1e3, "ms"))


def _used(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _session(here: Machine, *, is_gated: bool) -> Client:
    program = PROGRAM.format(count=EXECS)
    command = ("python3", "-c", program)
    client = here.join(gated(here, *command) if is_gated else here.new(*command))
    _round(client)
    return client


def _round(client: Client, line: bytes = b"\r") -> float:
    client.output = b""
    client.enter(line)
    said = client.wait_output(b" s\r\n")
    return float(said.partition(b"took ")[2].split()[0])


def _policy(text: str) -> None:
    apply_policy(text)
