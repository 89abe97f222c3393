"""Reports on request what a session is doing and what runs in it.

Both are read from the kernel at the moment of asking. What a session is doing takes
about a millisecond and is answered at once. The graph of a large session takes a
hundred times that, so it is gathered a few milliseconds at a time, in between the
holder's other work: typing and a seize do not wait for it. A client that asks while it
is being gathered gets the next one.
"""

import time
from collections.abc import Callable, Iterable, Iterator, Mapping

from holdfast.core.provenance.lineage import ProcessStart
from holdfast.core.session.program_state import NOTHING_KNOWN, Activity, refined
from holdfast.core.session.session_state import Evidence, decide
from holdfast.holder.links.connection import Connection
from holdfast.holder.processes.recent_activity import RecentActivity
from holdfast.holder.timers import Timers
from holdfast.linux import graph, session_state
from holdfast.linux.process_table import SLICE, Belonging, Tree
from holdfast.linux.procfs import TICKS, state_word
from holdfast.linux.sockets import CONNECTED, LISTENING, Socket
from holdfast.model.errors import GraphUnavailable
from holdfast.model.ids import FIRST_INCARNATION, ActorId, Incarnation, SessionId
from holdfast.model.session_record import CapsuleRecord
from holdfast.model.text import MAX_NAME, printable
from holdfast.wire import evidence, graphs
from holdfast.wire import messages as wire
from holdfast.wire.codec import refusal
from holdfast.wire.frames import FrameKind

MAX_PARTS = 512
"""Parts of a graph that are sent: thirty thousand descriptors."""

MAX_ASKING = 64
"""Clients that wait for a graph; the rest are told to ask later."""


Starters = Callable[[Iterable[ProcessStart]], Mapping[int, ActorId]]
"""Says who started each of these processes."""


class SessionReport:
    """Answers what clients ask about one session's state and processes."""

    def __init__(  # noqa: PLR0913  # all that it looks at
        self,
        session: SessionId,
        leader: int,
        master: int,
        timers: Timers,
        *,
        has_exited: bool,
        starters: Starters,
        lately: RecentActivity | None = None,
        life: Incarnation = FIRST_INCARNATION,
        capsule: CapsuleRecord | None = None,
    ) -> None:
        self._session = session
        self._life = life
        self._leader = leader
        self._master = master
        # A leader that is gone has left its number to others.
        self._tree = Tree.of(-1 if has_exited else leader, session, capsule)
        self._starters = starters
        self._lately = lately
        self._timer = timers.add(self.tick)
        self._asking: list[tuple[Connection, bool]] = []
        self._gathering: Iterator[graph.Node | None] | None = None
        self._served: list[Connection] = []
        self._nodes: list[graph.Node] = []
        self._descriptors = False

    def tell_state(
        self,
        connection: Connection,
        *,
        is_frozen: bool,
        has_exited: bool,
        fenced: str = "",
    ) -> None:
        """Tell a client what the session does."""
        told = self.state(is_frozen=is_frozen, has_exited=has_exited, fenced=fenced)
        connection.send(told)

    def state(
        self, *, is_frozen: bool, has_exited: bool, fenced: str = ""
    ) -> evidence.Evidence:
        """Return what the session does."""
        if is_frozen or has_exited or fenced:
            # What stands still shows nothing that is true once it goes on.
            seen = Evidence(is_frozen=is_frozen, has_exited=has_exited, fenced=fenced)
        else:
            seen = session_state.look(self._master, self._leader)
        lately = self._lately and self._lately.look(seen, time.monotonic())
        return told(seen, lately or NOTHING_KNOWN, self._life)

    def ask_graph(self, connection: Connection, asked: graphs.GraphRequest) -> None:
        """Tell a client what runs, as soon as it is known."""
        waiting = [one for one, _ in self._asking] + self._served
        if connection in waiting or connection.is_behind:
            why = "the last one has not been taken yet"
        elif len(waiting) >= MAX_ASKING:
            why = f"{MAX_ASKING} clients wait for one"
        else:
            self._asking.append((connection, asked.descriptors))
            self._timer.set(0.0)
            return
        connection.send(refusal(GraphUnavailable(why), FrameKind.GRAPH_REQUEST))

    def tick(self, _now: float) -> None:
        """Go on gathering for a moment; when it is done, send it."""
        until = time.monotonic() + SLICE
        if self._gathering is None:
            if not self._asking:
                return
            self._begin()
        for node in self._gathering or ():
            if node is not None:
                self._nodes.append(node)
            if time.monotonic() >= until:
                self._timer.set(0.0)
                return
        stats = [node.stat for node in self._nodes]
        starts = (ProcessStart(one.pid, one.parent, one.started) for one in stats)
        actors = self._starters(starts)
        messages = parts(self._nodes, actors, descriptors=self._descriptors)
        for connection in self._served:
            if not connection.is_closed:
                _send(connection, messages)
                connection.pump()
        self._gathering, self._served, self._nodes = None, [], []
        self._timer.set(0.0 if self._asking else None)

    def _begin(self) -> None:
        """Serve everyone who asks for the same as the first in line."""
        _, descriptors = self._asking[0]
        self._descriptors = descriptors
        self._served = [one for one, asked in self._asking if asked is descriptors]
        self._asking = [one for one in self._asking if one[1] is not descriptors]
        belonging = Belonging(self._tree)
        self._gathering = graph.survey(belonging, descriptors=descriptors)


