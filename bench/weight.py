"""How much memory does a session cost that does nothing?

PSS: what many share is divided among them, so it falls as they grow in number.
The shell is not counted; keeper, nursery and trustee are, over all sessions.
"""

import statistics

from bench.processes import holders, pss
from bench.table import Row, Scale, Table, progress
from tests.scenarios.support import OURS, Machine, machine


def measure(table: Table, scale: Scale) -> None:
    """Add the rows about memory."""
    with machine() as here:
        for count in (20, scale.pick(200, 40)):
            _fill(here, count)
            _weigh(table, here)


def _fill(here: Machine, count: int) -> None:
    for number in range(len(holders()), count):
        progress(f"weight, session {number + 1} of {count}")
        here.new("sleep", "10000")


def _weigh(table: Table, here: Machine) -> None:
    weights = [pss(pid) for pid in holders()]
    count, each = len(weights), statistics.mean(weights)
    what = f"memory of an idle session, PSS, mean of {count}"
    table.add(Row(what, each, "MiB", at_most=1.5))
    shared = sum(pss(here.pid(one)) for one in OURS)
    what = f"  {', '.join(OURS)}, over {count}"
    table.add(Row(what, shared / count, "MiB"))
