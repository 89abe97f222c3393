import asyncio
import contextlib
import os
import re
import signal
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.scenarios.agents import FREE, agent, shell
from tests.scenarios.gated import write_policy
from tests.scenarios.support import Client, Machine, eventually, machine

from holdfast.cli.log_tail import LogTail
from holdfast.core.book.logbook import EntryKind
from holdfast.model.ids import SessionId
from holdfast.wire import messages as wire

SERVE = """
import os, socket, sys, time
if os.fork():
    os._exit(0)
os.setsid()
listener = socket.socket()
listener.bind(("127.0.0.1", 0))
listener.listen()
print("serving", os.getpid(), listener.getsockname()[1], "begun", flush=True)
time.sleep(600)
"""
"""A server whose launcher has returned."""


STARTED: list[int] = []
"""Servers that a machine whose processes are killed would leave behind."""


@pytest.fixture
def here() -> Iterator[Machine]:
    with machine() as made:
        write_policy(FREE)
        yield made
    for pid in STARTED:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


def served(client: Client, folder: Path) -> tuple[int, int]:
    """Start a server; return its process and port."""
    program = folder / "serve.py"
    program.write_text(SERVE)
    client.enter(f"{sys.executable} {program}\r".encode())
    client.wait_output(b"begun")
    found = re.search(rb"serving (\d+) (\d+) begun", client.output)
    assert found is not None
    STARTED.append(int(found[1]))
    return int(found[1]), int(found[2])


def unbound(session: SessionId) -> list[dict[str, object]]:
    tail = LogTail(session)
    try:
        entries = [*tail.entries()]
    finally:
        tail.close()
    return [dict(one.fields) for one in entries if one.kind is EntryKind.UNBOUND]


def test_c74_a_server_that_dies_in_silence_is_told_and_on_record(
    here: Machine, tmp_path: Path
) -> None:
    session = here.new("sh")
    client = here.join(session)
    pid, port = served(client, tmp_path)
    # It is told of what was seen, and it is looked for a moment after the output.
    eventually("it was seen", lambda: has_pidfd(here.pid("holder", session), pid))

    os.kill(pid, signal.SIGKILL)
    told = client.wait(wire.Event)

    assert (told.name, told.fields["port"], told.fields["pid"]) == (
        "listener.gone",
        port,
        pid,
    )
    assert [one["port"] for one in unbound(session)] == [port]


def test_c74_an_agent_hears_of_it_with_its_next_call(
    here: Machine, tmp_path: Path
) -> None:
    session = shell(here)
    client = here.join(session)
    pid, port = served(client, tmp_path)
    holder = here.pid("holder", session)
    eventually("it was seen", lambda: has_pidfd(holder, pid))

    async def story() -> dict[str, object]:
        async with agent() as bot:
            await bot.call("attach", session="build")
            os.kill(pid, signal.SIGKILL)
            eventually("it is on record", lambda: unbound(session))
            return await bot.call("state", session="build")

    facts = asyncio.run(story())

    happened = facts["happened"]
    assert isinstance(happened, list)
    (one,) = happened
    assert (one["event"], one["port"]) == ("listener.gone", port)


def test_a_server_that_ends_with_its_session_is_no_news(
    here: Machine, tmp_path: Path
) -> None:
    session = here.new("sh")
    client = here.join(session)
    pid, _ = served(client, tmp_path)
    eventually("it was seen", lambda: has_pidfd(here.pid("holder", session), pid))

    client.enter(b"exit\r")
    eventually("it has exited", lambda: (here.facts(session) or {}).get("exit") == 0)

    assert unbound(session) == []


def has_pidfd(holder: int, pid: int) -> bool:
    """Tell whether a holder waits for the end of a process."""
    for fd in Path(f"/proc/{holder}/fdinfo").iterdir():
        if f"\nPid:\t{pid}\n" in fd.read_text():
            return True
    return False
