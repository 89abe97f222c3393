"""Cost of an exec that is judged first.

The same program executes `true` again and again, in a session without an exec gate
and in sessions with one: where nothing needs to be judged, where rules look at the
words of every exec, and where nothing is allowed but by a rule about the program.
Beside them are two notifiers that say yes to everything (bench/exec_peer.py); the
second reads every exec and compares it as the gate does, and so shows how much is left
for judging. All are measured in turns, and each round is the median of its execs.
"""

import contextlib
import statistics
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterator
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
    taken = []
    for number in range({count}):
        began = time.perf_counter()
        word = str(began) if "other" in line else "same"
        pid = os.posix_spawn("/bin/true", ["true", word], {{}})
        os.waitpid(pid, 0)
        taken.append(time.perf_counter() - began)
    print("took", sorted(taken)[{count} // 2], "s", flush=True)
"""

RULES = """
[[rule]]
verdict = "deny"
first = ["rm", "mkfs", "dd"]

[[rule]]
verdict = "ask"
sequence = "git push"

[[rule]]
verdict = "deny"
sequence = "true stop"
"""

ALLOWING = """
[default]
human = "deny"

[[rule]]
verdict = "allow"
input = ["keys", "resize", "signal"]

[[rule]]
verdict = "allow"
first = ["true", "ls", "git"]
at = "exec"
"""


def measure(table: Table, scale: Scale) -> None:
    """Add the rows about execs."""
    if why := exec_gate.why_not():
        table.note(f"no exec is judged here: {why}")
        return
    taken: dict[str, list[float]] = defaultdict(list)
    with machine() as here, _peer("yes") as yes, _peer("compare") as compare:
        bare, judged = _session(here, is_gated=False), _session(here, is_gated=True)
        holder, rounds = here.pid("holder", judged.session), scale.pick(25, 3)
        for number in range(rounds):
            progress(f"execs, round {number + 1}")
            taken["bare"].append(_round(bare))
            taken["yes"].append(_peer_round(yes))
            taken["compare"].append(_peer_round(compare))
            _policy("")
            taken["unruled"].append(_round(judged))
            _policy(RULES)
            before = _used(holder)
            taken["judged"].append(_round(judged, b"other\r"))
            taken["used"].append((_used(holder) - before) / EXECS)
            taken["again"].append(_round(judged))
            _policy(ALLOWING)
            taken["allowed"].append(_round(judged, b"other\r"))
    _tell(table, taken)


def _tell(table: Table, taken: dict[str, list[float]]) -> None:
    plain = statistics.median(taken["bare"])
    table.add(Row("exec of a small program, no gate, p50", plain * 1e3, "ms"))
    for name, what in (("yes", "says yes"), ("compare", "compares and says yes")):
        half = statistics.median(taken[name]) - plain
        table.add(Row(f"added by a notifier that {what}, p50", half * 1e3, "ms"))
    for name, what in (
        ("unruled", "no rules"),
        ("judged", "by new words"),
        ("again", "by the same words"),
        ("allowed", "by new words, allowed by a rule"),
    ):
        half = statistics.median(taken[name])
        added = f"added to an exec by the gate, {what}, p50"
        peer = taken["yes" if name == "unruled" else "compare"]
        floor = (statistics.median(peer) - plain) * 1e3
        ours = (half - plain) * 1e3
        table.add(Row(added, ours, "ms", at_most=MOST_MS, floor=floor))
        table.add(Row(f"exec with the gate, {what} / without", half / plain, "x"))

    used = statistics.mean(taken["used"])
    what = "processor time of the holder for an exec, by new words"
    table.add(Row(what, used * 1e3, "ms"))


def _used(pid: int) -> float:
    return int(Path(f"/proc/{pid}/schedstat").read_text().split()[0]) / 1e9


def _session(here: Machine, *, is_gated: bool) -> Client:
    program = PROGRAM.format(count=EXECS)
    command = ("python3", "-c", program)
    client = here.join(gated(here, *command) if is_gated else here.new(*command))
    _round(client)
    return client


@contextlib.contextmanager
def _peer(how: str) -> Iterator[subprocess.Popen[bytes]]:
    command = ("python3", "-c", PROGRAM.format(count=EXECS))
    with subprocess.Popen(  # noqa: S603  # our own
        [sys.executable, "-m", "bench.exec_peer", how, *command],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    ) as peer:
        _peer_round(peer)
        yield peer
        peer.kill()


def _peer_round(peer: subprocess.Popen[bytes]) -> float:
    assert peer.stdin is not None  # noqa: S101  # as asked for
    assert peer.stdout is not None  # noqa: S101  # as asked for
    peer.stdin.write(b"other\n")
    peer.stdin.flush()
    return float(peer.stdout.readline().split()[1])


def _round(client: Client, line: bytes = b"\r") -> float:
    client.output = b""
    client.enter(line)
    said = client.wait_output(b" s\r\n")
    return float(said.partition(b"took ")[2].split()[0])


def _policy(text: str) -> None:
    apply_policy(text)
