"""How long until a seize has cut off whoever was writing?

While a program floods the screen and one client types without pause, another
seizes. When it hears that the turn has passed, no earlier input is accepted any
more; so this is the longest that the last accepted byte can have taken.
"""

import statistics
import time
from collections.abc import Callable

from bench.table import Row, Scale, Table, percentile, progress
from tests.scenarios.support import PATIENCE, Client, machine

from holdfast.wire import messages as wire

INPUTS = 16
"""Inputs on their way when the turn is seized: less than a holder lets wait."""

PAYLOAD = b"x" * 256


def measure(table: Table, scale: Scale) -> None:
    """Add the rows about seizing."""
    repeats = scale.pick(200, 20)
    with machine() as here:
        session = here.new("sh", "-c", "stty raw -echo; yes & exec cat > /dev/null")
        writer, seizer = here.join(session), here.join(session)
        writer.enter(PAYLOAD)  # Takes the free turn, which is no seizing.
        taken = []
        for number in range(repeats):
            progress(f"seizing, {number + 1} of {repeats}")
            _catch_up(writer, seizer)
            for _ in range(INPUTS):
                writer.post(PAYLOAD)
            taken.append(_seized(seizer))
    half, most = statistics.median(taken) * 1e3, percentile(taken, 0.99) * 1e3
    table.add(Row("seize to last accepted byte, under flood, p50", half, "ms"))
    what = f"seize to last accepted byte, p99 of {repeats}"
    table.add(Row(what, most, "ms", at_most=50))


def _seized(seizer: Client) -> float:
    before = seizer.epoch
    began_at = time.perf_counter()
    seizer.send(wire.Seize(wire.Halt.NONE))
    _hear_until(seizer, lambda: seizer.epoch != before)
    return time.perf_counter() - began_at


def _catch_up(writer: Client, seizer: Client) -> None:
    """Let both learn of the epoch: the writer's inputs are to be taken again."""
    _hear_until(writer, lambda: writer.epoch >= seizer.epoch)
    _hear_until(seizer, lambda: seizer.epoch >= writer.epoch)


def _hear_until(client: Client, is_done: Callable[[], bool]) -> None:
    deadline = time.monotonic() + PATIENCE
    while not is_done():
        if time.monotonic() > deadline:
            raise TimeoutError("the turn did not pass")
        client.output = b""
        client._receive(PATIENCE)  # noqa: SLF001  # the hot loop of a client
