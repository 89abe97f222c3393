"""A session is drawn right on a terminal of any size, and nobody else notices."""

import base64
import os
import re
import signal
import time
from collections.abc import Callable, Iterator

import pytest
from tests.scenarios.seats import Seat
from tests.scenarios.support import Client, Machine, eventually, machine

from holdfast.linux.stored import places
from holdfast.model.ids import SessionId
from holdfast.wire import messages as wire

SIZES = ((20, 5), (40, 12), (100, 30), (200, 60), (500, 200))
COUNT = "for n in $(seq 40); do echo row $n of forty; done"
BASH = ("bash", "--norc", "--noprofile", "-i")

Sit = Callable[..., Seat]
"""Attaches somebody to a session, at a terminal of some size."""


@pytest.fixture
def here() -> Iterator[Machine]:
    os.environ["PS1"] = "$ "
    with machine() as made:
        yield made


@pytest.fixture
def sit() -> Iterator[Sit]:
    sitting: list[Seat] = []

    def attach(
        session: SessionId, size: tuple[int, int] = (80, 24), *words: str
    ) -> Seat:
        sitting.append(Seat("attach", session, *words, size=size))
        sitting[-1].sees(b"turn: ")
        return sitting[-1]

    yield attach
    for one in sitting:
        one.close()


def counted(here: Machine) -> tuple[SessionId, Client]:
    """Return a session of forty rows, and somebody else who has its turn."""
    session = here.new("sh", "-c", f"{COUNT}; exec cat")
    robo = here.join(session, "robo")
    assert robo.request(wire.Take()) is None
    return session, robo


def entries(session: SessionId) -> int:
    return len(places.session_log(session).read_bytes().split(b"\n"))


def leaves(user: Seat) -> None:
    user.types(b"\x1dd")
    assert user.left() == 0
    assert user.modes() == user.before


def test_viewers_of_five_sizes_see_the_same_session(here: Machine, sit: Sit) -> None:
    session, robo = counted(here)

    seats = [sit(session, size) for size in SIZES]
    for seat, (_, rows) in zip(seats, SIZES, strict=True):
        seat.shows("row 40 of forty")
        seat.shows("80x24", row=rows - 1)
        assert seat.screen().alternate
    robo.enter(b"typed by robo")
    for seat in seats:
        seat.shows("typed by robo")
        leaves(seat)
        assert not seat.screen().alternate


def test_a_key_changes_the_view_and_back_and_nothing_is_logged_of_it(
    here: Machine, sit: Sit
) -> None:
    session = here.new("sh", "-c", "echo HERE; exec cat")
    other = here.join(session)
    user = sit(session)
    user.shows("HERE")
    assert not user.screen().alternate
    before = entries(session)

    user.types(b"\x1dv")
    eventually("a frame", lambda: user.screen().alternate)
    user.shows("turn: free", row=23)
    user.shows("waiting-for-input", row=23)
    user.shows("session is 80x24", row=23)
    user.types(b"\x1dv")
    eventually("no frame", lambda: not user.screen().alternate)
    user.shows("HERE")
    assert entries(session) == before
    assert other.who().holder == ""
    leaves(user)


def test_a_frame_that_is_chosen_has_room_for_its_line(here: Machine, sit: Sit) -> None:
    session = here.new(*BASH)
    user = sit(session)
    user.types(b"\x1dv")
    user.shows("alone", row=23)

    user.types(b"stty size\r")
    user.shows("(?m)^23 80")
    user.types(b"\x1dv")
    eventually("no frame", lambda: not user.screen().alternate)
    user.types(b"stty size\r")
    user.shows("(?m)^24 80")
    leaves(user)


def test_what_scrolled_away_is_found_and_copied(here: Machine, sit: Sit) -> None:
    session = here.new("sh", "-c", f"{COUNT}; exec cat")
    user = sit(session)
    user.shows("row 40 of forty")

    user.types(b"\x1d[")
    user.shows(r"copy 41/41", row=23)
    user.types(b"?row 7\r")
    user.shows(r"copy 7/41", row=23)
    user.types(b"wvy")
    eventually("a copy", lambda: b"\x1b]52;c;" in user.shown)
    copied = re.search(rb"\x1b\]52;c;([^\x07]*)\x07", user.shown)
    assert copied is not None
    assert base64.b64decode(copied[1]) == b"7"
    eventually("no frame", lambda: not user.screen().alternate)
    user.shows("row 40 of forty")

    user.types(b"\x1d[")
    user.shows(r"copy 41/41", row=23)
    user.types(b"\x1b")
    eventually("no frame", lambda: not user.screen().alternate)
    user.types(b"echoed")
    user.shows("echoed")
    leaves(user)


def test_a_program_that_sets_everything_and_dies_leaves_nothing(
    here: Machine, sit: Sit
) -> None:
    hostile = (
        r"printf '\033]0;evil\033]2;title\007\033[?1003h\033[?1006h\033[?1h\033[5 q"
        r"\033[?2004h\033[?25l\033[2;5r\033[?1049hFULL'; read x; exit 3"
    )
    session = here.new("sh", "-c", hostile)
    robo = here.join(session, "robo")
    assert robo.request(wire.Take()) is None
    user = sit(session, (40, 10))
    user.shows("FULL")
    eventually("its modes", lambda: user.has_modes(1003, 1, 2004) == [True] * 3)

    robo.enter(b"bye\r")
    assert user.left() == 3
    modes = (1, 7, 25, 1000, 1002, 1003, 1006, 1049, 2004)
    on = [mode for mode in modes if user.has_modes(mode) == [True]]
    assert on == [7, 25]
    assert b"\x1b[0 q" in user.shown
    assert user.shown.count(b"\x1b[22;0t") == user.shown.count(b"\x1b[23;0t") == 1
    assert user.modes() == user.before


