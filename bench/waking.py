"""The wait for a first answer when attaching to a session that dozes.

Beside the same for a session that is awake, each in turn: the difference is the wake.
"""

import statistics
import time

from bench.table import Row, Scale, Table, progress
from tests.scenarios.dozing import dozing_machine, leave, wait_dozing
from tests.scenarios.support import Client, Machine

from holdfast.linux.stored import places
from holdfast.model.ids import SessionId

SOON = 1.0
"""Seconds after which sessions doze here."""

ENTRIES = 300
"""Lines typed into the session whose book is long."""


def measure(table: Table, scale: Scale) -> None:
    """Add the rows about waking."""
    with dozing_machine(SOON) as here:
        count = scale.pick(100, 10)
        sessions = [here.new("cat") for _ in range(count)]
        awake = here.join(sessions[0]).session
        wait_dozing(here, count - 1)
        asleep, other = [], []
        for number, session in enumerate(sessions[1:]):
            progress(f"waking, session {number + 1} of {count - 1}")
            asleep.append(_answered(session))
            other.append(_answered(awake))
        for what, took in (("dozing", asleep), ("awake", other)):
            half, worst = statistics.median(took), _percentile(took, 0.99)
            table.add(
                Row(
                    f"attach to a session, {what}, to its first answer, p50", half, "ms"
                )
            )
            most = 100 if what == "dozing" else None
            table.add(Row("  p99", worst, "ms", at_most=most))
        _long_book(table, here, count)


def _answered(session: SessionId) -> float:
    began_at = time.perf_counter()
    client = Client(session)
    took = (time.perf_counter() - began_at) * 1e3
    client.close()
    return took


def _long_book(table: Table, here: Machine, count: int) -> None:
    session = here.new("cat")
    client = here.join(session)
    for number in range(ENTRIES):
        client.enter(b"line %d\r" % number)
    leave(client)
    wait_dozing(here, count)
    entries = places.session_log(session).read_bytes().count(b"\n")
    took = _answered(session)
    table.add(Row(f"  one with {entries} entries in its book", took, "ms"))


def _percentile(found: list[float], part: float) -> float:
    return sorted(found)[min(len(found) - 1, int(len(found) * part))]
