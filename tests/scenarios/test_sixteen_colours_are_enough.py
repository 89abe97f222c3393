"""On a terminal of 16 colours, and on one that wants none, no others are asked for."""

import re
from collections.abc import Iterator

import pytest
from tests.scenarios.seats import Seat
from tests.scenarios.support import Machine, machine

from holdfast.model.ids import SessionId
from holdfast.wire import messages as wire

PAINTS = (
    r"printf '\033[38;5;208mmany\033[38;2;9;99;199;48;5;236mexact\033[m\n'; exec cat"
)
BASIC = {*range(30, 38), *range(90, 98), *range(40, 48), *range(100, 108)}
LOOKS = {*range(10)}
OTHER_SIZE = (100, 30)
"""Not the session's: it is framed there."""


@pytest.fixture
def here() -> Iterator[Machine]:
    with machine() as made:
        yield made


def named(here: Machine, name: str) -> SessionId:
    session = here.new("sh", "-c", PAINTS)
    assert here.ask(do="rename", id=session, name=name)["ok"]
    return session


def framed_at(here: Machine, session: SessionId, term: str) -> Seat:
    """Attach somebody while somebody else has the turn, and so says the size."""
    robo = here.join(session, "robo")
    assert robo.request(wire.Take()) is None
    user = Seat("attach", session, size=OTHER_SIZE, env=coloured(term))
    user.shows("manyexact")
    user.shows("80x24", row=OTHER_SIZE[1] - 1)
    return user


def said(user: Seat) -> set[int]:
    """Return everything that was said to the terminal about looks and colours."""
    found = re.findall(rb"\x1b\[([0-9;]*)m", user.shown)
    return {int(one or 0) for words in found for one in words.split(b";")}


def coloured(term: str) -> dict[str, str]:
    return {"TERM": term, "COLORTERM": "truecolor", "NO_COLOR": ""}


@pytest.mark.parametrize("term", ["linux", "xterm-16color"])
def test_overview_wall_frame_and_switcher_use_sixteen(here: Machine, term: str) -> None:
    session = named(here, "paint")
    named(here, "other")
    overview = Seat(env=coloured(term))
    overview.shows("manyexact")
    overview.types(b"w")
    overview.shows("manyexact(.|\n)*manyexact")
    overview.types(b"q")
    assert overview.left() == 0
    framed = framed_at(here, session, term)
    framed.types(b"\x1ds")
    framed.shows("other")
    framed.types(b"\x1b")
    framed.misses("other")
    framed.types(b"\x1dd")
    assert framed.left() == 0

    assert said(overview) <= BASIC | LOOKS
    assert said(framed) <= BASIC | LOOKS
    assert said(overview) & BASIC  # It is not that there were none.
    assert said(framed) & BASIC


def test_who_wants_no_colours_gets_none_and_reads_everything(here: Machine) -> None:
    named(here, "paint")
    overview = Seat(env={"NO_COLOR": "1", "COLORTERM": "truecolor"})

    overview.shows("paint")
    overview.shows("manyexact")
    overview.types(b"q")

    assert overview.left() == 0
    assert said(overview) <= LOOKS


def test_a_terminal_of_more_colours_gets_them(here: Machine) -> None:
    framed = framed_at(here, named(here, "paint"), "xterm-256color")

    framed.types(b"\x1dd")
    assert framed.left() == 0
    assert b"38;2;9;99;199" in framed.shown
