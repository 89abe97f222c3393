"""What becomes of an attach if something happens while it is only half loaded."""

import os
import signal
import time
from collections.abc import Callable, Iterator

import pytest
from tests.cli.support.pty_user import User
from tests.scenarios.support import Machine, eventually, machine

from holdfast.client import calls
from holdfast.core.book.logbook import EntryKind, read_entries
from holdfast.linux.stored import places
from holdfast.model.ids import SessionId

FULL = "yes 'a line of output, long enough to be one of many' | head -c 1500000"
DELAYS = (0.0, 0.02, 0.03, 0.04, 0.05, 0.06, 0.08, 0.1, 0.15)
"""Seconds after the start: from before the greeting until all is loaded."""


@pytest.fixture
def here() -> Iterator[Machine]:
    with machine() as made:
        yield made


@pytest.fixture
def sit() -> Iterator[Callable[..., User]]:
    sitting: list[User] = []

    def attach(session: SessionId, size: tuple[int, int] = (80, 24)) -> User:
        sitting.append(User("attach", session, size=size))
        return sitting[-1]

    yield attach
    for one in sitting:
        one.close()


def comers(session: SessionId) -> list[object]:
    """Return the client of each `attached` entry in the book."""
    lines = places.session_log(session).read_bytes().split(b"\n")[:-1]
    return [
        entry.fields.get("client")
        for entry in read_entries(lines, session)
        if entry.kind is EntryKind.ATTACHED
    ]


def leaves(user: User) -> None:
    user.types(b"\x1dd")
    assert user.left() == 0
    assert user.modes() == user.before


@pytest.mark.parametrize("delay", DELAYS)
def test_a_holder_killed_meanwhile_is_replaced(
    delay: float, here: Machine, sit: Callable[..., User]
) -> None:
    session = here.new("sh", "-c", f"{FULL}; echo LAST-LINE; exec cat")
    eventually("all is printed", lambda: calls.state(session).state != "running")
    holder = here.pid("holder", session)
    user = sit(session)
    time.sleep(delay)
    os.kill(holder, signal.SIGKILL)

    user.sees(b"LAST-LINE")
    user.sees(b"turn: ")
    user.types(b"typed\r")
    user.sees(b"typed\r\n")
    leaves(user)
    found = comers(session)
    # Each holder notes once that we came.
    assert len(set(found)) == 1
    assert len(found) <= 2


def test_a_keeper_is_not_needed(here: Machine, sit: Callable[..., User]) -> None:
    session = here.new("sh", "-c", "echo HERE; exec cat")
    here.wait_whole(session)
    here.kill("keeper")

    user = sit(session)
    user.sees(b"HERE")
    user.sees(b"turn: ")
    leaves(user)


@pytest.mark.parametrize("delay", DELAYS)
def test_keys_typed_meanwhile_arrive_once(
    delay: float, here: Machine, sit: Callable[..., User]
) -> None:
    session = here.new("sh", "-c", "stty -icanon -echo; exec cat")
    eventually("it reads", lambda: not calls.state(session).canonical)
    user = sit(session)
    for key in b"abcdefgh":
        user.types(bytes((key,)))
        time.sleep(delay / 8)

    user.sees(b"turn: ")
    user.types(b"!")
    assert here.join(session).wait_output(b"!") == b"abcdefgh!"
    leaves(user)


@pytest.mark.parametrize("delay", DELAYS[1:])
def test_a_window_resized_meanwhile_has_its_last_size(
    delay: float, here: Machine, sit: Callable[..., User]
) -> None:
    session = here.new("cat")
    user = sit(session)
    time.sleep(delay)
    user.resize(100, 30)
    user.signal(signal.SIGWINCH)

    user.sees(b"turn: ")
    eventually("the size", lambda: size_of(here, session) == [100, 30])
    leaves(user)


@pytest.mark.parametrize("size", [(1, 1), (0, 0), (2000, 2000)])
def test_a_terminal_of_an_odd_size_is_shown_something(
    size: tuple[int, int], here: Machine, sit: Callable[..., User]
) -> None:
    session = here.new("sh", "-c", "echo HERE; exec cat")

    user = sit(session, size)
    user.sees(b"turn: ")
    leaves(user)


@pytest.mark.parametrize("delay", DELAYS)
def test_told_to_end_meanwhile_it_gives_the_terminal_back(
    delay: float, here: Machine, sit: Callable[..., User]
) -> None:
    session = here.new("sh", "-c", f"{FULL}; echo LAST-LINE; exec cat")
    user = sit(session)
    time.sleep(delay)
    user.signal(signal.SIGTERM)

    assert user.left() in (-signal.SIGTERM, 128 + signal.SIGTERM)
    assert user.modes() == user.before


def size_of(here: Machine, session: SessionId) -> object:
    facts = here.facts(session)
    return None if facts is None else facts["size"]
