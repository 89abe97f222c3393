"""What of ours stands still or loops is replaced, and the session answers again."""

import os
import signal
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.scenarios import copies, witness
from tests.scenarios.support import PATIENCE, Machine, eventually, machine

from holdfast.client import host
from holdfast.linux import packets, places
from holdfast.model.ids import SessionId

NOTICED = 5.0
"""Seconds in which what hangs is noticed."""

SLOW = 8.0
"""Seconds more on a machine that does many other things."""

EVERYONE = ("keeper", "holder", "nursery", "trustee", "painter", "judge", "host")


@pytest.fixture
def here() -> Iterator[Machine]:
    with machine() as made:
        yield made


def shell(here: Machine) -> SessionId:
    session = here.new("bash", "--norc")
    client = here.join(session)
    client.enter(b"X=42\r")
    return session


def answers(here: Machine, session: SessionId, word: str) -> None:
    client = here.join(session)
    client.enter(f"echo {word}-$X.\r".encode())
    client.wait_output(f"{word}-42.".encode())


def test_a_holder_that_is_stopped_is_called_stalled_and_replaced(here: Machine) -> None:
    session = shell(here)
    holder, leader = here.pid("holder", session), here.pid("leader", session)
    began = time.monotonic()

    os.kill(holder, signal.SIGSTOP)

    eventually("stalled", lambda: (here.facts(session) or {}).get("state") == "stalled")
    eventually("it is replaced", lambda: witness.is_dead(holder))
    replaced = time.monotonic() - began
    answers(here, session, "still")
    assert replaced < NOTICED + SLOW
    assert here.pid("leader", session) == leader
    facts = here.facts(session)
    assert facts is not None
    assert facts["state"] == "running"


DOORS = {"painter": places.painter_socket, "judge": places.judge_socket}


def knock(what: str) -> None:
    """Have a process behind a door answer: it hangs up on what is no request."""
    with packets.connect(DOORS[what](), PATIENCE) as link:
        link.send(b"?")
        assert link.recv(10) == b""


def pid_of(here: Machine, what: str, session: SessionId) -> int:
    """Return which process is meant, having it started if need be."""
    if what == "host":
        pid = int(str(host.start()["pid"]))
        eventually("it is known", lambda: here.ask(do="status")[what] == pid)
        return pid
    if what in DOORS:
        knock(what)
        return eventually(f"a {what}", lambda: int(str(here.ask(do="status")[what])))
    return here.pid(what, session)


def is_served(here: Machine, what: str, session: SessionId) -> bool:
    """Tell whether another one of a kind does what it is for."""
    if what == "host":
        return host.request("status") is not None
    if what in DOORS:
        knock(what)
        return True
    return bool(here.new("true")) and here.is_whole(session)


@pytest.mark.parametrize("what", EVERYONE)
def test_what_is_stopped_is_replaced(here: Machine, what: str) -> None:
    hangs_and_is_replaced(here, what, signal.SIGSTOP)


def hangs_and_is_replaced(here: Machine, what: str, number: int) -> None:
    session = shell(here)
    leader, pid = here.pid("leader", session), pid_of(here, what, session)
    began = time.monotonic()

    os.kill(pid, number)

    eventually("it is replaced", lambda: witness.is_dead(pid))
    replaced = time.monotonic() - began
    eventually(f"another {what}", lambda: is_served(here, what, session))
    answers(here, session, "still")
    told = f"{what}: replaced after {replaced:.1f} s"
    sys.stderr.write(f"{told}, serves after {time.monotonic() - began:.1f} s\n")
    assert replaced < NOTICED + SLOW
    assert here.pid("leader", session) == leader
    assert pid_of(here, what, session) != pid
    assert "process.replaced" in (places.runtime_dir() / "keeper.log").read_text()


LOOPS = """
import signal

def _loop(*_):
    while True:
        pass

signal.signal(signal.SIGUSR1, _loop)
"""


@pytest.fixture(scope="module")
def looping(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = copies.copy(tmp_path_factory.mktemp("looping"), "0.0.1")
    for module in ("version.py", "painter/main.py", "judge/main.py"):
        copies.plant(root, module, LOOPS)
    return root


@pytest.mark.parametrize("what", EVERYONE)
def test_what_loops_without_an_end_is_replaced(looping: Path, what: str) -> None:
    with copies.machine_running(looping) as here:
        hangs_and_is_replaced(here, what, signal.SIGUSR1)
