"""Who is behind something in a session?

The holder knows who ran the command of a moment, and who changed what in the shell.
What takes time is done here: files are looked at on our side, and a process is
traced to where it left the shell, in the graph that the holder gives.
"""

from collections.abc import Iterable
from functools import partial
from typing import NamedTuple

from holdfast.client.attaching import messages
from holdfast.client.connection import Connection
from holdfast.client.looking import PATIENCE, persist, silent
from holdfast.core.lineage import Kin, Root, roots
from holdfast.linux.file_facts import FileFact, look
from holdfast.linux.procfs import TICKS
from holdfast.wire.blame import BlameReport, BlameRequest
from holdfast.wire.codec import error_from
from holdfast.wire.frames import FrameKind
from holdfast.wire.graphs import Graph, Process
from holdfast.wire.messages import MAX_NUMBER, Refuse

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


def ask(session: str, what: str, name: str = "", at_ms: int = 0) -> BlameReport:
    """Return who is behind something, as the session's holder knows it.

    Raises:
        Unavailable: The session cannot be reached, or does not answer.
        Forbidden: We may not observe it.
        UsageError: Its shell tells nothing, or the name is too long.

    """
    at_ms = min(max(at_ms, 0), MAX_NUMBER)
    asked = BlameRequest(what=what, name=name, at_ms=at_ms)
    return persist(session, partial(_ask, asked), PATIENCE)


def file(session: str, path: str) -> list[Touched]:
    """Return who was at it when a file, and each link to it, was last changed.

    Raises:
        OSError: There is no such file.
        HoldfastError: As `ask` does.

    """
    return [
        Touched(fact, ask(session, "moment", at_ms=fact.ctime_ns // NS_IN_MS))
        for fact in look(path)
    ]


def processes(
    session: str, leader: int, pids: Iterable[int], seen: Graph
) -> list[Traced]:
    """Return who is behind these processes, as far as they are in the graph."""
    kin = (Kin(one.pid, one.parent, one.started_ticks) for one in seen.processes)
    found = roots(kin, leader)
    known = {one.pid: one for one in seen.processes}
    return [
        _traced(session, known[pid], found[pid], leader) for pid in pids if pid in known
    ]


def _traced(session: str, process: Process, root: Root, leader: int) -> Traced:
    report = ask(session, "process", at_ms=root.started * 1000 // TICKS)
    return Traced(process, root, root.pid == leader, report)


def _ask(asked: BlameRequest, link: Connection, deadline: float) -> BlameReport:
    link.send(asked)
    for message in messages(link, deadline):
        match message:
            case BlameReport():
                return message
            case Refuse(refused=FrameKind.BLAME_REQUEST):
                raise error_from(message)
            case _:
                pass
    raise silent()
