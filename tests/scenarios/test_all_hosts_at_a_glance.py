"""The overview of sessions that live at hosts elsewhere."""

import contextlib
from collections.abc import Iterator

from tests.scenarios.elsewhere import Place, RelayPlace, places, relay
from tests.scenarios.looker import Looker, looking

DETACH = "\x1dd"


@contextlib.contextmanager
def joined() -> Iterator[tuple[Place, RelayPlace, Looker]]:
    """Have somebody look at the overview of a laptop that has joined a host."""
    with places() as (host, laptop), relay() as middle:
        host.up(middle.url)
        host.new("sh", "-c", "echo I am far; cat", name="web")
        laptop.do("join", host.invite(), "--name", "desk")
        laptop.new("sh", "-c", "echo I am here; cat", name="own")
        with laptop.inhabited(), looking(110) as user:
            yield host, middle, user


def test_sessions_elsewhere_are_shown_attached_to_and_acted_on() -> None:
    with joined() as (host, _, user):
        user.sees("desk/web", "own", "2 sessions")
        user.press("/", "desk", "\r")
        user.sees("1 with", "I am far")
        user.press("\r")
        user.sees("I am far", gone="w wall")
        user.press("typed\r")
        user.sees("typed\ntyped")
        user.press(DETACH)
        user.sees("desk/web", "typed")

        user.press("f")
        user.sees("# desk/web", "frozen")
        assert host.facts("who", "web")["frozen"]
        user.press("f")
        user.sees("desk/web", gone="# desk")
        user.press("r", "other", "\r")
        user.sees("desk/other")
        user.press("x")
        user.sees("end desk/other")
        user.press("y")
        user.sees("no session matches")


def test_a_host_that_is_away_is_said_to_be_and_comes_back() -> None:
    with joined() as (_, middle, user):
        user.sees("desk/web", "own", "2 sessions")
        middle.kill()
        user.sees("desk cannot be reached", "desk/web", "own")
        user.press("/", "own", "\r")
        user.sees("I am here")

        middle.start()
        user.press("\x1b")
        user.sees("desk/web", gone="cannot be reached")
