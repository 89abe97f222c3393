"""A frame under a list, beside a gap in the output, and of a session elsewhere."""

import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tests.scenarios.elsewhere import places, relay
from tests.scenarios.seats import Seat
from tests.scenarios.support import Client, Machine, eventually, machine

from holdfast.model.ids import SessionId
from holdfast.model.inputs import InputKind
from holdfast.wire import messages as wire

PREFIX = b"\x1d"
HELP, LIST = "any key goes back", "switch to:"
SCRIPT = "for n in $(seq 40); do echo row $n of forty; done; exec cat"
FLOOD = r"""
import os, sys, time
go, end = sys.argv[1:]
def flood(until):
    number = 0
    while not os.path.exists(until):
        number += 1
        os.write(1, b"%%079d\r\n" %% number * 50)
        time.sleep(0.002)  # What is faster is lost to the session's picture too.
flood(go)
os.write(1, b"\x1b[2J\x1b[1;1HHEADER\x1b[2;24r\x1b[24;1H")
flood(end)
os.write(1, b"THE-END")
time.sleep(600)
""".replace("%%", "%")


@pytest.fixture
def here() -> Iterator[Machine]:
    with machine() as made:
        yield made


@pytest.fixture
def sit() -> Iterator[Callable[..., Seat]]:
    sitting: list[Seat] = []

    def attach(session: str, size: tuple[int, int], *words: str) -> Seat:
        sitting.append(Seat("attach", session, *words, size=size))
        sitting[-1].sees(b"turn: ")
        return sitting[-1]

    yield attach
    for one in sitting:
        one.close()


def shared(here: Machine, *command: str) -> tuple[SessionId, Client]:
    """Start a session in which somebody else has the turn, and keeps its size."""
    session = here.new(*(command or ("sh", "-c", SCRIPT)))
    robo = here.join(session, "robo")
    assert robo.request(wire.Take()) is None
    return session, robo


def leaves(user: Seat) -> None:
    user.types(PREFIX + b"d")
    assert user.left() == 0
    assert user.modes() == user.before
    assert not user.screen().alternate


@pytest.mark.parametrize(("key", "told"), [(b"s", LIST), (b"?", HELP)])
@pytest.mark.parametrize("size", [(60, 30), (20, 5), (500, 200)])
def test_what_is_opened_over_a_frame_leaves_it_as_it_goes_on(
    here: Machine,
    sit: Callable[..., Seat],
    key: bytes,
    told: str,
    size: tuple[int, int],
) -> None:
    session, robo = shared(here)
    user = sit(session, size)
    user.shows("80x24", row=size[1] - 1)

    user.types(PREFIX + key)
    user.shows(told)
    robo.enter(b"typed below\r")
    robo.wait_output(b"typed below\r\ntyped below")
    time.sleep(0.2)  # Several frames, none of which may be seen.
    assert any(told in line for line in user.lines())
    user.types(b"\x03")
    user.misses(told)
    user.shows("typed below")
    user.shows("80x24", row=size[1] - 1)
    assert user.screen().alternate
    leaves(user)


@pytest.mark.parametrize("sizes", [("60x20",), ("60x20", "90x9", "60x20")])
def test_a_frame_is_left_for_the_raw_view_under_a_list(
    here: Machine, sit: Callable[..., Seat], sizes: tuple[str, ...]
) -> None:
    session, robo = shared(here)
    user = sit(session, (60, 20))
    user.shows("80x24", row=19)
    user.types(PREFIX + b"?")
    user.shows(HELP)

    for size in sizes:
        robo.submit(size.encode(), InputKind.RESIZE)
        time.sleep(1.0)  # The view has changed by now.
    user.types(b"x")
    user.misses(HELP)
    eventually("no frame", lambda: not user.screen().alternate)
    user.shows("row 40 of forty")
    robo.enter(b"typed later\r")
    user.shows("typed later")
    leaves(user)


