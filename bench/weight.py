"""Memory of a session that does nothing.

PSS: what many share is divided among them, so it falls as they grow in number.
The shell is not counted; keeper, nursery, trustee and dozer are, over all sessions.
A session that dozes has no process of ours; one that is awake has a holder.
"""

import statistics

from bench.processes import holders, pss
from bench.table import Row, Scale, Table, progress
from tests.scenarios.dozing import dozing_machine, set_to, wait_dozing
from tests.scenarios.support import OURS, Machine, machine

from holdfast.holder.doze import NEVER

MANY = 100
"""Sessions from which on the budget holds: they share what there is one of."""

SOON = 1.0
"""Seconds after which sessions doze here."""


def measure(table: Table, scale: Scale) -> None:
    """Add the rows about memory."""
    with dozing_machine(SOON) as here:
        for count in (20, scale.pick(100, 40)):
            _fill(here, count)
            wait_dozing(here, count)
            _weigh_dozing(table, here, count)
    with set_to(NEVER), machine() as here:
        _fill(here, scale.pick(100, 20))
        _weigh_awake(table, here)


def _fill(here: Machine, count: int) -> None:
    for number in range(len(holders()), count):
        progress(f"weight, session {number + 1} of {count}")
        here.new("sleep", "10000")


def _weigh_dozing(table: Table, here: Machine, count: int) -> None:
    pids = [*map(here.pid, OURS), int(str(here.ask(do="status")["dozer"]))]
    each = sum(map(pss, pids)) / count
    what = f"memory of an idle session, dozing, PSS, of {count}"
    most = 1.0 if count >= MANY else None
    table.add(Row(what, each, "MiB", at_most=most))
    parts = ", ".join(f"{pss(pid):.1f}" for pid in pids)
    table.note(f"{', '.join((*OURS, 'dozer'))} with {count} sessions: {parts} MiB")


def _weigh_awake(table: Table, here: Machine) -> None:
    weights = [pss(pid) for pid in holders()]
    count, each = len(weights), statistics.mean(weights)
    table.add(Row(f"  the same awake: its holder, mean of {count}", each, "MiB"))
    shared = sum(pss(here.pid(one)) for one in OURS)
    what = f"  {', '.join(OURS)}, over {count}"
    table.add(Row(what, shared / count, "MiB"))
