"""Do two thousand sessions live on one machine, and what do they cost at rest?

Their leaders only sleep. What is counted is ours; the memory is that of all of it.
"""

import resource
import signal
import statistics
import subprocess
import time
from pathlib import Path

from bench.processes import holders, ours, pss, worked
from bench.screens import NeverCame, holdfast
from bench.table import Row, Scale, Table, progress
from tests.scenarios.attached_link import attach, messages
from tests.scenarios.dozing import dozing_machine
from tests.scenarios.support import PATIENCE, Machine, eventually

from holdfast.client import keeper
from holdfast.client.driver import attachment_to
from holdfast.host.metrics import collect
from holdfast.model.ids import SessionId
from holdfast.model.session_requests import Status
from holdfast.wire.messages import End, Exited

WATCHED = 10.0
"""Seconds of rest that are watched: long enough for any timer of ours."""

SPARE = 200
"""Terminals, processes and descriptors left to other users of the machine."""

FDS = 6
"""Descriptors the keeper needs for a session: four kept, its link, one in passing."""

MEMORY = 4 * 1024
"""Kilobytes of memory that must be free for each session, or we ask for fewer."""

SCRAPES = 20
EVERY = 15.0
"""Seconds between two scrapes, as in the example settings of Prometheus."""

SOON = 5.0
"""Seconds after which sessions doze here: else the first figures are of holders."""


def measure(table: Table, scale: Scale) -> None:
    """Add the rows about many sessions at once."""
    count = _possible(table, scale.sessions)
    with dozing_machine(SOON) as here:
        shared = _shared_memory()
        sessions, births = _create(here, count)
        # A smaller number says nothing about 2,000.
        budget = 2000 if scale.sessions >= 2000 else None
        table.add(Row("sessions live at once", len(holders()), "", at_least=budget))
        _fall_asleep(table, count)
        table.add(Row(f"  {count} made, one after another", sum(births), "s"))
        tenth = max(1, count // 10)
        for which, some in (("first", births[:tenth]), ("last", births[-tenth:])):
            half = statistics.median(some) * 1e3
            table.add(Row(f"  one of the {which} {tenth} made, p50", half, "ms"))
        _list(table, count)
        _rest(table, count, shared)
        _scrape(table, count)
        _end(table, here, sessions)


def _possible(table: Table, wanted: int) -> int:
    """Return how many sessions this machine has room for."""
    files = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    room = {
        "terminals": _limit("kernel/pty/max") - _limit("kernel/pty/nr") - SPARE,
        "processes": (_limit("kernel/pid_max") - _processes() - SPARE) // 2,
        "open files": (files - SPARE) // FDS,
        "free memory": _free_memory() // MEMORY,
    }
    least = min(room, key=lambda name: room[name])
    if room[least] >= wanted:
        return wanted
    table.note(f"{room[least]} sessions instead of {wanted}: not enough {least}")
    return max(1, room[least])


def _limit(name: str) -> int:
    return int(Path("/proc/sys", name).read_text())


def _processes() -> int:
    return sum(1 for _ in Path("/proc").glob("[0-9]*"))


def _free_memory() -> int:
    for line in Path("/proc/meminfo").read_text().splitlines():
        if line.startswith("MemAvailable:"):
            return int(line.split()[1])
    return 0


def _create(here: Machine, count: int) -> tuple[list[SessionId], list[float]]:
    sessions, births = [], []
    for number in range(count):
        progress(f"many, session {number + 1} of {count}")
        began_at = time.perf_counter()
        sessions.append(here.new("sleep", "100000"))
        births.append(time.perf_counter() - began_at)
    return sessions, births


def _list(table: Table, count: int) -> None:
    began_at = time.perf_counter()
    shown = subprocess.run(  # noqa: S603  # our own program
        holdfast("ls"), check=True, stdout=subprocess.PIPE
    )
    spent = (time.perf_counter() - began_at) * 1e3
    lines = len(shown.stdout.splitlines()) - 1
    table.add(Row(f"  `ls` of {lines}", spent, "ms"))
    if lines != count:
        table.note(f"`ls` shows {lines} sessions of {count}")


def _fall_asleep(table: Table, count: int) -> None:
    began_at = time.perf_counter()
    last = -1
    while (asleep := int(keeper.request(Status())["dozing"])) < count:
        progress(f"many, {asleep} of {count} doze")
        if asleep > last:
            last, began_at = asleep, time.perf_counter()
        elif time.perf_counter() - began_at > 60:  # no more come
            table.note(f"only {asleep} of {count} sessions doze")
            break
        time.sleep(0.5)


def _rest(table: Table, count: int, shared: float) -> None:
    pids = ours()
    _settle(pids)
    before = worked(pids)
    time.sleep(WATCHED)
    share = (worked(pids) - before) / WATCHED * 100
    what = f"  processor used by {count} at rest, of one core"
    table.add(Row(what, share, "%", at_most=1))
    total = sum(pss(pid) for pid in pids)
    table.add(Row(f"  memory of all {len(pids)} processes of ours, PSS", total, "MiB"))
    leaders = sum(pss(one.pid) for one in keeper.sessions())
    table.add(Row("  memory of their leaders, PSS", leaders, "MiB"))
    windows = _shared_memory() - shared
    table.add(Row("  memory of their windows", windows, "MiB"))
    what = "  memory in all"
    most = 2500 if count >= 2000 else None  # the budget is of so many
    table.add(Row(what, total + leaders + windows, "MiB", at_most=most))


def _scrape(table: Table, count: int) -> None:
    """Collect metrics as Prometheus would, and measure what that costs."""
    pids = ours()
    asleep = keeper.status().dozing
    collect()
    before, began = worked(pids), time.process_time()
    for _ in range(SCRAPES):
        collect()
    own = (time.process_time() - began) / SCRAPES
    cost = own + (worked(pids) - before) / SCRAPES
    table.add(Row(f"  metrics of {count}, collected once", cost * 1e3, "ms"))
    what = f"  metrics of {count} every {EVERY:g} s, of one core"
    table.add(Row(what, cost / EVERY * 100, "%", at_most=1))
    woken = asleep - keeper.status().dozing
    table.add(Row("  sessions woken by that", woken, "", at_most=0))


def _shared_memory() -> float:
    """Return the MiB of memory that files without a disk occupy on this machine."""
    for line in Path("/proc/meminfo").read_text().splitlines():
        if line.startswith("Shmem:"):
            return int(line.split()[1]) / 1024
    return 0.0


def _settle(pids: list[int]) -> None:
    """Wait until what creating them left to do is done."""
    last = worked(pids)
    for _ in range(30):
        time.sleep(1)
        now = worked(pids)
        if now - last < 0.01:
            return
        last = now


def _end(table: Table, here: Machine, sessions: list[SessionId]) -> None:
    began_at = time.perf_counter()
    for number, session in enumerate(sessions):
        progress(f"many, ending {number + 1} of {len(sessions)}")
        _end_one(session)
        here.ask(do="forget", id=session)
    eventually("all are gone", lambda: not keeper.sessions())
    spent = time.perf_counter() - began_at
    table.add(Row(f"  {len(sessions)} ended, one after another", spent, "s"))


def _end_one(session: SessionId) -> None:
    link, _ = attach(attachment_to(session))
    with link:
        link.send(End(signal.SIGHUP, leave=False))
        for message in messages(link, time.monotonic() + PATIENCE):
            if isinstance(message, Exited):
                return
    raise NeverCame(b"the end", session.encode())
