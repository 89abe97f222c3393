"""A terminal that attaches changes nothing for those who are there."""

from collections.abc import Callable, Iterator

import pytest
from tests.cli.support.pty_user import User
from tests.scenarios.support import Machine, eventually, machine

from holdfast.core.book.logbook import EntryKind, read_entries
from holdfast.linux.stored import places
from holdfast.model.ids import SessionId
from holdfast.wire import messages as wire


@pytest.fixture
def here() -> Iterator[Machine]:
    with machine() as made:
        yield made


@pytest.fixture
def session(here: Machine) -> SessionId:
    return here.new("sh", "-c", "echo HERE; exec cat")


@pytest.fixture
def sit(session: SessionId) -> Iterator[Callable[..., User]]:
    sitting: list[User] = []

    def attach(size: tuple[int, int] = (80, 24)) -> User:
        sitting.append(User("attach", session, size=size))
        sitting[-1].sees(b"turn: ")
        return sitting[-1]

    yield attach
    for one in sitting:
        one.close()


def noted(session: SessionId, *kinds: EntryKind) -> list[object]:
    lines = places.session_log(session).read_bytes().split(b"\n")[:-1]
    return [
        entry.fields.get("input", entry.kind.value)
        for entry in read_entries(lines, session)
        if entry.kind in kinds
    ]


def size_of(here: Machine, session: SessionId) -> object:
    facts = here.facts(session)
    assert facts is not None
    return facts["size"]


def test_a_free_turn_stays_free_and_the_banner_says_so(
    here: Machine, session: SessionId, sit: Callable[..., User]
) -> None:
    user = sit((100, 30))

    user.sees(b"only you, the turn is free; Ctrl-] d")
    eventually("the size", lambda: size_of(here, session) == [100, 30])
    user.sees(b"turn: free")
    anna = here.join(session)
    assert anna.who().holder == ""
    assert noted(session, EntryKind.TURN) == []


def test_panels_of_any_size_change_nothing_where_somebody_has_the_turn(
    here: Machine, session: SessionId, sit: Callable[..., User]
) -> None:
    robo = here.join(session, "robo")
    assert robo.request(wire.Take()) is None
    kinds = (EntryKind.INPUT, EntryKind.TURN, EntryKind.REFUSED)
    before = noted(session, *kinds)

    for size in ((20, 5), (40, 12), (100, 30), (200, 60), (500, 200)):
        sit(size).sees(b"the session is 80x24")

    assert size_of(here, session) == [80, 24]
    assert noted(session, *kinds) == before


def test_a_free_turn_and_somebody_else_there_is_left_alone_until_we_type(
    here: Machine, session: SessionId, sit: Callable[..., User]
) -> None:
    first = sit((80, 24))
    second = sit((100, 30))
    second.sees(b"the turn is free, the session is 80x24")
    assert size_of(here, session) == [80, 24]

    second.types(b"typed\r")
    eventually("the size", lambda: size_of(here, session) == [100, 30])
    first.types(b"again\r")
    eventually("the size", lambda: size_of(here, session) == [80, 24])
    assert noted(session, EntryKind.TURN) == ["turn"]


def test_who_has_the_turn_brings_its_size_along(
    here: Machine, session: SessionId, sit: Callable[..., User]
) -> None:
    first = sit((80, 24))
    first.types(b"mine\r")
    first.sees(b"turn: you")

    sit((100, 30)).sees(b"you have the turn; Ctrl-] d")
    eventually("the size", lambda: size_of(here, session) == [100, 30])
