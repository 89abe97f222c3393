import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator

import pytest
from tests.scenarios.support import Machine, eventually, machine

from holdfast.client import host
from holdfast.core.session.expired_records import KEEP_FOR
from holdfast.host.expired_records import clear_away
from holdfast.linux import packets
from holdfast.linux.stored import places
from holdfast.model.ids import SessionId
from holdfast.model.session_requests import Status


@pytest.fixture
def here() -> Iterator[Machine]:
    with machine() as made:
        yield made


def holdfast(*words: str) -> "subprocess.CompletedProcess[bytes]":
    return subprocess.run(
        [sys.executable, "-m", "holdfast", *words],
        capture_output=True,
        check=False,
        timeout=60,
    )


def host_pid() -> object:
    found = host.request(Status())
    return None if found is None else found["pid"]


def is_noted(here: Machine, session: SessionId) -> bool:
    return "ended_ms" in (here.facts(session) or {})


def ended(here: Machine, session: SessionId) -> float:
    """Return when a session ended, once that is noted."""
    eventually("its end", lambda: is_noted(here, session))
    return int(str((here.facts(session) or {})["ended_ms"])) / 1000


def test_a_second_host_says_that_there_is_one_and_is_content(here: Machine) -> None:
    assert here.ask(do="status")["ok"]
    first = json.loads(holdfast("up", "--detach", "--json").stdout)
    second = holdfast("up", "--detach", "--json")
    third = holdfast("up")

    assert first["started"] is True
    assert json.loads(second.stdout)["started"] is False
    assert (second.returncode, third.returncode) == (0, 0)
    assert b"already" in third.stdout
    assert places.host_socket().stat().st_mode & 0o777 == 0o600


def test_killing_the_host_harms_nobody_and_another_takes_its_place(
    here: Machine,
) -> None:
    session = here.new("bash", "--norc")
    client = here.join(session)
    client.enter(b"X=42\r")
    first = host.start().pid

    os.kill(first, signal.SIGKILL)

    client.enter(b"echo it-is-$X\r")
    client.wait_output(b"it-is-42")
    assert host.start().pid != first


def test_the_host_starts_a_keeper_when_nobody_else_would(here: Machine) -> None:
    host.start()
    dead = here.pid("keeper")

    os.kill(dead, signal.SIGKILL)

    eventually("another keeper", lambda: here.pid("keeper") != dead)


def test_down_ends_the_host_first_so_that_it_starts_no_keeper(here: Machine) -> None:
    host.start()
    here.new("sleep", "60")

    assert holdfast("down").returncode == 0

    assert host.request(Status()) is None
    assert not places.keeper_socket().exists()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_in_the_foreground_a_signal_ends_the_host_and_no_session(
    here: Machine, number: int
) -> None:
    session = here.new("sleep", "60")
    command = [sys.executable, "-m", "holdfast", "up"]
    process = subprocess.Popen(command, stderr=subprocess.PIPE)
    eventually("it answers", lambda: host_pid() == process.pid)

    process.send_signal(number)

    _, said = process.communicate(timeout=20)
    assert process.returncode == 0
    assert b"host.started" in said
    assert b"host.ended" in said
    assert here.is_whole(session)


def test_nonsense_at_its_socket_does_not_end_the_host(here: Machine) -> None:
    assert here.ask(do="status")["ok"]
    pid = host.start().pid

    with packets.connect(places.host_socket(), 5.0) as link:
        packets.send(link, {"do": "dance"})
        heard = packets.receive(link)

    assert heard is not None
    assert heard[0]["code"] == "unexpected-message"
    assert host_pid() == pid


def test_what_ended_long_ago_is_cleared_away_and_nothing_else(here: Machine) -> None:
    running = here.new("sleep", "60")
    old, kept = (here.new("true") for _ in range(2))
    ends = [ended(here, session) for session in (old, kept)]
    young = here.new("true")
    assert ended(here, young) > max(ends)
    here.ask(do="keep", id=kept, keep=True)
    orphan = places.session_log(SessionId("s_aaaaaaaaaaaaaaaa"))
    orphan.write_text("")
    os.utime(orphan, (1, 1))

    assert clear_away(max(ends) + KEEP_FOR + 0.0005) == 2

    listed = here.ask(do="list")["sessions"]
    assert isinstance(listed, list)
    assert {one["id"] for one in listed} == {kept, young, running}
    assert not orphan.exists()
    assert places.session_log(old).exists()
    assert places.session_log(running).exists()
