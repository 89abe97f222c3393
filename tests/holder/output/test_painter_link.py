import os
import random
import re
import signal
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tests.painter.programs import Asker, Door, fragile, saying

from holdfast.core.session.paint_requests import Picture, Want
from holdfast.core.session.stream import HEADER, StreamWindow
from holdfast.holder.output.painter_link import PainterLink
from holdfast.holder.poll import Poll
from holdfast.holder.timers import Timers
from holdfast.linux.painter_packets import MAX_DATA, MAX_PACKET, Packet
from holdfast.linux.stored import places
from holdfast.model.errors import ScreenForgotten
from holdfast.model.geometry import Size
from holdfast.model.ids import SessionId

SIZE = Size(40, 6)
OK = "'ok': True, 'at': 0, 'size': [40, 6]"
ESC, LINK = b"\x1b", b"\x1b]8;id=1;http://x\x1b\\"
HOSTILE = {
    "a million escapes": ESC * 1_000_000,
    "huge parameters": b"\x1b[" + b"9" * 70_000 + b";" * 70_000 + b"m"
    b"\x1b[999999999;999999999H\x1b[999999999b\x1b[999999999@\x1b[2147483648S",
    "no UTF-8": bytes(range(128, 256)) * 4000,
    "an endless title": b"\x1b]2;" + b"t" * 500_000,
    "an endless clipboard": b"\x1b]52;c;" + b"QUJD" * 200_000 + b"\x07",
    "an endless picture": b"\x1b_Ga=T,f=24,s=999,v=999,m=1;" + b"AAAA" * 200_000,
    "links in a mix": (LINK + b"a\x1b[5;5H\x1b[2J" + LINK + b"\r\n\x1b[L\x1b[M") * 9000,
    "combining without end": b"e" + b"\xcc\x81" * 300_000,
}


class Session:
    """A window, and the painter that is asked about it."""

    def __init__(self, door: Door, name: str = "s_one") -> None:
        self.window = StreamWindow.create(memoryview(bytearray(HEADER + 1024 * 1024)))
        self.poll, self.timers = Poll(), Timers()
        self.door = door
        self.link = PainterLink(
            SessionId(name), self.window, self.poll, self.timers, SIZE
        )

    def print(self, output: bytes) -> None:
        self.window.append(output)

    def begin(self, want: Want) -> Callable[[], Picture | None]:
        got: list[Picture | None] = []
        self.link.ask(want, got.append)

        def wait() -> Picture | None:
            deadline = time.monotonic() + 15
            while not got:
                assert time.monotonic() < deadline, "never settled"
                self.turn()
            return got[0]

        return wait

    def turn(self) -> None:
        self.door.tend()
        self.poll.turn(0.01)
        self.link.tick(time.monotonic())

    def ask(self, want: Want) -> Picture | None:
        return self.begin(want)()

    def must(self, want: Want) -> Picture:
        """Return a picture that is sure to come, however busy the machine is."""
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline:
            if picture := self.ask(want):
                return picture
        raise AssertionError("no picture comes")

    def text(self) -> str:
        picture = self.must(Want.SCREEN)
        assert picture.offset == self.window.end
        lines = re.search(rb'"lines": \[(.*?)\], "cursor"', picture.data)
        assert lines is not None
        return " ".join(lines[1].decode().replace('"', "").split(", ")).strip()


@pytest.fixture
def door(tmp_path: Path) -> Iterator[Door]:
    folder = tmp_path / "r"
    folder.mkdir(mode=0o700)
    os.environ["HOLDFAST_RUNTIME_DIR"] = str(folder)
    made = Door(places.painter_socket())
    yield made
    made.close()
    del os.environ["HOLDFAST_RUNTIME_DIR"]


@pytest.fixture
def session(door: Door) -> Iterator[Session]:
    made = Session(door)
    yield made
    made.link.close()
    made.poll.close()


def mixed(seed: int) -> bytes:
    chance = random.Random(seed)  # noqa: S311  # repeatable, not unguessable
    pieces = [
        *(LINK, b"\x1b]8;;\x07", b"\x1b[\x9d8;;u\x07", b"\x1b[?1049h", b"\x1b[?1049l"),
        *(b"\x1b[2J", b"\x1b[3J", b"\x1bc", b"\r\n", b"\x1b[5S", b"\x1b[7T", b"\x1b8"),
        *(b"\x1b7", b"\x1b[9P", b"\x1b[9@", b"\x1b[2;5r", "漢字".encode(), b"x" * 50),
        *(b"\x1b[?69h\x1b[3;9s", b"\x1b[?6h", b"\x1b[H", b"\x1b[99b", b"\x1b[K\x1b[4h"),
    ]
    return b"".join(chance.choices(pieces, k=20_000))


@pytest.mark.parametrize("output", HOSTILE.values(), ids=HOSTILE.keys())
def test_hostile_output_never_harms_the_holder(session: Session, output: bytes) -> None:
    session.print(output + b"\x18\x1bcfine")

    assert session.text() == "fine"


@pytest.mark.parametrize("seed", range(3))
def test_a_hostile_mix_with_links_never_harms_the_holder(
    session: Session, seed: int
) -> None:
    session.print(mixed(seed) + b"\x18\x1bcfine")

    assert session.text() == "fine"


