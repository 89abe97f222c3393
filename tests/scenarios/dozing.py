"""Sessions that doze after a moment, so that no scenario waits half a minute."""

import contextlib
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from functools import partial

from tests.scenarios.support import Client, Machine, eventually, machine

from holdfast.holder.doze import SETTING
from holdfast.linux import process_start
from holdfast.model.ids import SessionId
from holdfast.wire import messages as wire

SOON = 0.2
"""Seconds without anything after which sessions doze here."""


@contextlib.contextmanager
def set_to(after: str) -> Iterator[None]:
    """Have keepers that are started now let sessions doze after so many seconds."""
    before = os.environ.get(SETTING)
    os.environ[SETTING] = after
    try:
        yield
    finally:
        del os.environ[SETTING]
        if before is not None:
            os.environ[SETTING] = before


@contextlib.contextmanager
def dozing_machine(
    after: float = SOON, begin: Callable[[], None] = process_start.ensure_keeper
) -> Iterator[Machine]:
    """Run a keeper of our own whose sessions doze soon."""
    with set_to(f"{after}"), machine(begin=begin) as made:
        yield made


def dozes(here: Machine, session: SessionId) -> bool:
    """Tell whether nobody holds a session, and nobody is about to."""
    facts = here.facts(session)
    return facts is not None and bool(facts["dozing"]) and not facts["held"]


def fall_asleep(here: Machine, *sessions: SessionId) -> None:
    """Wait until sessions doze."""
    for session in sessions:
        eventually("it dozes", partial(dozes, here, session))


def wait_dozing(here: Machine, count: int) -> None:
    """Wait until so many sessions doze, of more than fit into a list."""
    eventually("they doze", lambda: int(str(here.ask(do="status")["dozing"])) >= count)


def leave(client: Client) -> None:
    """Give the turn back, and go: a turn that somebody has keeps its session awake."""
    client.request(wire.Drop())
    client.close()


def typed(here: Machine, session: SessionId, line: bytes, shown: bytes) -> None:
    """Attach, type a line, wait for what it shows, and leave."""
    client = here.join(session)
    client.enter(line)
    client.wait_output(shown)
    leave(client)


def said(*words: str) -> str:
    """Return what a verb prints that succeeds."""
    command = [sys.executable, "-m", "holdfast", *words]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout
