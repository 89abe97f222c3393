"""Time until a seize has cut off the operator who was writing.

Twice: while a program floods the screen and one client types without pause; and
while an agent sends input as fast as it can to a terminal that is full, because
nobody reads it. Another client seizes. When it hears that the turn has passed, no
earlier input is accepted any more; so this is the longest that the last accepted
byte can have taken.

HOLDFAST_TRIALS sets how often.
"""

import os
import statistics
import threading
import time
from collections.abc import Callable

from bench.table import Row, Scale, Table, percentile, progress
from tests.scenarios.support import (
    LIFE,
    PATIENCE,
    Client,
    Machine,
    apply_policy,
    machine,
)

from holdfast.model.actors import ActorKind
from holdfast.model.inputs import InputKind
from holdfast.wire import messages as wire
from holdfast.wire.codec import encode

INPUTS = 16
"""Inputs on their way when the turn is seized: less than a holder lets wait."""

PAYLOAD = b"x" * 256

PIECE = b"x" * 4000
"""One input of a flood: what a terminal that nobody reads takes at once."""

PIECES = 1000
"""Inputs of a flood: more than can be sent before the seize is heard of."""

HEAD_START = 0.03
"""Seconds of flood before the seize: the terminal is full, the line is, too."""


def measure(table: Table, scale: Scale) -> None:
    """Add the rows about seizing."""
    repeats = int(os.environ.get("HOLDFAST_TRIALS", scale.pick(200, 20)))
    with machine() as here:
        apply_policy('[default]\nagent = "allow"\n')
        taken = _while_it_prints(here, repeats)
        flooded, rate = _while_it_is_flooded(here, repeats)
    for what, figures in (("flood of output", taken), ("flood of input", flooded)):
        half, most = (percentile(figures, share) * 1e3 for share in (0.5, 0.99))
        name = f"seize to last accepted byte, {what}"
        table.add(Row(f"{name}, p50", half, "ms"))
        table.add(Row(f"{name}, p99 of {repeats}", most, "ms", at_most=50))
    table.add(Row("input sent when seized, p50", rate, "MB/s", at_least=10))


def _while_it_prints(here: Machine, repeats: int) -> list[float]:
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
    writer.close()
    seizer.close()
    here.kill("leader", session)
    return taken


def _while_it_is_flooded(here: Machine, repeats: int) -> tuple[list[float], float]:
    """Return how long each seize took, and how fast the input came."""
    session = here.new("sh", "-c", "stty raw -echo; echo ready; exec sleep 10000")
    seizer = here.join(session)
    seizer.wait_output(b"ready")
    taken, rates = [], []
    for number in range(repeats):
        progress(f"seizing from a flood, {number + 1} of {repeats}")
        bot = here.join(session, "flooder", ActorKind.AGENT)
        seizer.request(wire.Give(bot.operator.actor.id))
        bot.who()
        flood = Flood(bot)
        flood.start()
        time.sleep(HEAD_START)
        taken.append(_seized(seizer))
        rates.append(flood.sent / (time.perf_counter() - flood.began_at) / 1e6)
        flood.is_over = True
        flood.join()
        bot.close()
        here.clients.remove(bot)
    return taken, statistics.median(rates)


class Flood(threading.Thread):
    """An agent that sends as fast as it can, and reads nothing of what it is told."""

    def __init__(self, bot: Client) -> None:
        super().__init__()
        self.sent = 0
        self.began_at = 0.0
        self.is_over = False
        self._bot = bot
        self._pieces = [
            encode(
                wire.Submit(
                    client=bot.client,
                    sequence=number + 1,
                    kind=InputKind.KEYS,
                    incarnation=LIFE,
                    epoch=bot.epoch,
                    payload=PIECE,
                    seen=None,
                    waits=True,
                )
            )
            for number in range(PIECES)
        ]

    def run(self) -> None:
        """Send, until there is nothing left or nobody wants more."""
        self.began_at = time.perf_counter()
        for piece in self._pieces:
            if self.is_over:
                return
            self._bot._link.sendall(piece)  # noqa: SLF001  # the hot loop of a client
            self.sent += len(piece)


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
