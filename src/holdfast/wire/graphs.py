"""Wire form of a session's processes, descriptors and ports.

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

MAX_PATH: Final = 256
"""Characters of what a descriptor leads to; of a longer one, the last."""

MAX_PROCESSES: Final = 96
"""Processes in one GRAPH; larger graphs come in parts."""

MAX_LISTENERS: Final = 32
"""Listeners in one GRAPH."""

MAX_CONNECTIONS: Final = 32
"""Connections in one GRAPH."""

MAX_DESCRIPTORS: Final = 64
"""Descriptors in one GRAPH; with all the others, what a frame has room for."""

MAX_PORT: Final = 65_535
"""The highest port number."""


Address = Annotated[str, Meta(max_length=MAX_ADDRESS)]
Port = Annotated[int, Meta(ge=0, le=MAX_PORT)]


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
    age_ms: Number
    unlisted: Number | None
    """Descriptors that are not listed; null if none of them could be seen."""


class Listener(Part, frozen=True):
    """A socket on which a process of the graph waits for connections."""

    pid: Positive
    address: Address
    port: Port
    protocol: Word


class Connection(Part, frozen=True, kw_only=True):
    """A socket of a process of the graph that is connected to another one."""

    pid: Positive
    protocol: Word
    address: Address
    port: Port
    peer: Address
    peer_port: Port


class Descriptor(Part, frozen=True, kw_only=True):
    """Something that a process of the graph has open, and where it is in it."""

    pid: Positive
    number: Number
    kind: Word
    name: Annotated[str, Meta(max_length=MAX_PATH)]
    offset: Number
    access: Word
    lock: Word


class GraphRequest(Part, frozen=True):
    """Asks for processes and ports, with open files or without."""

    descriptors: bool


class Graph(Part, frozen=True, kw_only=True):
    """The process graph, or a part of it, when `more` follows."""

    processes: Annotated[tuple[Process, ...], Meta(max_length=MAX_PROCESSES)]
    listeners: Annotated[tuple[Listener, ...], Meta(max_length=MAX_LISTENERS)]
    connections: Annotated[tuple[Connection, ...], Meta(max_length=MAX_CONNECTIONS)]
    descriptors: Annotated[tuple[Descriptor, ...], Meta(max_length=MAX_DESCRIPTORS)]
    more: bool
