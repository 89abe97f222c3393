"""What a fake session says the kernel says of it."""

import msgspec

from holdfast.model.ids import ActorId, Incarnation
from holdfast.wire.blame import Behind, BlameReport, BlameRequest
from holdfast.wire.codec import Message
from holdfast.wire.evidence import Asleep, Evidence, StateRequest
from holdfast.wire.graphs import (
    Connection,
    Descriptor,
    Graph,
    GraphRequest,
    Listener,
    Process,
)
from holdfast.wire.preflights import Preflight, PreflightRequest


class Kernel:
    """What is seen, one answer after the other; the last goes on to be seen."""

    def __init__(self) -> None:
        self.states: list[Evidence] = []
        self.graphs: list[list[Graph]] = []
        self.blames: dict[str, BlameReport] = {}
        self.preflight = Preflight(blockers=(), cuts=(), unlisted=0)

    def answers(
        self, asked: StateRequest | GraphRequest | BlameRequest | PreflightRequest
    ) -> list[Message]:
        """Return what is seen now."""
        if isinstance(asked, PreflightRequest):
            return [self.preflight]
        if isinstance(asked, BlameRequest):
            return [self.blames[asked.what]]
        if isinstance(asked, StateRequest) and not self.states:
            return []  # Nobody looks at it.
        if isinstance(asked, StateRequest):
            seen = self.states[0]
            del self.states[: len(self.states) > 1]
            return [seen]
        parts = self.graphs[0]
        del self.graphs[: len(self.graphs) > 1]
        return [*parts]


def evidence(state: str, *, sure: bool = True, unread: int = 0) -> Evidence:
    """Return a session that does this."""
    return Evidence(
        state=state,
        program="",
        incarnation=Incarnation(1),
        sure=sure,
        why=("cat (7) reads the terminal (fd 0)",),
        foreground=0 if state == "exited" else 7,
        echo=state != "waiting-for-secret",
        canonical=True,
        unread=unread,
        sleepers=(Asleep(7, "cat", "sleeping", "reads the terminal (fd 0)"),),
    )


def behind(trigger: ActorId, *authors: ActorId, first: int = 0) -> Behind:
    """Return a command of somebody's, long ago."""
    return Behind(
        command=3,
        first=first,
        trigger=trigger,
        authors=authors or ((trigger,) if trigger else ()),
        line="" if first else "alias deploy='rm'",
        at_ms=1_000_000_000_000,
    )


def blame(standing: str, found: Behind | None = None, **more: object) -> BlameReport:
    """Return who is behind something."""
    plain: dict[str, object] = {
        "how": "",
        "digest": b"",
        "used": None,
        "silent": False,
        "staged": b"",
        "by": (),
        "others": (),
        "edited": False,
        "hidden": 0,
    }
    facts = {"standing": standing, "behind": found, **plain, **more}
    return msgspec.convert(facts, BlameReport)


def process(
    pid: int, parent: int = 1, command: str = "it", *, unlisted: int | None = 0
) -> Process:
    """Return a process."""
    return Process(
        pid=pid,
        parent=parent,
        started_ticks=pid * 10,
        command=command,
        state="sleeping",
        actor=ActorId(""),
        rss=3 << 20,
        cpu_ms=1500,
        age_ms=61_000,
        unlisted=unlisted,
    )


def graph(
    *processes: Process,
    listeners: tuple[Listener, ...] = (),
    connections: tuple[Connection, ...] = (),
    descriptors: tuple[Descriptor, ...] = (),
    more: bool = False,
) -> Graph:
    """Return a graph, or a part of one."""
    return Graph(
        processes=processes,
        listeners=listeners,
        connections=connections,
        descriptors=descriptors,
        more=more,
    )
