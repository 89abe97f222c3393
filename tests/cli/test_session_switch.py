"""The keys that go to other sessions, with a keeper that says anything."""

import os
from collections.abc import Callable, Iterator
from typing import cast

import pytest
from tests.cli.support.fakes import FakeKeeper, FakeSession
from tests.cli.support.kernel import evidence
from tests.cli.support.onlooker import Onlooker
from tests.cli.support.screens import seen

from holdfast.model.ids import ENTROPY, session_id

HOSTILE = "\x1b[2J\x1b]2;owned\x07\u202e\n日本"
MANY = 500
ALTERNATE = 1049

Sit = Callable[..., Onlooker]


@pytest.fixture
def sit() -> Iterator[Sit]:
    sitting: list[Onlooker] = []

    def attach(*words: str) -> Onlooker:
        sitting.append(Onlooker("attach", *words))
        return sitting[-1]

    yield attach
    for one in sitting:
        one.close()


class Listed:
    """A session that is listed, and that nobody can reach."""

    def __init__(self, facts: dict[str, object], number: int) -> None:
        self.id = session_id(os.urandom(ENTROPY))
        name = f"{HOSTILE}-{number}"
        given = {"id": self.id, "name": name, "command": [HOSTILE], "created_ms": 9}
        self.facts = {**facts, **given}

    def die(self) -> None:
        pass


def crowd(keeper: FakeKeeper, web: FakeSession) -> None:
    many = [Listed(web.facts, number) for number in range(MANY)]
    keeper.sessions += cast("list[FakeSession]", many)
    keeper.parts = 2  # One to a packet.


def test_a_crowd_with_hostile_names_is_listed_and_searched(
    keeper: FakeKeeper, web: FakeSession, sit: Sit
) -> None:
    web.prints(b"I am web\r\n")
    crowd(keeper, web)
    user = sit("web")
    user.finds("I am web")

    user.types(b"\x1ds")
    user.finds(f"{MANY + 1}")
    user.types(b"-499")
    shown = user.finds("1 of 501")
    assert any("\\x1b[2J" in line for line in shown.lines)
    assert "owned" not in shown.title
    user.types(b"\r")  # It cannot be reached.
    user.finds("does not answer")
    user.types(b"x\r")
    web.wait_until(lambda: web.typed() == b"x\r")


def test_what_the_chosen_session_shows_is_previewed(
    keeper: FakeKeeper, web: FakeSession, sit: Sit
) -> None:
    web.prints(b"I am web\r\n")
    (other,) = keeper.has("db")
    other.screen = [seen(f"rows of the other\n{HOSTILE}")]
    other.operating.kernel.states = [evidence("at-prompt")]
    user = sit("web")
    user.finds("I am web")

    user.types(b"\x1ds")
    user.finds("── db at-prompt ")
    shown = user.finds("rows of the other")
    assert "owned" not in shown.title
    assert not any("\u202e" in line for line in shown.lines)
    user.types(b"\x1b")
    user.until("it is closed", lambda: not user.has_mode(ALTERNATE))
    assert [line for line in user.lines() if "I am web" in line]


def test_who_only_watches_starts_nothing_and_goes_on_watching(
    keeper: FakeKeeper, web: FakeSession, sit: Sit
) -> None:
    web.prints(b"\r\n\r\nI am web\r\n")
    (other,) = keeper.has("db")
    other.prints(b"\r\n\r\nI am db\r\n")
    user = sit("web", "--observe")
    user.finds("I am web")

    user.types(b"\x1dc")
    user.finds("you are only watching")
    user.types(b"\x1dn")
    user.finds("I am db")
    assert [one.mode.value for one in other.attaches] == ["observe"]
    assert len(keeper.sessions) == 2


def test_where_nobody_lists_the_sessions_that_is_said(
    keeper: FakeKeeper, web: FakeSession, sit: Sit
) -> None:
    web.prints(b"\r\n\r\n\r\nI am web\r\n")
    user = sit("web")
    user.finds("I am web")
    keeper.answer = b'{"ok": true, "sessions": [7]}'

    for key in (b"n", b"s"):
        user.types(b"\x1d" + key)
        user.finds("[holdfast] malformed list of sessions")
    user.types(b"x")
    web.wait_until(lambda: web.typed() == b"x")


def test_a_name_that_is_none_is_refused_in_place(web: FakeSession, sit: Sit) -> None:
    web.prints(b"I am web\r\n")
    user = sit("web")
    user.finds("I am web")

    user.types(b"\x1d,")
    user.finds("new name: web")
    user.types(b" !\r")
    user.finds("new name: web !")
    user.until("it is refused", lambda: "escape" not in user.lines()[1])
    user.types(b"\x03")
    user.until("it is closed", lambda: not user.has_mode(ALTERNATE))
    assert web.facts["name"] == "web"
