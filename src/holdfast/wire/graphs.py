"""How does the graph travel: what runs, and what listens where?

In parts, when it is larger than a frame. Specified in docs/spec/wire.md,
section 4.7.
"""

from typing import Annotated, Final

from msgspec import Meta

from holdfast.wire.messages import ActorOrNobody, Number, Part, Positive, Word

MAX_COMMAND: Final = 128
"""Characters of a process's command line: enough to know it by."""

MAX_ADDRESS: Final = 108
"""Characters of an address: the longest path of a Unix socket."""

MAX_PROCESSES: Final = 256
"""Processes in one GRAPH; larger graphs come in parts."""

MAX_LISTENERS: Final = 128
"""Listeners in one GRAPH; with the processes, as many as a frame has room for."""

MAX_PORT: Final = 65_535
"""The highest port number."""


class Process(Part, frozen=True, kw_only=True):
    """One process of the graph; `actor` started it, as far as is known."""

    pid: Positive
    parent: Number
    started_ticks: Number
    command: Annotated[str, Meta(max_length=MAX_COMMAND)]
    state: Word
    actor: ActorOrNobody
    rss: Number
    cpu_ms: Number


class Listener(Part, frozen=True):
    """A socket on which a process of the graph waits for connections."""

    pid: Positive
    address: Annotated[str, Meta(max_length=MAX_ADDRESS)]
    port: Annotated[int, Meta(ge=0, le=MAX_PORT)]


class GraphRequest(Part, frozen=True):
    """What runs, and what listens where?"""


class Graph(Part, frozen=True):
    """The process graph, or a part of it, when `more` follows."""

    processes: Annotated[tuple[Process, ...], Meta(max_length=MAX_PROCESSES)]
    listeners: Annotated[tuple[Listener, ...], Meta(max_length=MAX_LISTENERS)]
    more: bool