def test_a_terminal_that_is_resized_without_end_is_drawn_right_after(
    here: Machine, sit: Sit
) -> None:
    session, robo = counted(here)
    user = sit(session, (40, 10))
    user.shows("row 40 of forty")
    for number in range(200):
        user.resize(20 + number % 90, 5 + number % 40)
        user.signal(signal.SIGWINCH)
        time.sleep(0.01)
    user.size = (61, 17)
    user.resize(*user.size)
    user.signal(signal.SIGWINCH)

    mark = len(user.shown)
    eventually("a last frame", lambda: b"\x1b[2J" in user.shown[mark:])
    user.shown = user.shown[user.shown.rfind(b"\x1b[2J") :]
    user.shows("80x24", row=16)
    user.shows("row 40 of forty")
    leaves(user)
    assert robo.who().holder == robo.operator.actor.id


def test_a_painter_that_dies_is_replaced_and_the_frame_goes_on(
    here: Machine, sit: Sit
) -> None:
    session = here.new("cat")
    robo = here.join(session, "robo")
    assert robo.request(wire.Take()) is None
    user = sit(session, (60, 15))
    user.shows("80x24", row=14)
    painter = int(str(here.ask(do="status")["painter"]))
    assert painter
    os.kill(painter, signal.SIGKILL)

    robo.enter(b"after its death")
    user.shows("after its death")
    leaves(user)


def test_a_flood_ends_with_its_last_line(here: Machine, sit: Sit) -> None:
    session = here.new("sh", "-c", "read x; yes | head -n 300000; echo THE-END; cat")
    robo = here.join(session, "robo")
    user = sit(session, (50, 12))
    user.shows("80x24", row=11)

    robo.enter(b"\r")
    user.shows("THE-END")
    leaves(user)


def test_a_notice_leaves_again_and_gives_the_rows_back(here: Machine, sit: Sit) -> None:
    session = here.new("sh", "-c", "printf '\\033[31mFIRST ROW\\033[m\\n'; exec cat")
    user = sit(session)
    user.shows("FIRST ROW")
    before = user.lines()[-1]

    user.types(b"\x1dw")
    user.shows(r"^\[holdfast\] .*turn", row=0)
    user.types(b"x")
    user.misses(r"\[holdfast\] .*turn")
    user.shows("FIRST ROW")
    assert user.lines()[-1] == before
    leaves(user)


def test_the_title_is_the_program_s_with_ours_beside_it(
    here: Machine, sit: Sit
) -> None:
    session = here.new("sh", "-c", "printf '\\033]0;my build\\007'; exec cat")
    user = sit(session)
    eventually("both", lambda: user.screen().title.endswith("turn: free — my build"))
    user.types(b"\x1dv")
    eventually("a frame", lambda: user.screen().alternate)
    eventually("both", lambda: user.screen().title.endswith("— my build"))
    leaves(user)
    assert user.shown.count(b"\x1b[22;0t") == user.shown.count(b"\x1b[23;0t") == 1


def test_keys_typed_before_the_look_back_is_there_are_for_it(
    here: Machine, sit: Sit
) -> None:
    session = here.new("sh", "-c", f"{COUNT}; exec cat")
    user = sit(session)
    user.shows("row 40 of forty")

    user.types(b"\x1d[?row 9\rVy")
    eventually("a copy", lambda: b"\x1b]52;c;" in user.shown)
    copied = re.search(rb"\x1b\]52;c;([^\x07]*)\x07", user.shown)
    assert copied is not None
    assert base64.b64decode(copied[1]) == b"row 9 of forty\n"
    user.shows(r"\[holdfast\] copied 1 line")
    user.types(b"after\r")
    user.shows("(?m)^after")
    assert here.join(session).wait_output(b"after").count(b"row 9") == 1
    leaves(user)


def test_another_part_of_a_larger_session_can_be_seen(here: Machine, sit: Sit) -> None:
    wide = "printf '%079d\\n' 1; echo END"
    session = here.new("sh", "-c", f"printf 'TOP%076d\\n' 7; {wide}; exec cat")
    robo = here.join(session, "robo")
    assert robo.request(wire.Take()) is None
    user = sit(session, (40, 10))
    user.shows("END")
    assert "7" not in user.lines()[0]

    user.types(b"\x1dL\x1dL")
    user.shows("7", row=0)
    user.shows(r"\+40\+0", row=9)
    robo.enter(b"typed")
    user.shows("TOP", row=0)
    leaves(user)


def test_a_frame_is_drawn_again_after_another_program_had_the_terminal(
    here: Machine, sit: Sit
) -> None:
    session, _ = counted(here)
    user = sit(session, (40, 10))
    user.shows("row 40 of forty")
    user.signal(signal.SIGTSTP)
    eventually("its end", lambda: not user.screen().alternate)
    assert not user.is_raw()

    user.signal(signal.SIGCONT)
    eventually("a frame", lambda: user.screen().alternate)
    user.shows("row 40 of forty")
    leaves(user)