def test_a_session_is_framed_under_a_list(
    here: Machine, sit: Callable[..., Seat]
) -> None:
    session, robo = shared(here)
    user = sit(session, (80, 24))
    user.shows("row 40 of forty")
    user.types(PREFIX + b"s")
    user.shows(LIST)

    robo.submit(b"100x30", InputKind.RESIZE)
    time.sleep(1.0)  # The view has changed by now.
    assert any(LIST in line for line in user.lines())
    user.types(b"\x1b")
    user.misses(LIST)
    user.shows("100x30", row=23)
    robo.enter(b"typed later\r")
    user.shows("typed later")
    leaves(user)


@pytest.mark.parametrize("size", [(80, 24), (60, 20)])
def test_what_a_key_says_leaves_again(
    here: Machine, sit: Callable[..., Seat], size: tuple[int, int]
) -> None:
    session, _ = shared(here)
    user = sit(session, size)
    user.shows("row 40 of forty")
    before = user.lines()[: size[1] - 1]

    user.types(PREFIX + b"n")
    user.shows("no other session", row=0)
    eventually("it is gone", lambda: user.lines()[: size[1] - 1] == before)
    leaves(user)


def test_a_frame_goes_from_session_to_session(
    here: Machine, sit: Callable[..., Seat]
) -> None:
    session, _ = shared(here)
    other, _ = shared(here, "sh", "-c", "echo I am other; exec cat")
    user = sit(session, (60, 20))
    user.shows("80x24", row=19)

    user.types(PREFIX + b"n")
    user.shows("I am other")
    user.shows("80x24", row=19)
    user.misses("of forty")
    user.types(PREFIX + b"s")
    user.shows(LIST)
    user.types(session.encode()[:12] + b"\r")
    user.shows("row 40 of forty")
    user.misses("I am other")
    assert other != session
    leaves(user)


def cpu(pid: int) -> int:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(") ")[2].split()
    return int(fields[11]) + int(fields[12])


def stands_still(pid: int) -> bool:
    """Tell whether a process uses no processor time: its terminal takes nothing."""
    before = cpu(pid)
    time.sleep(0.5)
    return cpu(pid) == before


def end_of(here: Machine, session: SessionId) -> int:
    client = here.join(session, mode=wire.Mode.OBSERVE)
    end = client.attach_once().end
    client.close()
    return end


def test_a_gap_in_the_output_leaves_none_in_the_frame(
    here: Machine, sit: Callable[..., Seat], tmp_path: Path
) -> None:
    go, end = tmp_path / "go", tmp_path / "end"
    session = here.new("python3", "-c", FLOOD, str(go), str(end))
    robo = here.join(session, "robo")
    assert robo.request(wire.Take()) is None
    robo.close()
    user = sit(session, (100, 30))
    user.shows("80x24", row=29)
    user.looks_away()
    # The picture is right only if what was lost is made up for.
    eventually("its terminal is full", lambda: stands_still(user.program.pid))
    go.touch()
    begun = end_of(here, session)
    eventually("much more", lambda: end_of(here, session) > begun + 5_000_000)
    end.touch()

    user.looks_again()
    user.shows("THE-END")
    user.shows("HEADER", row=0)
    user.shows("80x24", row=29)
    leaves(user)


def test_a_session_elsewhere_is_framed_and_survives_its_relay(
    sit: Callable[..., Seat],
) -> None:
    with places() as (host, laptop), relay() as middle:
        host.up(middle.url)
        laptop.do("join", "-", "--name", "box", said=host.invite())
        host.new("sh", "-c", SCRIPT)
        with host.inhabited():
            other = sit("web", (130, 40))
        other.types(b"mine\r")
        other.shows("mine\nmine")
        with laptop.inhabited():
            user = sit("box/web", (60, 20))
        user.shows("130x40", row=19)
        user.shows("box/web", row=19)
        user.shows("mine")

        middle.kill()
        other.types(b"while it is away\r")
        other.shows("away\nwhile it is away")
        user.shows("reconnecting")
        middle.start()
        user.shows("while it is away")
        user.misses("reconnect")
        other.types(b"and after\r")
        user.shows("and after")
        user.types(PREFIX + b"[")
        user.shows("copy", row=19)
        user.types(b"q")
        user.types(PREFIX + b"?")
        user.shows(HELP)
        user.types(b"x")
        user.shows("130x40", row=19)
        leaves(user)
