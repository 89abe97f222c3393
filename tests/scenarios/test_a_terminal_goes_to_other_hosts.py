"""From a session here to those of every joined host, without leaving the terminal."""

import contextlib
import socket
import time
from collections.abc import Iterator

import pytest
from tests.cli.support.onlooker import Onlooker
from tests.scenarios.elsewhere import Place, RelayPlace, places, relay

PREFIX = b"\x1d"
ALTERNATE = 1049


@pytest.fixture
def middle() -> Iterator[RelayPlace]:
    with relay() as made:
        yield made


@pytest.fixture
def laptop(middle: RelayPlace) -> Iterator[Place]:
    """Return a machine that has joined two hosts; each has one session."""
    with places(3) as (first, second, ours):
        for host, name in ((first, "desk"), (second, "nas")):
            host.up(middle.url)
            host.new("sh", "-c", f"echo I am at {name}; exec cat")
            ours.do("join", "-", "--name", name, said=host.invite())
        ours.new("sh", "-c", "echo I am here; exec cat", name="own")
        yield ours


@contextlib.contextmanager
def seated(there: Place, *words: str) -> Iterator[Onlooker]:
    with there.inhabited():
        user = Onlooker("attach", *words)
    try:
        yield user
    finally:
        user.close()


@contextlib.contextmanager
def silence(port: int) -> Iterator[None]:
    """Listen at a port, and answer nobody."""
    with socket.create_server(("127.0.0.1", port)):
        yield


def test_sessions_of_every_joined_host_are_listed_and_gone_to(laptop: Place) -> None:
    with seated(laptop, "own") as user:
        user.finds("I am here")
        user.types(PREFIX + b"s")
        user.finds("desk/web")
        user.finds("nas/web")
        user.until("all have answered", lambda: "asking" not in user.lines()[-1])
        user.types(b"nas")
        user.finds("1 of 3")
        user.finds("I am at nas")  # The preview.
        user.types(b"\r")
        user.until("it is there", lambda: user.lines()[0] == "I am at nas")

        user.types(PREFIX + b"sdesk\r")
        user.until("it is there", lambda: user.lines()[0] == "I am at desk")
        user.types(PREFIX + b"l")
        user.until("back again", lambda: user.lines()[0] == "I am at nas")
        user.types(b"typed there\r")
        user.finds("typed there")
        user.types(PREFIX + b"d")
        assert user.left() == 0
        user.finds("`holdfast attach nas/web` reattaches")


def test_hosts_that_do_not_answer_are_not_waited_for(
    laptop: Place, middle: RelayPlace
) -> None:
    with seated(laptop, "own") as user:
        user.finds("I am here")
        middle.kill()
        with silence(middle.port):
            begun = time.monotonic()
            user.types(PREFIX + b"s")
            user.finds("switch to:")
            user.finds("asking desk, nas")
            assert time.monotonic() - begun < 3
            user.types(b"\x03")
            user.until("it is gone", lambda: not user.has_mode(ALTERNATE))
            user.types(PREFIX + b"d")
            assert user.left() == 0


def test_a_host_that_is_away_is_named(laptop: Place, middle: RelayPlace) -> None:
    with seated(laptop, "own") as user:
        user.finds("I am here")
        user.types(PREFIX + b"s")
        user.finds("nas/web")
        user.types(b"\x1b")
        user.until("it is gone", lambda: not user.has_mode(ALTERNATE))
        middle.kill()
        user.types(PREFIX + b"s")
        user.finds("no answer from desk, nas")
        user.finds("nas/web")  # As it was heard of last.
