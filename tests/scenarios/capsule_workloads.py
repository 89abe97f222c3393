"""Ten programs in capsules, and for each a question that only its memory answers."""

import asyncio
import re
import urllib.request
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path

import holdfast

PATIENCE = 60.0

SOCKETS = """
import os, socket, sys
listener = socket.socket(socket.AF_UNIX)
listener.bind("named")
listener.listen()
client = socket.socket(socket.AF_UNIX)
client.connect("named")
server, _ = listener.accept()
left, right = socket.socketpair()
left.sendall(b"queued")
print("up", flush=True)
for line in sys.stdin:
    client.sendall(line.encode())
    said = server.recv(100).decode().strip()
    print("echo", said, right.recv(6).decode(), flush=True)
    left.sendall(b"queued")
"""

UNLINKED = """
import os, sys
file = open("unlinked", "w+")
os.unlink("unlinked")
print("up", flush=True)
for line in sys.stdin:
    file.write(line)
    file.seek(0)
    print("has", len(file.readlines()), flush=True)
"""

HEAP = "import hashlib, os; x = os.urandom(100 << 20); y = hashlib.sha256(x).digest()"

COUNTING = "n=0; while :; do echo tick $n; n=$((n+1)); sleep 0.05; done"
PIPELINE = "seq 0 9999999 | sed -u 's/^/line /' | while read x; do echo $x; sleep .05;"


@dataclass(frozen=True)
class Workload:
    """A program, how it is begun, and how it is asked."""

    name: str
    command: tuple[str, ...]
    begin: Callable[[holdfast.Session, Path, int], Awaitable[None]]
    ask: Callable[[holdfast.Session, int, int], Awaitable[None]]
    """Asked with a port of its own, and for the n-th time, from 1 on."""

    counts: bytes = b""
    """What it prints before numbers that go up by one; empty if it prints none."""


async def _said(session: holdfast.Session, text: str, wanted: str) -> None:
    at = await session.send(text, enter=True)
    await session.wait_for(wanted, PATIENCE, after=at)


async def _nothing(_: holdfast.Session, _home: Path, _port: int) -> None:
    pass


def _runs(line: str) -> Callable[[holdfast.Session, Path, int], Awaitable[None]]:
    async def begin(session: holdfast.Session, _: Path, port: int) -> None:
        await session.wait_prompt(PATIENCE)
        await session.run(line.format(port=port), timeout=PATIENCE)

    return begin


def _types(line: str, wanted: str) -> Callable[..., Awaitable[None]]:
    async def begin(session: holdfast.Session, _: Path, _port: int) -> None:
        await session.wait_prompt(PATIENCE)
        await _said(session, line, wanted)

    return begin


def _waits(text: str) -> Callable[..., Awaitable[None]]:
    async def begin(session: holdfast.Session, _: Path, _port: int) -> None:
        await session.wait_for(text, PATIENCE)

    return begin


async def _goes_on(session: holdfast.Session, _: int, _count: int) -> None:
    end = await session.wait_quiet(0.01, PATIENCE)
    for _again in range(3):
        found = await session.wait_for(re.compile(rb"(tick|line) \d+\r"), 60, after=end)
        end = found.end


async def _vim(session: holdfast.Session, _: int, count: int) -> None:
    await session.send(f"A{count}.\x1b")
    wanted = "text" + "".join(f"{one}." for one in range(1, count + 1))
    shown = ""
    for _again in range(600):
        shown = "".join((await session.screen()).lines).replace(" ", "")
        if wanted in shown:
            return
        await session.wait_quiet(0.05, PATIENCE)
    raise AssertionError(shown)


async def _begin_vim(session: holdfast.Session, _: Path, _port: int) -> None:
    await session.wait_quiet(0.5, PATIENCE)
    await session.send("itext\x1b")


async def _heap(session: holdfast.Session, _: int, count: int) -> None:
    line = f"print('same', {count}, hashlib.sha256(x).digest() == y)"
    await _said(session, line, f"same {count} True")


async def _stopped(session: holdfast.Session, _: int, count: int) -> None:
    line = "x=$((x+1)); echo $x $(jobs -s | wc -l) $(jobs -r | wc -l)"
    done = await session.run(line, timeout=PATIENCE)
    assert done.output.split() == [str(count), "1", "1"], done.output


def _page(port: int) -> bytes:
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/page", timeout=60) as answer:
        return bytes(answer.read())


async def _server(session: holdfast.Session, port: int, count: int) -> None:
    assert await asyncio.to_thread(_page, port) == b"a page\n"
    done = await session.run("x=$((x+1)); echo $x", timeout=PATIENCE)
    assert done.output.split() == [str(count)], done.output


async def _sockets(session: holdfast.Session, _: int, count: int) -> None:
    await _said(session, str(count), f"echo {count} queued")


async def _unlinked(session: holdfast.Session, _: int, count: int) -> None:
    await _said(session, "line", f"has {count}\r")


async def _less(session: holdfast.Session, _: int, count: int) -> None:
    await session.send(f"{count}g")
    shown = ""
    for _again in range(600):
        shown = (await session.screen()).lines[0].strip()
        if shown == f"row {count}":
            return
        await session.wait_quiet(0.05, PATIENCE)
    raise AssertionError(shown)


async def _tmux(session: holdfast.Session, _: int, count: int) -> None:
    await _said(
        session, f"x=$((x+1)); echo in $x of {count}.", f"in {count} of {count}."
    )


async def _begin_tmux(session: holdfast.Session, _: Path, _port: int) -> None:
    await session.wait_for("[hft]", PATIENCE)
    await session.wait_quiet(0.5, PATIENCE)


SHELL = ("bash",)
PYTHON = ("python3", "-u", "-c")
TMUX = ("tmux", "-f", "/dev/null", "-L", "t", "new-session", "-s", "hft", "bash")

WORKLOADS = (
    Workload("job", SHELL, _types(COUNTING, "tick 3"), _goes_on, b"tick "),
    Workload("vim", ("vim", "-u", "NONE", "-n", "new"), _begin_vim, _vim),
    Workload("heap", ("python3", "-q", "-i", "-c", HEAP), _waits(">>>"), _heap),
    Workload(
        "pipeline", SHELL, _types(f"{PIPELINE} done", "line 3"), _goes_on, b"line "
    ),
    Workload(
        "stopped",
        SHELL,
        _runs("sleep 9999 & sleep 9998 & sleep .1; kill -STOP %1; sleep .1; x=0"),
        _stopped,
    ),
    Workload(
        "server",
        SHELL,
        _runs(
            "echo a page > page; x=0; exec 9>/dev/null; python3 -m http.server"
            " --bind 127.0.0.1 {port} >&9 2>&9 & sleep 1"
        ),
        _server,
    ),
    Workload("sockets", (*PYTHON, SOCKETS), _waits("up"), _sockets),
    Workload("unlinked", (*PYTHON, UNLINKED), _waits("up"), _unlinked),
    Workload("less", ("less", "rows"), _waits("row 1"), _less),
    Workload("tmux", TMUX, _begin_tmux, _tmux),
)
