"""Sessions that agents want started, and what becomes of them."""

import base64
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.scenarios.support import Machine, eventually, machine

from holdfast.client import current_operator
from holdfast.client.pending_start import Waiting, waiting_in
from holdfast.core.book.logbook import Entry, EntryKind, recover
from holdfast.linux.stored import places
from holdfast.model.actors import ActorKind
from holdfast.model.ids import SessionId
from holdfast.model.session_record import record_of
from holdfast.model.session_requests import Created
from holdfast.wire import messages as wire

ASK = """
[[rule]]
name = "ask-to-start"
verdict = "ask"
kind = "agent"
input = "start"
"""

ALLOW = """
[[rule]]
name = "start"
verdict = "allow"
kind = "agent"
input = "start"
first = ["sh", "bash", "/usr/bin/env"]
"""

FREE = '[default]\nagent = "allow"\n'
"""Agents may type what they like into what others began."""


@pytest.fixture(name="here")
def a_machine() -> Iterator[Machine]:
    with machine() as made:
        current_operator.ourselves()  # A human, who is here first.
        yield made


@pytest.fixture(name="marker")
def a_marker(tmp_path: Path) -> Path:
    """Is written by whatever runs."""
    return tmp_path / "ran"


def touching(marker: Path) -> list[str]:
    return ["sh", "-c", f"echo $$ >> {marker}; sleep 60"]


def cli(*words: str, **env: str) -> "subprocess.Popen[str]":
    return subprocess.Popen(
        [sys.executable, "-m", "holdfast", *words],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, **env},
    )


def new(*command: str, name: str = "", **env: str) -> "subprocess.Popen[str]":
    named = ["--name", name] if name else []
    words = ["--as", "bot", "new", "--detach", *named, "--", *command]
    return cli(*words, **env)


def interruptible(*command: str) -> "subprocess.Popen[str]":
    # Whoever runs us in the background has us ignore it, and what we start too.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    started = new(*command)
    signal.signal(signal.SIGINT, before)
    return started


def ended(started: "subprocess.Popen[str]") -> tuple[int, str]:
    said = started.communicate(timeout=60)[1]
    return started.returncode, said


def bot() -> str:
    return current_operator.enrol("bot", ActorKind.AGENT).actor.id


def asked(marker: Path, **more: object) -> dict[str, object]:
    """Return a request of the agent's, not proven yet."""
    given = {"do": "create", "command": touching(marker), "cwd": "/", "env": {}}
    return {**given, "creator": bot(), **more}


def held(here: Machine, marker: Path) -> Waiting:
    """Have an agent ask for a session that somebody must approve."""
    answer = here.ask(**asked(marker))
    assert answer["ok"], answer
    waits = waiting_in(record_of(Created, answer))
    assert waits is not None, answer
    return waits


def book(session: SessionId) -> list[Entry]:
    return [*recover(places.session_log(session).read_bytes(), session).entries]


def books() -> list[list[Entry]]:
    return [book(SessionId(one.stem)) for one in places.log_dir().glob("*.log")]


def text_of(entry: Entry) -> str:
    return base64.b64decode(str(entry.fields["data"])).decode()


def approve(here: Machine, session: SessionId) -> wire.Refuse | None:
    boss = here.join(session, "boss", ActorKind.HUMAN)
    pending = boss.wait(wire.Pending)
    return boss.request(wire.Approve(pending.ticket, pending.epoch, pending.digest))


def state(here: Machine, session: SessionId) -> str:
    facts = here.facts(session)
    return "" if facts is None else str(facts["state"])


def sessions_of(here: Machine) -> list[SessionId]:
    listed = here.ask(do="list")["sessions"]
    assert isinstance(listed, list)
    return [SessionId(str(one["id"])) for one in listed]


def waiting(here: Machine) -> SessionId | None:
    for session in sessions_of(here):
        if state(here, session) == "starting":
            return session
    return None


def eventually_waiting(here: Machine) -> SessionId:
    return eventually("it waits", lambda: waiting(here))


def is_attached(here: Machine, session: SessionId) -> bool:
    del here
    return any(
        one.kind is EntryKind.ATTACHED and one.fields["actor"] == bot()
        for one in book(session)
    )


def wait_attached(here: Machine, session: SessionId) -> None:
    eventually("it is asked", lambda: is_attached(here, session))
