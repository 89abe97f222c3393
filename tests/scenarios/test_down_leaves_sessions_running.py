import contextlib
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.scenarios.support import Machine, eventually, machine

from holdfast.linux import packets, process_start
from holdfast.linux.stored import places

SHELL = ("bash", "--norc", "--noprofile")


@pytest.fixture
def here() -> Iterator[Machine]:
    with machine() as made:
        yield made


def holdfast(*words: str) -> str:
    command = [sys.executable, "-m", "holdfast", *words]
    done = subprocess.run(command, capture_output=True, check=False, timeout=60)
    assert done.returncode == 0, done.stderr.decode()
    return done.stdout.decode()


def is_alive(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text("latin-1").rpartition(")")[2]
    except OSError:
        return False
    return state.split()[0] != "Z"


def test_after_down_sessions_go_on_and_nothing_else_runs(here: Machine) -> None:
    session = here.new(*SHELL)
    client = here.join(session)
    client.enter(b"X=42\r")
    keeper, nursery = here.pid("keeper"), here.pid("nursery")
    holder = here.pid("holder", session)

    said = holdfast("down")

    assert "1 session keeps running" in said
    eventually("nursery gone", lambda: not is_alive(nursery))
    eventually("keeper gone", lambda: not is_alive(keeper))
    assert is_alive(holder)
    client.enter(b"echo it-is-$X\r")
    client.wait_output(b"it-is-42")
    # A holder that does not rest claims the start before it serves anybody.
    assert not (places.runtime_dir() / "claim.lock").exists()
    assert not places.keeper_socket().exists()


def test_a_new_keeper_knocks_and_finds_every_session_at_once(here: Machine) -> None:
    made = [here.new(*SHELL) for _ in range(5)]
    holdfast("down")

    process_start.ensure_keeper()

    listed = here.ask(do="list")["sessions"]
    assert isinstance(listed, list)
    assert {one["id"] for one in listed} == {*made}
    assert all(one["held"] for one in listed)


def test_a_client_that_attaches_to_a_resting_session_starts_no_keeper(
    here: Machine,
) -> None:
    session = here.new(*SHELL)
    holdfast("down")

    here.join(session).enter(b"echo hello\r")

    assert not places.keeper_socket().exists()


def test_a_session_that_ends_while_it_rests_is_listed_with_its_status(
    here: Machine,
) -> None:
    session = here.new("sh", "-c", "read line; exit 5")
    client = here.join(session)
    holdfast("down")
    client.enter(b"\r")
    client.wait_output(b"\r\n")

    process_start.ensure_keeper()

    facts = eventually("it is listed", lambda: here.facts(session))
    assert facts is not None
    assert eventually("its end", lambda: (here.facts(session) or {}).get("exit")) == 5


def test_down_with_end_sessions_ends_the_stubborn_too(here: Machine) -> None:
    here.new(*SHELL)
    stubborn = here.new("sh", "-c", "trap '' HUP; while :; do sleep 0.1; done")
    leader = here.pid("leader", stubborn)

    said = holdfast("down", "--end-sessions")

    assert "killed by SIGHUP" in said
    assert "killed by SIGKILL" in said
    assert not is_alive(leader)
    assert list(places.session_dir().iterdir()) == []


def test_a_keeper_that_dies_is_replaced_and_its_successor_knocks(here: Machine) -> None:
    made = [here.new(*SHELL) for _ in range(5)]

    here.kill("keeper")

    begun = time.monotonic()
    eventually("another keeper", lambda: here.ask(do="status"))
    for session in made:
        here.wait_whole(session)
    assert time.monotonic() - begun < 10


def test_sockets_of_the_dead_go_and_whatever_else_lies_there_stays(
    here: Machine,
) -> None:
    folder = places.session_dir()
    dead = folder / "s_aaaaaaaaaaaaaaaa.sock"
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(dead))
    file, link = folder / "s_bbbbbbbbbbbbbbbb.sock", folder / "s_cccccccccccccccc.sock"
    file.write_text("not a socket")
    link.symlink_to(places.keeper_socket())
    session = here.new(*SHELL)

    here.kill("keeper")

    eventually("the dead one is gone", lambda: not dead.exists())
    here.wait_whole(session)
    assert file.exists()
    assert link.is_symlink()


def test_a_holder_whose_queue_is_full_is_not_taken_for_dead(here: Machine) -> None:
    session = here.new(*SHELL)
    holder = here.pid("holder", session)
    os.kill(holder, signal.SIGSTOP)
    links = []
    try:
        while True:
            link = socket.socket(socket.AF_UNIX)
            link.settimeout(0)
            links.append(link)
            link.connect(str(places.session_socket(session)))
    except BlockingIOError:
        pass

    here.kill("keeper")
    process_start.ensure_keeper()
    assert places.session_socket(session).exists()
    for link in links:
        link.close()
    os.kill(holder, signal.SIGCONT)

    here.wait_whole(session)


def test_a_reader_that_takes_nothing_delays_nobody(here: Machine) -> None:
    for _ in range(3):
        here.new("sh", "-c", "sleep 60", "x" * 20_000)

    with packets.connect(places.keeper_socket(), 5) as greedy:
        # Whoever is over the bound is hung up on, maybe before it has asked so often.
        with contextlib.suppress(ConnectionError):
            for _ in range(200):
                packets.send(greedy, {"do": "list"})

        assert here.ask(do="status")["ok"]


def test_a_holder_that_dies_before_it_deposits_is_replaced(here: Machine) -> None:
    session = here.new(*SHELL)
    nursery = here.pid("nursery")
    children = Path(f"/proc/{nursery}/task/{nursery}/children")

    for _ in range(3):
        before = here.pid("holder", session)
        with contextlib.suppress(ProcessLookupError):  # It was replaced by now.
            os.kill(before, signal.SIGKILL)
        newborn = eventually(
            "a newborn",
            lambda old=before: [  # type: ignore[misc]
                pid for pid in children.read_text().split() if int(pid) != old
            ],
        )
        os.kill(int(newborn[0]), signal.SIGKILL)
        here.wait_whole(session)

    client = here.join(session)
    client.enter(b"echo still-here\r")
    client.wait_output(b"still-here")
