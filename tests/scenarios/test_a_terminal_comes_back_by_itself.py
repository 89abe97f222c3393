import contextlib
from collections.abc import Iterator

import pytest
from tests.cli.support.pty_user import User
from tests.scenarios.elsewhere import Place, RelayPlace, places, relay
from tests.scenarios.support import eventually


@pytest.fixture
def around() -> Iterator[tuple[RelayPlace, Place, Place]]:
    with relay() as between, places() as (home, away):
        home.up(between.url)
        away.do("join", "-", "--name", "box", said=home.invite("--as", "anna"))
        home.new("cat", name="web")
        yield between, home, away


@contextlib.contextmanager
def attached(away: Place) -> Iterator[User]:
    user = User("attach", "box/web", env=away.folders)
    try:
        user.sees(b"box/web")
        user.waits_until_raw()
        yield user
    finally:
        user.close()


def test_what_is_typed_while_the_relay_is_away_arrives_once_when_it_is_back(
    around: tuple[RelayPlace, Place, Place],
) -> None:
    between, home, away = around
    with attached(away) as user:
        user.types(b"before\r")
        user.sees(b"before\r\n")  # Its echo: a title may come before its output.

        between.kill()
        user.sees("reconnecting…".encode())
        user.types(b"meanwhile\r")
        between.start()

        user.sees(b"meanwhile\r\nmeanwhile")
        user.types(b"\x1dd")
        assert user.left() == 0
    assert home.do("read", "web").count("meanwhile") == 2


def test_whoever_waits_for_a_relay_can_leave(
    around: tuple[RelayPlace, Place, Place],
) -> None:
    between, _, away = around
    with attached(away) as user:
        between.kill()
        user.sees("reconnecting…".encode())

        user.types(b"\x1dd")

        assert user.left() == 0


def test_whoever_is_revoked_is_told_so_and_does_not_wait(
    around: tuple[RelayPlace, Place, Place],
) -> None:
    _, home, away = around
    with attached(away) as user:
        home.do("revoke", "--everywhere", "@anna")

        assert user.left() in (75, 77)
        eventually("the terminal is as it was", lambda: not user.is_raw())


def test_a_session_that_ended_meanwhile_gives_its_status(
    around: tuple[RelayPlace, Place, Place],
) -> None:
    between, home, away = around
    with attached(away) as user:
        between.kill()
        user.sees("reconnecting…".encode())
        home.do("send", "web", "--enter", "x")
        home.do("keys", "web", "C-d")
        eventually("its end", lambda: home.facts("ls")["sessions"][0]["exit"] == 0)

        between.start()

        assert user.left() == 0
        assert b"ended (status 0)" in user.shown
