"""`ls` on a real terminal, and terminals that others detach."""

import subprocess
import sys
from collections.abc import Iterator

import pytest
from tests.cli.support.pty_user import User
from tests.scenarios.support import Machine, eventually, machine

from holdfast.client import keeper
from holdfast.model.ids import SessionId


@pytest.fixture
def here() -> Iterator[Machine]:
    with machine() as made:
        yield made


def listed(columns: int) -> list[str]:
    user = User("ls", size=(columns, 24))
    assert user.left() == 0
    user.sees(b"COMMAND")
    user.close()
    return user.shown.decode().splitlines()


def waits(session: SessionId) -> bool:
    (one,) = [one for one in keeper.sessions(look=True) if one.id == session]
    return one.doing == "waiting-for-input"


@pytest.mark.parametrize("columns", [80, 132])
def test_the_list_is_as_wide_as_the_terminal_at_most(
    here: Machine, columns: int
) -> None:
    session = here.new("sh", "-c", f"read {'x' * 200}")
    eventually("it waits", lambda: waits(session))

    title, *rows = listed(columns)

    assert all(len(one) <= columns for one in (title, *rows))
    assert ("ID" in title.split()) is False
    assert "waiting-for-input" in rows[0]


def attached(session: SessionId) -> tuple[str, ...]:
    (one,) = [one for one in keeper.sessions(look=True) if one.id == session]
    return one.attached


def test_a_terminal_is_detached_from_elsewhere_and_told_by_whom(here: Machine) -> None:
    session = here.new("cat")
    first, second = User("a", session), User("attach", "-t", session)
    eventually("both are here", lambda: len(attached(session)) == 2)

    words = [sys.executable, "-m", "holdfast", "detach", session]
    done = subprocess.run(words, capture_output=True, text=True, check=True)

    assert done.stdout.count("detached you (cli)") == 2
    for user in (first, second):
        user.sees(b"detached by ")
        assert user.left() == 0
        assert user.modes() == user.before
        user.close()
    assert attached(session) == ()
    facts = here.facts(session)
    assert facts is not None
    assert facts["exit"] is None
    again = subprocess.run(words, capture_output=True, text=True, check=True)
    assert "no client to detach is attached" in again.stdout
