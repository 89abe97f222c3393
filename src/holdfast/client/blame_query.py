"""Finds out who is behind something in a session.

The holder knows who ran the command of a moment, and who changed what in the shell.
What takes time is done here: files are looked at on our side, and a process is
traced to where it left the shell, in the graph that the holder gives.
"""

from collections.abc import Iterable
from typing import NamedTuple

from holdfast.client.calls import blame
from holdfast.core.provenance.lineage import ProcessStart, Root, roots
from holdfast.linux.file_facts import FileFact, look
from holdfast.linux.procfs import TICKS
from holdfast.wire.blame import BlameReport
from holdfast.wire.graphs import Graph, Process

NS_IN_MS = 1_000_000


class Traced(NamedTuple):
    """A process, where it comes from, and who is behind that."""

    process: Process
    root: Root
    is_leader: bool
    report: BlameReport


class Touched(NamedTuple):
    """A file or a link, and who ran the command when it was last changed."""

    fact: FileFact
    report: BlameReport


def file(session: str, path: str) -> list[Touched]:
    """Return who was at it when a file, and each link to it, was last changed.

    Raises:
        OSError: There is no such file.
        HoldfastError: As `ask` does.

    """
    return [
        Touched(fact, blame(session, "moment", at_ms=fact.ctime_ns // NS_IN_MS))
        for fact in look(path)
    ]


def processes(
    session: str, leader: int, pids: Iterable[int], seen: Graph
) -> list[Traced]:
    """Return who is behind these processes, as far as they are in the graph."""
    starts = (
        ProcessStart(one.pid, one.parent, one.started_ticks) for one in seen.processes
    )
    found = roots(starts, leader)
    known = {one.pid: one for one in seen.processes}
    return [
        _traced(session, known[pid], found[pid], leader) for pid in pids if pid in known
    ]


def _traced(session: str, process: Process, root: Root, leader: int) -> Traced:
    report = blame(session, "process", at_ms=root.started * 1000 // TICKS)
    return Traced(process, root, root.pid == leader, report)
