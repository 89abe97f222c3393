"""A session that dozes is reached whatever has become of the keeper."""

import fcntl
import os
import signal
import socket
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.scenarios import witness
from tests.scenarios.dozing import (
    SOON,
    dozes,
    dozing_machine,
    fall_asleep,
    leave,
    said,
    typed,
)
from tests.scenarios.support import Machine, eventually

from holdfast.linux.stored import places

MOMENT = 4 * SOON
"""Seconds in which a session would have woken, if somebody had knocked."""


@pytest.fixture
def here() -> Iterator[Machine]:
    with dozing_machine() as made:
        yield made


def test_a_seize_by_id_reaches_it_without_a_keeper(here: Machine) -> None:
    session = here.new("cat")
    fall_asleep(here, session)

    os.kill(here.pid("keeper"), signal.SIGKILL)
    said("seize", session)

    assert here.facts(session) is not None


@pytest.mark.parametrize("is_stopped", [True, False])
def test_a_seize_reaches_it_though_nobody_watches(
    here: Machine, *, is_stopped: bool
) -> None:
    session = here.new("cat")
    fall_asleep(here, session)
    victims = [here.pid("keeper"), here.pid("trustee")]
    for pid in victims:
        os.kill(pid, signal.SIGSTOP)
    if not is_stopped:
        os.kill(victims[0], signal.SIGKILL)

    began = time.monotonic()
    said("seize", session, "--freeze")

    assert time.monotonic() - began < 12


def test_it_wakes_though_every_keeper_is_kept_from_coming_back(here: Machine) -> None:
    session = here.new("cat")
    fall_asleep(here, session)
    keeper_before = here.pid("keeper")
    lock = os.open(places.runtime_dir() / "keeper.lock", os.O_RDWR)
    try:
        os.kill(keeper_before, signal.SIGKILL)
        fcntl.flock(lock, fcntl.LOCK_EX)

        client = here.join(session)
        client.enter(b"hello\r")
        client.wait_output(b"hello\r\nhello")
    finally:
        os.close(lock)
    leave(client)
    eventually("a keeper again", lambda: here.pid("keeper"))
    fall_asleep(here, session)


def test_a_new_keeper_wakes_nobody(here: Machine) -> None:
    sessions = [here.new("sleep", "600") for _ in range(3)]
    fall_asleep(here, *sessions)
    keeper_before = here.pid("keeper")

    os.kill(keeper_before, signal.SIGKILL)

    eventually("another keeper", lambda: here.pid("keeper") != keeper_before)
    time.sleep(MOMENT)
    assert all(dozes(here, session) for session in sessions)
    assert here.ask(do="status")["dozing"] == 3
    eventually(
        "the old trustee and dozer have gone",
        lambda: len(witness.children(here.pid("keeper"))) >= 3,
    )


def test_after_down_they_doze_on_and_up_finds_them(here: Machine) -> None:
    sessions = [here.new("bash", "--norc", "--noprofile") for _ in range(3)]
    for session in sessions:
        typed(here, session, b"X=42\r", b"X=42")
    fall_asleep(here, *sessions)
    dozer = int(str(here.ask(do="status")["dozer"]))

    assert "3 sessions keep running" in said("down")
    assert not witness.is_dead(dozer)
    said("ls")

    assert all(dozes(here, session) for session in sessions)
    eventually("its dozer has gone", lambda: witness.is_dead(dozer))
    typed(here, sessions[0], b"echo still-$X.\r", b"still-42.")


def test_after_down_it_still_wakes_and_no_keeper_comes(
    here: Machine, tmp_path: Path
) -> None:
    go = tmp_path / "go"
    os.mkfifo(go)
    talker = here.new("sh", "-c", f"read x <{go}; echo $x; sleep 600")
    cat = here.new("cat")
    fall_asleep(here, talker, cat)
    dozer = int(str(here.ask(do="status")["dozer"]))
    said("down")

    client = here.join(cat)
    client.enter(b"hello\r")
    client.wait_output(b"hello\r\nhello")
    go.write_text("out\n")

    here.join(talker).wait_output(b"out")
    assert not places.keeper_socket().exists()
    eventually("nothing dozes any more", lambda: witness.is_dead(dozer))
    assert not places.dozer_socket().exists()
    leave(client)
    said("ls")  # Which starts a keeper.
    assert here.facts(talker) is not None
    assert here.facts(cat) is not None


def test_a_connection_that_knew_nothing_of_dozing_is_served(here: Machine) -> None:
    session = here.new("cat")
    fall_asleep(here, session)

    with socket.socket(socket.AF_UNIX) as link:
        link.connect(str(places.session_socket(session)))

    # It hung up before anybody was there: it is woken, and dozes again.
    eventually("it wakes", lambda: not dozes(here, session))
    fall_asleep(here, session)
