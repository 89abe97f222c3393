"""What is true of a session now: what it does, and what runs in it?

Both are the kernel's answers, given by the session's holder. A holder that dies
while it is asked has a successor, which is asked again: asking changes nothing.
"""

import time
from collections.abc import Callable
from typing import TypeVar

from holdfast.client.attaching import messages
from holdfast.client.connection import Connection
from holdfast.model.errors import (
    MalformedMessage,
    SessionUnreachable,
    WaitedInVain,
)
from holdfast.model.ids import SessionId
from holdfast.wire.codec import error_from
from holdfast.wire.evidence import Evidence, StateRequest
from holdfast.wire.frames import FrameKind
from holdfast.wire.graphs import Graph, GraphRequest
from holdfast.wire.messages import Refuse

PATIENCE = 10.0
"""Seconds for an answer: a holder is replaced, and a large tree read, in less."""

MAX_PARTS = 1024
"""Parts taken of one graph: twice what a holder sends."""

Answer = TypeVar("Answer")


def state(session: str, *, patience: float = PATIENCE) -> Evidence:
    """Return what a session does now, and how that is known.

    Raises:
        Unavailable: The session cannot be reached, or does not answer.
        Forbidden: We may not observe it.

    """
    return persist(session, ask_state, patience)


def graph(
    session: str, *, descriptors: bool = False, patience: float = PATIENCE
) -> Graph:
    """Return what runs in a session now, put together from its parts.

    Raises:
        Unavailable: The session cannot be reached, or does not answer.
        Forbidden: We may not observe it.
        PeerError: It answered what is no graph.

    """

    def ask(link: Connection, deadline: float) -> Graph:
        return ask_graph(link, deadline, descriptors=descriptors)

    return persist(session, ask, patience)


def ask_state(link: Connection, deadline: float) -> Evidence:
    """Return what the session at the other end of `link` does."""
    link.send(StateRequest())
    for message in messages(link, deadline):
        match message:
            case Evidence():
                return message
            case Refuse(refused=FrameKind.STATE_REQUEST):
                raise error_from(message)
            case _:
                pass
    raise silent()


def ask_graph(link: Connection, deadline: float, *, descriptors: bool) -> Graph:
    """Return what runs in the session at the other end of `link`."""
    link.send(GraphRequest(descriptors=descriptors))
    parts: list[Graph] = []
    for message in messages(link, deadline):
        match message:
            case Graph():
                parts.append(message)
                if not message.more:
                    return joined(parts)
                if len(parts) > MAX_PARTS:
                    raise MalformedMessage("graph", "it does not end")
            case Refuse(refused=FrameKind.GRAPH_REQUEST):
                raise error_from(message)
            case _:
                pass
    raise silent()


def joined(parts: list[Graph]) -> Graph:
    """Put a graph together again from the parts it came in."""
    return Graph(
        processes=tuple(one for part in parts for one in part.processes),
        listeners=tuple(one for part in parts for one in part.listeners),
        connections=tuple(one for part in parts for one in part.connections),
        descriptors=tuple(one for part in parts for one in part.descriptors),
        more=False,
    )


def dial(session: str) -> Connection:
    """Connect to a session's holder, to ask it more than once.

    Raises:
        Unavailable: It does not answer.

    """
    wanted = SessionId(session)
    return Connection.open(wanted)


def persist(
    session: str, ask: Callable[[Connection, float], Answer], patience: float
) -> Answer:
    """Ask a session's holder, and its successor if it dies; asking changes nothing.

    Raises:
        Unavailable: The session cannot be reached, or does not answer.

    """
    deadline = time.monotonic() + patience
    while True:
        try:
            with dial(session) as link:
                return ask(link, deadline)
        except SessionUnreachable:
            if time.monotonic() >= deadline:
                raise


def silent() -> WaitedInVain:
    """Return what to raise when no answer came in time."""
    return WaitedInVain("an answer of the session", round(PATIENCE * 1000))
