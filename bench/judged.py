"""What a policy costs an operator who types.

The same keys in the same session, in turns without a policy, with the example
policy, and with 1,000 rules: the file is looked at for every input, so it can be
changed in between.
"""

import os
import statistics
import time
from collections import defaultdict
from pathlib import Path

from bench.echo import BLOCK, KEYS, PAUSE
from bench.policy import rules
from bench.table import Row, Scale, Table, progress
from tests.scenarios.support import Client, apply_policy, machine

from holdfast.core.provenance.line_resolution import Shell, resolve
from holdfast.core.provenance.originators import Origins
from holdfast.core.shell.command_line import read_line
from holdfast.core.shell.shell_state import ShellState
from holdfast.linux.lookups import Digests

EXAMPLE = Path(__file__).parents[1] / "docs" / "examples" / "policy.toml"
PLAIN = b'[default]\nagent = "allow"\n'
LINE = b"sudo ls -l | grep x && python3 --version; git status"
MOST = 1.1
"""How much longer an echo may take for being judged."""


def measure(table: Table, scale: Scale) -> None:
    """Add the rows about the echo of what is judged."""
    policies = {
        "no rules": PLAIN,
        "the example policy": EXAMPLE.read_bytes(),
        "1,000 rules": PLAIN + rules(),
    }
    _lines(table, scale)
    taken: dict[str, list[float]] = defaultdict(list)
    with machine() as here:
        client = here.join(here.new("cat"))
        for number in range(scale.pick(12, 2)):
            for name, policy in policies.items():
                progress(f"echo of judged keys, round {number + 1}: {name}")
                apply_policy(policy.decode())
                taken[name] += _typed(client)
    bare = statistics.median(taken["no rules"])
    table.add(Row("echo of a judged key, no rules, p50", bare * 1e3, "ms"))
    for name in tuple(policies)[1:]:
        half = statistics.median(taken[name])
        # A thousand rules are bounded by what the gate may take.
        budget = MOST if name == "the example policy" else None
        what = f"echo of a judged key, {name} / no rules"
        table.add(Row(what, half / bare, "x", at_most=budget))


def _lines(table: Table, scale: Scale) -> None:
    """Add what it costs to find out what a whole line runs."""
    path = tuple(os.environ["PATH"].split(":"))
    state = ShellState({}, path, {}, {}, is_whole=True)
    shell = Shell(state, Origins())
    commands = read_line(LINE, ended=True)
    digests = Digests()

    def once(kept: Digests) -> float:
        began_at = time.perf_counter()
        resolve(commands, shell, kept.lookup("/"))
        return time.perf_counter() - began_at

    progress("what a line runs")
    cold = [once(Digests()) for _ in range(scale.pick(50, 5))]
    once(digests)
    warm = [once(digests) for _ in range(scale.pick(500, 50))]
    row = Row("what a line runs, p50", statistics.median(warm) * 1e3, "ms", at_most=1.0)
    table.add(row)
    first = statistics.median(cold) * 1e3
    table.add(Row("what a line runs, no digest known, p50", first, "ms", at_most=20.0))


def _typed(client: Client) -> list[float]:
    client.enter(b"\r")  # The first input after a change reads the file.
    taken = []
    for at in range(BLOCK):
        key = KEYS[at % len(KEYS) :][:1]
        client.output = b""
        began_at = time.perf_counter()
        client.post(key)
        while key not in client.output:
            client._receive(5)  # noqa: SLF001  # the hot loop of a client
        taken.append(time.perf_counter() - began_at)
        client.settle()
        time.sleep(PAUSE)
    return taken
