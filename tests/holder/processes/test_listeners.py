"""What stops listening in a session is on record and told; nothing else is."""

import contextlib
import math
import os
import subprocess
import sys
import time
from collections.abc import Iterator

import pytest
from tests.holder.input_world import SESSION, World

from holdfast.core.book.logbook import EntryKind
from holdfast.core.session.listener_watch import SOON
from holdfast.holder.processes.listeners import Listeners
from holdfast.wire import messages as wire

SERVER = (
    "import socket, sys; s = socket.create_server(('127.0.0.1', 0));"
    "print(s.getsockname()[1], flush=True); sys.stdin.read(1); s.close();"
    "print('closed', flush=True); sys.stdin.read()"
)


class Server:
    """A process of the session that listens until it is told not to."""

    def __init__(self) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-c", SERVER],
            env={**os.environ, "HOLDFAST_SESSION": SESSION},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            start_new_session=True,
        )
        self.port = int(self._said())

    def _said(self) -> bytes:
        assert self.process.stdout is not None
        return self.process.stdout.readline()

    def stop(self) -> None:
        """Have it close its port, and live on."""
        assert self.process.stdin is not None
        self.process.stdin.write(b"x")
        self.process.stdin.flush()
        assert self._said() == b"closed\n"

    def end(self) -> None:
        self.process.kill()
        self.process.wait()

    def close(self) -> None:
        self.end()
        for pipe in (self.process.stdin, self.process.stdout):
            assert pipe is not None
            with contextlib.suppress(BrokenPipeError):
                pipe.close()


@pytest.fixture
def server() -> Iterator[Server]:
    made = Server()
    yield made
    made.close()


@pytest.fixture
def listeners(here: World) -> Iterator[Listeners]:
    made = Listeners(here.context, here.session.driver)
    yield made
    made.close()


def look(here: World, listeners: Listeners, now: float) -> None:
    """Look at that time, to the end."""
    listeners.tick(now)
    while listeners._looking is not None:  # noqa: SLF001  # it looks bit by bit
        listeners.tick(now)
    here.session.book.sync()


def unbound(here: World) -> list[dict[str, object]]:
    return [dict(one.fields) for one in here.entries() if one.kind is EntryKind.UNBOUND]


def test_what_listened_and_does_no_longer_is_told_once(
    here: World, listeners: Listeners, server: Server
) -> None:
    anna = here.join()
    now = time.monotonic()
    listeners.printed(now)
    look(here, listeners, now + SOON)
    anna.told()
    server.stop()
    listeners.printed(now + 10)
    look(here, listeners, now + 10 + SOON)
    look(here, listeners, now + 100)

    (gone,) = [one for one in anna.told() if isinstance(one, wire.Event)]
    assert (gone.name, gone.session) == ("listener.gone", SESSION)
    assert gone.fields["protocol"] == "tcp"
    assert (gone.fields["address"], gone.fields["port"]) == ("127.0.0.1", server.port)
    assert gone.fields["pid"] == server.process.pid
    assert SERVER[:20] in str(gone.fields["command"])
    (entry,) = unbound(here)
    assert gone.fields.items() <= entry.items()


def test_the_end_of_what_listens_is_looked_at_at_once(
    here: World, listeners: Listeners, server: Server
) -> None:
    here.join()
    now = time.monotonic()
    listeners.printed(now)
    look(here, listeners, now + SOON)
    server.end()
    assert here.context.poll.turn(10)

    here.context.timers.refresh()
    assert here.context.timers.first <= now + SOON
    look(here, listeners, now + SOON)
    assert [one["port"] for one in unbound(here)] == [server.port]


def test_nothing_is_looked_at_before_something_is_printed(
    here: World, listeners: Listeners, server: Server
) -> None:
    before = here.context.poll.count
    look(here, listeners, time.monotonic() + 100)

    assert here.context.poll.count == before
    assert server.port
    now = time.monotonic()
    listeners.printed(now)
    assert listeners._timer.due == now + SOON  # noqa: SLF001
    look(here, listeners, now + SOON)
    assert here.context.poll.count == before + 1


def test_a_session_in_which_something_listens_does_not_come_to_rest(
    here: World, listeners: Listeners, server: Server
) -> None:
    now = time.monotonic()
    listeners.printed(now)
    assert not listeners.conclude(now)
    assert listeners._timer.due == math.inf  # noqa: SLF001
    assert not listeners.conclude(now)
    server.end()
    assert here.context.poll.turn(10)

    assert listeners.conclude(now)
    assert [one["port"] for one in unbound(here)] == [server.port]
    assert listeners.conclude(now)


def test_what_ends_with_its_session_is_no_news(
    here: World, listeners: Listeners, server: Server
) -> None:
    before = here.context.poll.count
    now = time.monotonic()
    listeners.printed(now)
    look(here, listeners, now + SOON)
    listeners.close()
    server.end()

    assert here.context.poll.count == before
    look(here, listeners, now + 100)
    assert unbound(here) == []
    assert listeners._timer.due == math.inf  # noqa: SLF001