def told(
    seen: Evidence,
    lately: Activity = NOTHING_KNOWN,
    life: Incarnation = FIRST_INCARNATION,
) -> evidence.Evidence:
    """Return what was seen as it travels, with what follows from it."""
    said = refined(decide(seen), seen, lately)
    return evidence.Evidence(
        state=said.word.value,
        program=wire.fitting(printable(said.program), MAX_NAME),
        incarnation=life,
        sure=said.is_sure,
        why=tuple(wire.fitting(one, wire.MAX_TEXT) for one in said.why),
        foreground=seen.foreground or 0,
        echo=seen.echo,
        canonical=seen.canonical,
        unread=seen.unread,
        sleepers=tuple(
            evidence.Asleep(
                one.pid,
                wire.fitting(one.name, wire.MAX_WORD),
                one.state,
                wire.fitting(one.where, wire.MAX_TEXT),
            )
            for one in seen.sleepers[: evidence.MAX_SLEEPERS]
        ),
    )


def parts(
    nodes: list[graph.Node], actors: Mapping[int, ActorId], *, descriptors: bool
) -> list[graphs.Graph]:
    """Return a graph as it travels: in as many parts as it takes, at least one."""
    processes = [_process(node, actors.get(node.stat.pid)) for node in nodes]
    sockets = [
        (node.stat.pid, one.socket)
        for node in nodes
        for one in node.opened
        if one.socket is not None
    ]
    listeners = [
        graphs.Listener(pid, _address(one.local), one.local_port, one.protocol)
        for pid, one in sockets
        if one.standing == LISTENING
    ]
    connections = [_link(pid, one) for pid, one in sockets if one.standing == CONNECTED]
    opened = [
        _descriptor(node.stat.pid, one)
        for node in nodes
        for one in node.opened
        if descriptors
    ]
    count = max(
        1,
        -(-len(processes) // graphs.MAX_PROCESSES),
        -(-len(listeners) // graphs.MAX_LISTENERS),
        -(-len(connections) // graphs.MAX_CONNECTIONS),
        -(-len(opened) // graphs.MAX_DESCRIPTORS),
    )
    return [
        graphs.Graph(
            processes=tuple(processes[_part(number, graphs.MAX_PROCESSES)]),
            listeners=tuple(listeners[_part(number, graphs.MAX_LISTENERS)]),
            connections=tuple(connections[_part(number, graphs.MAX_CONNECTIONS)]),
            descriptors=tuple(opened[_part(number, graphs.MAX_DESCRIPTORS)]),
            more=number + 1 < count,
        )
        for number in range(count)
    ]


def _send(connection: Connection, messages: list[graphs.Graph]) -> None:
    if len(messages) > MAX_PARTS:
        error = GraphUnavailable(f"it has {len(messages)} parts")
        connection.send(refusal(error, FrameKind.GRAPH_REQUEST))
    else:
        connection.queue(messages)


def _process(node: graph.Node, actor: ActorId | None) -> graphs.Process:
    stat = node.stat
    return graphs.Process(
        pid=stat.pid,
        parent=max(stat.parent, 0),
        started_ticks=stat.started,
        command=wire.fitting(node.command, graphs.MAX_COMMAND),
        state=state_word(stat.state),
        actor=actor or ActorId(""),
        rss=stat.rss,
        cpu_ms=stat.cpu_ticks * 1000 // TICKS,
        age_ms=int(node.age * 1000),
        unlisted=None if node.left_out < 0 else node.left_out,
    )


def _link(pid: int, one: Socket) -> graphs.Connection:
    return graphs.Connection(
        pid=pid,
        protocol=one.protocol,
        address=_address(one.local),
        port=one.local_port,
        peer=_address(one.remote),
        peer_port=one.remote_port,
    )


def _descriptor(pid: int, one: graph.Open) -> graphs.Descriptor:
    # The end of a path says more than its beginning.
    name = wire.fitting(one.name, len(one.name) * 8)[-graphs.MAX_PATH :]
    return graphs.Descriptor(
        pid=pid,
        number=one.number,
        kind=one.kind,
        name=name,
        offset=min(one.offset, wire.MAX_NUMBER),
        access=one.access,
        lock=one.lock,
    )


def _address(text: str) -> str:
    return wire.fitting(text, graphs.MAX_ADDRESS)


def _part(number: int, size: int) -> slice:
    return slice(number * size, (number + 1) * size)
