"""A session elsewhere is shown early, whatever happens to the relay meanwhile."""

import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator

import pytest
from tests.cli.support.pty_user import User
from tests.scenarios.elsewhere import Place, RelayPlace, free_port, places, relay
from tests.scenarios.support import eventually

from holdfast.linux.keeper_requests import ask_keeper
from holdfast.model.session_record import listed_in
from holdfast.model.session_requests import ListSessions

DELAYS = (0.0, 0.03, 0.06, 0.09, 0.12, 0.2, 0.4)
"""Seconds after the start: from before the relay is dialled until all is loaded."""

SLOW = {"asyncio", "websockets", "msgspec", "dataclasses", "typing", "re", "socket"}

PROGRAM = """
import sys
from holdfast.cli import start
assert start._begun(start.EARLY["attach"], ["box/web"]) is None
print(*sorted(sys.modules), file=sys.stderr)
"""


@pytest.fixture
def between() -> Iterator[RelayPlace]:
    with relay() as made:
        yield made


@pytest.fixture
def away(between: RelayPlace) -> Iterator[tuple[Place, Place]]:
    """Return a machine with a session, and another that may go there."""
    with places() as (home, there):
        home.up(between.url)
        there.do("join", "-", "--name", "box", said=home.invite())
        home.new("sh", "-c", "echo PICTURE; exec cat")
        yield home, there


@pytest.fixture
def sit() -> Iterator[Callable[[Place], User]]:
    sitting: list[User] = []

    def attach(there: Place) -> User:
        with there.inhabited():
            sitting.append(User("attach", "box/web"))
        return sitting[-1]

    yield attach
    for one in sitting:
        one.close()


def comers(home: Place) -> list[str]:
    entries = home.do("log", "web", "--json").splitlines()
    return [line for line in entries if '"attached"' in line]


def holder_at(home: Place) -> int:
    """Return the pid of the one session's holder; 0 while there is none."""
    with home.inhabited():
        (facts,) = listed_in(ask_keeper(ListSessions()))
    assert isinstance(facts, dict)
    return int(facts["holder"])


def screen_of(home: Place) -> str:
    # On a busy machine a painter may be late, and is asked again.
    return eventually("a screen", lambda: home.run("screen", "web").stdout)


def leaves(user: User) -> None:
    user.types(b"\x1dd")
    assert user.left() == 0
    assert user.modes() == user.before


def test_nothing_that_is_slow_to_load_is_loaded_before_the_picture(
    away: tuple[Place, Place],
) -> None:
    home, there = away
    user = User("--version")
    with there.inhabited():
        run = subprocess.run(
            [sys.executable, "-c", PROGRAM],
            stdin=user.slave,
            stdout=user.slave,
            stderr=subprocess.PIPE,
            text=True,
            check=True,
        )
    user.sees(b"box/web: only you")
    user.sees(b"PICTURE")
    user.close()

    assert not SLOW & set(run.stderr.split())
    assert len(comers(home)) == 1


def test_what_is_typed_arrives_and_leave_is_taken(
    away: tuple[Place, Place], sit: Callable[[Place], User]
) -> None:
    home, there = away
    user = sit(there)
    user.types(b"early\r")
    user.sees(b"PICTURE")
    user.sees(b"turn: ")
    user.types(b"late\r")
    user.sees(b"late\r\n")
    leaves(user)

    eventually("it is gone", lambda: not home.status()["operators"])
    assert screen_of(home).count("early") == 2
    assert len(comers(home)) == 1


@pytest.mark.parametrize("delay", DELAYS)
def test_a_relay_killed_meanwhile_comes_back_and_nothing_is_done_twice(
    delay: float,
    away: tuple[Place, Place],
    between: RelayPlace,
    sit: Callable[[Place], User],
) -> None:
    home, there = away
    user = sit(there)
    time.sleep(delay)
    between.kill()
    between.start()
    eventually("the host is linked", home.is_linked)
    if user.program.poll() is not None:
        # The relay was gone while it was looked for: that is said, with what to do.
        assert user.program.returncode != 0
        user.sees(b"127.0.0.1")
        return
    user.sees(b"PICTURE")
    user.sees(b"turn: ")
    user.types(b"typed\r")
    user.sees(b"typed\r\n")
    leaves(user)
    assert screen_of(home).count("typed") == 2


