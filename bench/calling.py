"""How soon a client is told of a call that a program has printed.

A bell waits a moment after a key; a notification does not. Both are printed while
nobody types, and the second while another program floods the terminal as well.
"""

import os
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from bench.table import Row, Scale, Table, percentile, progress
from tests.scenarios.support import Client, Machine, machine

from holdfast.model.events import EventName
from holdfast.model.ids import SessionId
from holdfast.wire import messages as wire

BUDGET = 250.0
"""Milliseconds."""

PAUSE = 2.1
"""Seconds between calls once the first ones are used up: they are told no sooner."""


def measure(table: Table, scale: Scale) -> None:
    """Add the rows about calls for somebody."""
    rounds = scale.pick(20, 3)
    with machine() as here:
        session, terminal = _printing(here)
        quiet = [*_taken(here, session, terminal, rounds, "quiet")]
        with _flood(terminal):
            loud = [*_taken(here, session, terminal, rounds, "flood")]
    for what, taken in (("", quiet), (" amid a flood", loud)):
        for share, name in ((0.5, "p50"), (1.0, "worst")):
            told = percentile(taken, share) * 1e3
            row = f"a call printed{what}, until a client is told, {name}"
            table.add(Row(row, told, "ms", at_most=BUDGET))


def _printing(here: Machine) -> tuple[SessionId, Path]:
    session = here.new("sh", "-c", "tty; exec sleep 600")
    client = here.join(session)
    client.wait_output(b"\n")
    client.close()
    return session, Path(client.output.decode().split()[0])


def _taken(
    here: Machine, session: SessionId, terminal: Path, rounds: int, how: str
) -> Iterator[float]:
    client = here.join(session)
    for number in range(rounds):
        progress(f"calls, {how}, {number} of {rounds}")
        time.sleep(PAUSE)
        client.who()
        begin = time.monotonic()
        with terminal.open("wb", buffering=0) as out:
            out.write(b"\x1b]9;%s %d\x07" % (how.encode(), number))
        _told(client)
        yield time.monotonic() - begin
    client.close()


def _told(client: Client) -> None:
    while client.wait(wire.Event).name != EventName.ATTENTION_CALLED:
        pass


@contextmanager
def _flood(terminal: Path) -> Iterator[None]:
    is_over = threading.Event()

    def print_on() -> None:
        line = b"The quick brown fox jumps over the lazy dog.\n" * 80
        out = os.open(terminal, os.O_WRONLY | os.O_NOCTTY)
        while not is_over.is_set():
            os.write(out, line)
            time.sleep(0.001)
        os.close(out)

    printing = threading.Thread(target=print_on)
    printing.start()
    try:
        yield
    finally:
        is_over.set()
        printing.join()
