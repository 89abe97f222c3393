"""Whoever asks what a session does and what runs there is told by the kernel."""

import os
import shutil
import signal
import socket
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.scenarios.support import PATIENCE, Client, Machine, eventually, machine

from holdfast.client import calls
from holdfast.linux.graph import listeners
from holdfast.linux.process_table import read_process
from holdfast.model.actors import ActorKind
from holdfast.model.errors import NotAllowed
from holdfast.model.ids import SessionId
from holdfast.wire import messages as wire
from holdfast.wire import presence as parties
from holdfast.wire.evidence import Evidence, StateRequest
from holdfast.wire.graphs import Graph, GraphRequest

SHELL = ("bash", "--norc", "-i")

IN_TIME = 1.0
"""Seconds in which a program that begins to wait is known to do so."""

ASKING = [
    ("read x", "waiting-for-input"),
    ("read -s x", "waiting-for-secret"),
    (f"{sys.executable} -c 'input()'", "waiting-for-input"),
    (
        f"{sys.executable} -c 'import getpass; getpass.getpass()'",
        "waiting-for-secret",
    ),
    ("cat", "waiting-for-input"),
    ("vim -u NONE", "idle"),
]

BUSY = [
    "while :; do echo password:; done",
    f"{sys.executable} -c 'import time; print(\"Password: \"); time.sleep(99)'",
    "sleep 99",
    "sleep 99 | cat",
]

SPREAD = """
import os, socket, sys, time
s = socket.socket()
s.bind(("127.0.0.1", 0))
s.listen()
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        print("up", s.getsockname()[1], os.getpid(), flush=True)
        time.sleep(99)
    os._exit(0)
s.close()
os.wait()
time.sleep(99)
"""


@pytest.fixture
def here() -> Iterator[Machine]:
    with machine() as made:
        yield made


def becomes(session: SessionId, word: str, *, within: float = PATIENCE) -> Evidence:
    """Return what is seen once the session does this."""
    give_up_at = time.monotonic() + within
    while (seen := calls.state(session)).state != word:
        assert time.monotonic() < give_up_at, f"it never came to this: {seen}"
    return seen


def at_prompt(here: Machine) -> tuple[SessionId, Client]:
    session = here.new(*SHELL)
    becomes(session, "at-prompt")
    return session, here.join(session)


@pytest.mark.parametrize(("line", "word"), ASKING)
def test_a12_who_waits_is_known_within_a_second(
    here: Machine, line: str, word: str
) -> None:
    program = line.partition(" ")[0]
    if shutil.which(program) is None and program != "read":
        pytest.skip(f"there is no {program}")
    session, client = at_prompt(here)
    client.enter(f"printf 'be''gun\\n'; {line}\r".encode())
    client.wait_output(b"begun\r\n")

    # The program itself takes time to begin to read; ours is what is added.
    eventually("it is sure", lambda: becomes(session, word).sure)
    asked_at = time.monotonic()
    calls.state(session)
    assert time.monotonic() - asked_at < IN_TIME


@pytest.mark.parametrize("line", BUSY)
def test_a12_prose_and_silence_are_not_taken_for_a_question(
    here: Machine, line: str
) -> None:
    session, client = at_prompt(here)
    client.enter(f"printf 'be''gun\\n'; {line}\r".encode())
    client.wait_output(b"begun\r\n")

    assert {calls.state(session).state for _ in range(30)} == {"running"}


def test_a_session_that_is_frozen_or_over_says_so(here: Machine) -> None:
    session, client = at_prompt(here)

    assert client.request(wire.Freeze()) is None
    assert calls.state(session).state == "frozen"
    assert client.request(wire.Thaw()) is None
    becomes(session, "at-prompt")
    client.submit(b"exit 3\r")
    client.wait(wire.Exited)
    client.send(StateRequest())
    assert client.wait(Evidence).state == "exited"


def test_the_state_is_the_same_under_the_next_holder(here: Machine) -> None:
    session, client = at_prompt(here)
    client.enter(b"read -s x\r")
    becomes(session, "waiting-for-secret")

    here.replace_holder(session)

    assert becomes(session, "waiting-for-secret").sure


def test_a21_a_server_is_found_by_its_port_and_gone_once_killed(
    here: Machine, tmp_path: Path
) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = (sys.executable, "-m", "http.server", str(port), "-d", str(tmp_path))
    session = here.new("bash", "-c", " ".join(command) + "; sleep 99")

    (pid,) = eventually("it listens", lambda: listening(session, port))
    assert [one.pid for one in listeners(port)] == [pid]
    here.replace_holder(session)
    assert listening(session, port) == [pid]
    os.kill(pid, signal.SIGKILL)
    eventually("it is gone", lambda: not listening(session, port))
    assert listeners(port) == []


def test_a21_a_daemon_that_left_its_terminal_and_parent_is_still_the_session_s(
    here: Machine,
) -> None:
    session = here.new(sys.executable, "-c", SPREAD)
    client = here.join(session)
    line = client.wait_output(b"\n").split(b"\n")[0]
    _, port, daemon = line.split()

    graph = calls.graph(session)

    assert int(daemon) in {one.pid for one in graph.processes}
    assert listening(session, int(port)) == [int(daemon)]


def test_a21_the_graph_is_the_process_table(here: Machine) -> None:
    session, client = at_prompt(here)
    client.enter(b"sleep 99 | cat | cat\r")
    becomes(session, "running")
    eventually("all run", lambda: len(calls.graph(session).processes) == 4)

    for one in calls.graph(session, descriptors=True).processes:
        process = read_process(one.pid)
        assert process is not None
        assert process.started == one.started_ticks
        assert one.unlisted == 0


def test_t25_no_process_of_another_session_is_in_the_graph(here: Machine) -> None:
    first, second = here.new(*SHELL), here.new(*SHELL)

    graphs = [calls.graph(one).processes for one in (first, second)]

    assert {one.pid for one in graphs[0]} == {here.pid("leader", first)}
    assert {one.pid for one in graphs[1]} == {here.pid("leader", second)}


def test_who_may_not_observe_is_told_nothing(here: Machine) -> None:
    session, human = at_prompt(here)
    robot = here.join(session, "robo", ActorKind.AGENT)
    assert human.request(parties.Revoke(robot.operator.actor.id)) is None

    answer = robot.greet()

    assert isinstance(answer, wire.Refuse)
    for asked in (StateRequest(), GraphRequest(descriptors=True)):
        robot.send(asked)
        refused = robot.wait(wire.Refuse, Evidence, Graph)
        assert isinstance(refused, wire.Refuse)
        assert refused.code == NotAllowed.code


def test_a_client_that_reads_no_graph_holds_nobody_up(here: Machine) -> None:
    session, client = at_prompt(here)
    deaf = here.join(session)
    for _ in range(300):
        deaf.send(GraphRequest(descriptors=True))

    assert calls.state(session).state == "at-prompt"
    assert isinstance(client.enter(b"echo he''re\r"), wire.Acknowledge)
    client.wait_output(b"here\r\n")


def listening(session: SessionId, port: int) -> list[int]:
    return [one.pid for one in calls.graph(session).listeners if one.port == port]