def test_a_relay_killed_once_the_picture_is_there_is_dialled_again(
    away: tuple[Place, Place], between: RelayPlace, sit: Callable[[Place], User]
) -> None:
    home, there = away
    user = sit(there)
    user.sees(b"PICTURE")
    between.kill()
    user.types(b"typed\r")
    between.start()

    user.sees(b"typed\r\n")
    leaves(user)
    assert screen_of(home).count("typed") == 2


@pytest.mark.parametrize("delay", DELAYS)
def test_a_holder_killed_meanwhile_is_replaced(
    delay: float, away: tuple[Place, Place], sit: Callable[[Place], User]
) -> None:
    home, there = away
    holder = eventually("a holder", lambda: holder_at(home))
    user = sit(there)
    time.sleep(delay)
    os.kill(holder, signal.SIGKILL)

    user.sees(b"PICTURE")
    user.sees(b"turn: ")
    user.types(b"typed\r")
    user.sees(b"typed\r\n")
    leaves(user)


@pytest.mark.parametrize("delay", DELAYS)
def test_told_to_end_meanwhile_it_gives_the_terminal_back(
    delay: float, away: tuple[Place, Place], sit: Callable[[Place], User]
) -> None:
    _, there = away
    user = sit(there)
    time.sleep(delay)
    user.signal(signal.SIGTERM)

    assert user.left() in (128 + signal.SIGTERM, -signal.SIGTERM)
    assert user.modes() == user.before


# ── relays that are none ──────────────────────────────────────────────────────


def serving(port: int, serve: Callable[[socket.socket], None]) -> socket.socket:
    listener = socket.create_server(("127.0.0.1", port))

    def accept() -> None:
        try:
            while True:
                link, _ = listener.accept()
                threading.Thread(target=attend, args=[link], daemon=True).start()
        except OSError:
            pass

    def attend(link: socket.socket) -> None:
        try:
            with link:
                serve(link)
        except OSError:
            pass

    threading.Thread(target=accept, daemon=True).start()
    return listener


def closes(link: socket.socket) -> None:
    link.recv(4096)


def is_silent(link: socket.socket) -> None:
    while link.recv(4096):
        pass


def says_garbage(link: socket.socket) -> None:
    link.recv(4096)
    link.sendall(os.urandom(4096))
    is_silent(link)


@pytest.mark.parametrize("serve", [closes, is_silent, says_garbage])
def test_what_is_no_relay_is_said_to_be_none_and_what_to_do(
    serve: Callable[[socket.socket], None],
    away: tuple[Place, Place],
    between: RelayPlace,
    sit: Callable[[Place], User],
) -> None:
    _, there = away
    between.kill()
    listener = serving(between.port, serve)
    user = sit(there)

    assert user.left() not in (0, None)
    user.sees(f"http://127.0.0.1:{between.port}".encode())
    user.sees(b"holdfast: ")
    assert b"Traceback" not in user.shown
    assert user.modes() == user.before
    listener.close()


def test_a_host_with_another_key_is_not_shown(
    away: tuple[Place, Place], sit: Callable[[Place], User]
) -> None:
    _, there = away
    path = f"{there.folder}/config/hosts/box.json"
    with open(path) as file:  # noqa: PTH123
        text = file.read()
    static = text.split('"static_key": "')[1][:64]
    with open(path, "w") as file:  # noqa: PTH123
        file.write(
            text.replace(static, ("0" if static[0] != "0" else "1") + static[1:])
        )
    user = sit(there)

    assert user.left() not in (0, None)
    assert b"PICTURE" not in user.shown
    assert b"Traceback" not in user.shown
    user.sees(b"box")


def test_a_relay_that_nobody_is_at_is_said_so(
    away: tuple[Place, Place], sit: Callable[[Place], User]
) -> None:
    _, there = away
    path = f"{there.folder}/config/hosts/box.json"
    with open(path) as file:  # noqa: PTH123
        text = file.read()
    old = text.split('"http://')[1].split('"')[0]
    nowhere = f"127.0.0.1:{free_port()}"
    with open(path, "w") as file:  # noqa: PTH123
        file.write(text.replace(old, nowhere))
    user = sit(there)

    assert user.left() not in (0, None)
    user.sees(nowhere.encode())
