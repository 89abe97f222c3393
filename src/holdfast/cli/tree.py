"""Formats a session's processes, for people and for programs."""

import re
from collections.abc import Iterator

import msgspec

from holdfast.cli.operator_names import Names
from holdfast.cli.session_table import age
from holdfast.model.text import printable
from holdfast.wire.graphs import Connection, Descriptor, Graph, Listener, Process

MAX_SHOWN = 60
"""Characters shown of a command; --json has all of it."""

_ADDED = re.compile(
    r" --rcfile \S*/integration\.bash"
    r"| --init-command source '?\S*/integration\.fish'?"
)
"""What holdfast adds to the command of a shell for its integration; people are shown
the command without it."""

UNITS = ((1 << 30, "G"), (1 << 20, "M"), (1 << 10, "K"))


def picture(graph: Graph, names: Names) -> list[str]:
    """Return the processes as a tree, each with its open files and ports."""
    known = {one.pid for one in graph.processes}
    children: dict[int, list[Process]] = {}
    for one in graph.processes:
        parent = one.parent if one.parent in known else 0
        children.setdefault(parent, []).append(one)
    drawn: list[str] = []
    # A list instead of recursion: a session may nest deeper than Python's stack.
    waiting = [(one, "", "") for one in reversed(children.get(0, []))]
    while waiting:
        one, lead, rest = waiting.pop()
        drawn.append(lead + process_line(one, graph, names))
        below = children.get(one.pid, [])
        stem = rest + ("│ " if below else "  ")
        drawn += [stem + line for line in _held(one, graph)]
        last = len(below) - 1
        waiting += [
            (
                child,
                rest + ("└─ " if number == last else "├─ "),
                rest + ("   " if number == last else "│  "),
            )
            for number, child in reversed([*enumerate(below)])
        ]
    return drawn


def process_line(one: Process, graph: Graph, names: Names) -> str:
    """Return one process on one line."""
    parts = [
        f"{one.pid} {printable(_ADDED.sub('', one.command), MAX_SHOWN)}",
        one.state,
        size(one.rss),
        f"cpu {one.cpu_ms / 1000:.1f}s",
        age(one.age_ms / 1000),
    ]
    ports = sorted(
        {address(each) for each in graph.listeners if each.pid == one.pid and each.port}
    )
    if ports:
        parts.append("listens on " + ", ".join(ports))
    if one.actor:
        parts.append(f"by {names.shown(one.actor)}")
    return "  ".join(parts)


def size(count: int) -> str:
    """Return an amount of memory in its largest unit."""
    for unit, word in UNITS:
        if count >= unit:
            return f"{count / unit:.0f}{word}"
    return f"{count}B"


def address(one: Listener) -> str:
    """Return the address of a listener."""
    if not one.port:
        return f"{one.protocol} {printable(one.address)}"
    host = f"[{one.address}]" if ":" in one.address else one.address
    return f"{one.protocol} {printable(host)}:{one.port}"


def facts(graph: Graph) -> dict[str, object]:
    """Return a graph as a JSON object."""
    found: dict[str, object] = {
        name: [msgspec.structs.asdict(one) for one in getattr(graph, name)]
        for name in ("processes", "listeners", "connections", "descriptors")
    }
    return found


def _held(one: Process, graph: Graph) -> Iterator[str]:
    for link in graph.connections:
        if link.pid == one.pid and link.peer_port:
            yield f"· {_connected(link)}"
    for opened in graph.descriptors:
        if opened.pid == one.pid:
            yield f"· {_opened(opened)}"
    if graph.descriptors and one.unlisted:
        yield f"· and {one.unlisted} more descriptors"
    elif one.unlisted is None:
        yield "· its open files cannot be read"


def _connected(link: Connection) -> str:
    here = f"{printable(link.address)}:{link.port}"
    return f"{link.protocol} {here} → {printable(link.peer)}:{link.peer_port}"


def _opened(one: Descriptor) -> str:
    lock = "" if one.lock == "none" else f", {one.lock} lock"
    place = f" at {one.offset}" if one.kind == "file" else ""
    return f"fd {one.number} {one.access} {printable(one.name)}{place}{lock}"
