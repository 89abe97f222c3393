"""What of ours stands still or loops is replaced, and the session answers again."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.scenarios import copies, witness
from tests.scenarios.support import PATIENCE, Client, Machine, eventually, machine

from holdfast.client import host
from holdfast.linux import packets
from holdfast.linux.stored import places
from holdfast.model.ids import SessionId
from holdfast.model.session_requests import Status
from holdfast.wire import messages as wire

NOTICED = 5.0
"""Seconds in which what hangs is noticed and killed."""

SLOW = 10.0
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
    assert "stalled" in said("ls")
    eventually("it is replaced", lambda: witness.is_dead(holder))
    replaced = time.monotonic() - began
    answers(here, session, "still")
    assert replaced < NOTICED + SLOW
    assert here.pid("leader", session) == leader
    facts = here.facts(session)
    assert facts is not None
    assert facts["state"] == "running"


def said(*words: str) -> str:
    """Return what a verb prints."""
    command = [sys.executable, "-m", "holdfast", *words]
    return subprocess.run(command, capture_output=True, text=True, check=False).stdout


DOORS = {"painter": places.painter_socket, "judge": places.judge_socket}


def knock(what: str) -> None:
    """Have a process behind a door answer: it hangs up on what is no request."""
    with packets.connect(DOORS[what](), PATIENCE) as link:
        link.send(b"?")
        assert link.recv(10) == b""


def pid_of(here: Machine, what: str, session: SessionId) -> int:
    """Return which process is meant, having it started if need be."""
    if what == "host":
        pid = host.start().pid
        eventually("it is known", lambda: here.ask(do="status")[what] == pid)
        return pid
    if what in DOORS:
        knock(what)
        return eventually(f"a {what}", lambda: int(str(here.ask(do="status")[what])))
    return here.pid(what, session)


def is_served(here: Machine, what: str, session: SessionId) -> bool:
    """Tell whether another one of a kind does what it is for."""
    if what == "host":
        return host.request(Status()) is not None
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


def test_keeper_and_trustee_stopped_in_one_moment_are_replaced(here: Machine) -> None:
    session = shell(here)
    leader, nursery = here.pid("leader", session), here.pid("nursery")
    both = here.pid("keeper"), here.pid("trustee")
    client = here.join(session)
    began = time.monotonic()

    for pid in both:
        os.kill(pid, signal.SIGSTOP)

    eventually("they are replaced", lambda: all(map(witness.is_dead, both)))
    assert time.monotonic() - began < NOTICED + SLOW
    eventually("there is a keeper", lambda: here.is_whole(session))
    answers(here, session, "still")
    assert here.pid("leader", session) == leader
    assert here.pid("nursery") != nursery
    assert replaced_of(client) == "keeper"


def test_a_dead_holder_s_session_outlives_keeper_and_trustee_stopped(
    here: Machine,
) -> None:
    """Only the trustee, which is stopped, has what the session is."""
    session = shell(here)
    leader = here.pid("leader", session)
    holder, trustee = here.pid("holder", session), here.pid("trustee")

    for pid in (here.pid("keeper"), trustee):
        os.kill(pid, signal.SIGSTOP)
    os.kill(holder, signal.SIGKILL)

    eventually("there is a keeper", lambda: here.is_whole(session))
    answers(here, session, "still")
    assert here.pid("leader", session) == leader


def replaced_of(client: Client) -> object:
    """Return what a client is told has been replaced, through any cut."""
    event = client.through_cuts(lambda: None, lambda: client.wait(wire.Event))
    assert event.name == "process.replaced"
    return event.fields["what"]


def test_whoever_is_attached_is_told_what_was_replaced(here: Machine) -> None:
    first, second = shell(here), shell(here)
    judge = pid_of(here, "judge", first)
    clients = [here.join(one) for one in (first, second)]

    os.kill(judge, signal.SIGSTOP)
    assert [replaced_of(one) for one in clients] == ["judge", "judge"]
    os.kill(here.pid("holder", first), signal.SIGSTOP)
    assert replaced_of(clients[0]) == "holder"

    # The other session has nothing to do with that; the keeper was theirs, too.
    os.kill(here.pid("keeper"), signal.SIGSTOP)
    assert [replaced_of(one) for one in clients] == ["keeper", "keeper"]
    assert "3 that hung" not in said("status")  # It has forgotten what was before it.
    assert "1 that hung" in said("status")
    third = here.join(shell(here))
    third.who()
    assert not [one for one in third._inbox if isinstance(one, wire.Event)]  # noqa: SLF001


def test_holders_that_were_given_up_are_said_by_doctor_and_status(
    here: Machine,
) -> None:
    session = shell(here)
    assert "all answer; none has hung" in said("doctor")

    here.ask(do="gave-up", id=session, why="has met a bug")

    told = f"session {session}: a holder was given up because it has met a bug"
    assert told in " ".join(said("doctor").split())
    assert told in said("status")


LOOPS = """
import signal

def _loop(*_):
    while True:
        pass

signal.signal(signal.SIGUSR2, _loop)
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
        hangs_and_is_replaced(here, what, signal.SIGUSR2)


HOGS = 3
"""Programs that want the same processor as a holder, all of it."""


def test_a_holder_that_is_merely_slow_is_left_alone(here: Machine) -> None:
    session = here.new("sh", "-c", "stty raw -echo; yes & exec cat >/dev/null")
    holder = here.pid("holder", session)
    hogs = [subprocess.Popen(["sh", "-c", "while :; do :; done"]) for _ in range(HOGS)]  # noqa: S607  # whichever there is
    try:
        # All on one processor, which leaves the other to whoever watches.
        one = {min(os.sched_getaffinity(holder))}
        for pid in (holder, *(hog.pid for hog in hogs)):
            os.sched_setaffinity(pid, one)
        os.setpriority(os.PRIO_PROCESS, holder, 5)
        client = here.join(session)
        until = time.monotonic() + 8
        while time.monotonic() < until:
            client.output = b""
            client.enter(b"x" * 2000)
    finally:
        for hog in hogs:
            hog.kill()
            hog.wait()

    assert here.pid("holder", session) == holder
    replaced = here.ask(do="status")["replaced"]
    assert isinstance(replaced, dict)
    assert replaced["count"] == 0