def test_after_a_kill_the_screen_is_rebuilt_whole(session: Session) -> None:
    session.print(b"all of it")
    assert session.text() == "all of it"
    session.door.kill()

    assert session.must(Want.KEYFRAME).exact
    session.door.kill()
    session.print(b", and more")
    assert session.text() == "all of it and more"


def test_a_kill_in_the_middle_of_a_request_is_noticed_at_once(
    session: Session,
) -> None:
    session.print(b"here")
    session.text()
    os.kill(session.door.pid, signal.SIGSTOP)
    wait = session.begin(Want.SCREEN)
    session.turn()
    session.door.kill()

    assert wait() is not None
    assert session.door.started == 2


def test_what_two_painters_did_not_survive_is_left_out(session: Session) -> None:
    session.door.program = fragile()
    before, after = b"before\r\n", b"after"
    session.print(before + b"BOOM".ljust(MAX_DATA - len(before), b"\0") + after)

    assert session.text() == "after"
    assert session.door.started == 3


def test_a_session_that_kills_painters_leaves_the_others_their_screens(
    door: Door, session: Session
) -> None:
    door.program = fragile()
    other = Session(door, "s_other")
    other.print(b"untouched")
    waits = []
    for number in range(3):
        session.print(b"BOOM %d" % number)
        waits.append(session.begin(Want.SCREEN))
        assert other.text() == "untouched"
        session.turn()

    assert other.must(Want.SCREEN).exact
    for wait in waits:
        wait()
    other.link.close()
    other.poll.close()


class Hand:
    """A painter played by hand, which stops when it is told to."""

    def __init__(self, session: Session) -> None:
        self._session = session
        session.door.listener.settimeout(5)
        self.link, _ = session.door.listener.accept()
        self.link.settimeout(5)

    def request(self) -> Packet:
        for _ in range(3):
            self._session.poll.turn(0)
        return Packet.from_bytes(self.link.recv(MAX_PACKET))

    def agree(self, at: int, content: bytes = b"") -> None:
        header = {"ok": True, "at": at, "size": [40, 6]}
        self.link.send(Packet(header, content).to_bytes())

    def vanish(self) -> None:
        self.link.close()
        for _ in range(3):
            self._session.poll.turn(0)
        self._session.timers.refresh()
        deadline = self._session.timers.first
        while time.monotonic() < deadline < time.monotonic() + 1:
            pass
        self._session.link.tick(time.monotonic())


@pytest.mark.parametrize(("is_read", "third"), [(False, "feed"), (True, "skip")])
def test_only_a_request_that_was_being_worked_on_is_blamed_for_a_death(
    session: Session,
    is_read: bool,  # noqa: FBT001
    third: str,
) -> None:
    session.door.program = ["/bin/false"]
    session.print(b"innocent")
    session.link.ask(Want.SCREEN, lambda _: None)
    for _ in range(2):
        hand = Hand(session)
        assert hand.request().text("do") == "reset"
        hand.agree(0)
        session.poll.turn(1)
        if is_read:
            assert hand.request().text("do") == "feed"
        hand.vanish()
    hand = Hand(session)
    hand.request()
    hand.agree(0)
    session.poll.turn(1)

    assert hand.request().text("do") == third
    hand.link.close()


def test_where_nobody_listens_the_answer_is_at_once_that_there_is_none(
    session: Session,
) -> None:
    session.door.close()
    places.painter_socket().unlink()
    began = time.monotonic()

    assert session.ask(Want.SCREEN) is None
    assert time.monotonic() - began < 1


@pytest.mark.parametrize(
    "then",
    [
        "pass",
        "break",
        "link.send(b'?')",
        "link.send(Packet({}).to_bytes())",
        "link.send(Packet({'ok': True}).to_bytes())",
        f"link.send(Packet({{{OK}, 'at': 7}}).to_bytes())",
        f"\n    while 1: link.send(Packet({{{OK}, 'more': True}}).to_bytes())",
        f"\n    while 1: link.send(Packet({{{OK}, 'more': True}}, LONG).to_bytes())",
    ],
)
def test_a_painter_that_hangs_or_talks_nonsense_is_as_good_as_none(
    session: Session, then: str
) -> None:
    session.door.program = saying(then)
    session.print(b"x")

    assert session.ask(Want.SCREEN) is None


def test_a_window_that_rolled_is_painted_from_where_it_begins(
    session: Session,
) -> None:
    session.print(b"y" * 700_000)
    session.ask(Want.KEYFRAME)
    session.print(b"z" * 3_000_000 + b"\r\n\x1b[2J\x1b[Hend")

    assert not session.must(Want.SCREEN).exact
    assert session.text() == "end"


def test_a_session_that_is_over_has_its_picture_put_away(
    door: Door, session: Session
) -> None:
    session.print(b"secret")
    session.text()
    session.link.ended()
    for _ in range(20):
        session.turn()
    answer = Asker(door, places.painter_socket()).ask("screen", session="s_one")

    assert answer.header["code"] == ScreenForgotten.code
    assert session.text() == "secret"
