"""The processes of several sessions, and which of them listens on a port.

Sessions are asked one after the other. For a port, this machine's own tables are
read first: if nobody listens, no session is asked, and if the listening process says
which session it belongs to, that session is asked first.
"""

import sys
from collections.abc import Iterator
from typing import NamedTuple

from holdfast.cli.tree import address
from holdfast.client.calls import graph
from holdfast.linux.graph import listeners, session_named_by
from holdfast.linux.procfs import Stat
from holdfast.model.errors import HoldfastError
from holdfast.model.session_record import SessionRecord
from holdfast.model.text import printable
from holdfast.wire.graphs import Graph, Listener, Process


class Found(NamedTuple):
    """A process of a session that listens on the port."""

    session: SessionRecord
    process: Process
    listener: Listener
    graph: Graph

    def to_facts(self) -> dict[str, object]:
        """Return it as a JSON object."""
        return {
            "session": self.session.id,
            "name": self.session.name,
            "pid": self.process.pid,
            "started_ticks": self.process.started_ticks,
            "command": self.process.command,
            "address": address(self.listener),
        }


def graphs_of(
    sessions: list[SessionRecord], *, descriptors: bool = False
) -> Iterator[tuple[SessionRecord, Graph]]:
    """Yield each session's processes; name those that cannot be asked on stderr."""
    for session in sessions:
        try:
            yield session, graph(session.id, descriptors=descriptors)
        except HoldfastError as error:
            # A session that ended meanwhile, or that we may not see, hides no others.
            why = printable(str(error))
            print(f"holdfast: {session.label}: {why}", file=sys.stderr)


def who_listens(
    port: int, sessions: list[SessionRecord]
) -> tuple[list[Found], list[Stat]]:
    """Return the listeners on a port: those of sessions, and others."""
    wanted = {one.pid: one for one in listeners(port)}
    hinted = {session_named_by(pid) for pid in wanted}
    ordered = sorted(sessions, key=lambda one: one.id not in hinted)
    found: list[Found] = []
    for session, seen in graphs_of(ordered if wanted else []):
        processes = {one.pid: one for one in seen.processes}
        for one in seen.listeners:
            if one.port == port and one.pid in processes:
                found.append(Found(session, processes[one.pid], one, seen))
                wanted.pop(one.pid, None)
        if not wanted:
            break
    return found, [*wanted.values()]
