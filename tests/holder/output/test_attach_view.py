import os
import socket
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.painter.programs import Door

from holdfast.core.session.paint_requests import Picture, Want
from holdfast.core.session.stream import HEADER, StreamWindow, plan_resume
from holdfast.holder.links.connection import Connection
from holdfast.holder.output.attach_view import HURRY, MAX_STREAM, SHORT, AttachView
from holdfast.holder.output.painter_link import PainterLink
from holdfast.holder.poll import Poll
from holdfast.holder.timers import Timers
from holdfast.linux.stored import places
from holdfast.model.geometry import Size
from holdfast.model.ids import ClientId, Incarnation, SessionId
from holdfast.wire import messages as wire
from holdfast.wire import screens
from holdfast.wire.codec import Message, decode
from holdfast.wire.frames import FrameKind, FrameReader

LINE = b"\x1b[3%dmcolours make it longer than it looks\x1b[m\r\n"
OUTPUT = b"".join(LINE % (number % 8) for number in range(4000))


class Shown:
    """One session, one client, a painter, and whoever carries between them."""

    def __init__(self, door: Door, kept: int = 1024 * 1024) -> None:
        self.door = door
        self.window = StreamWindow.create(memoryview(bytearray(HEADER + kept)))
        self.poll, self.timers = Poll(), Timers()
        session = SessionId("s_one")
        self.painter = PainterLink(
            session, self.window, self.poll, self.timers, Size(80, 24)
        )
        self.view = AttachView(self.window, self.painter, self.timers)
        ours, self.client = socket.socketpair()
        self.connection = Connection(ours, self.poll, [])
        self.poll.watch(ours, lambda: None)
        self._reader = FrameReader()

    def attach(self, after: int | None = None, *, keyframe: bool = True) -> None:
        asked = wire.Attach(
            session=SessionId("s_" + "a" * 16),
            client=ClientId("c_" + "a" * 16),
            mode=wire.Mode.OBSERVE,
            size=None,
            incarnation=None if after is None else Incarnation(1),
            after=after,
            keyframe=keyframe,
        )
        plan = plan_resume(self.window, after)
        self.view.begin(self.connection, plan, asked)

    def warm_up(self) -> None:
        """Wait until a painter has answered: on a busy machine the first is late."""
        got: list[Picture | None] = [None]
        while got[-1] is None:
            before = len(got)
            self.painter.ask(Want.CURSOR, got.append, upto=0)
            while len(got) == before:
                self.door.tend()
                self.poll.turn(0.01)
                self.painter.tick(time.monotonic())

    def heard(self, count: int) -> list[Message]:
        """Return what the client gets, at least so many messages."""
        self.client.settimeout(0.01)
        got: list[Message] = []
        for _ in range(1000):
            self.door.tend()
            self.poll.turn(0)
            try:
                got += map(decode, self._reader.feed(self.client.recv(1 << 20)))
            except TimeoutError:
                if len(got) >= count:
                    return got
            self.connection.flush()
            self.connection.pump()
        raise AssertionError(f"only {got!r:.200}")


@pytest.fixture
def shown(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Shown]:
    folder = tmp_path / "r"
    folder.mkdir(mode=0o700)
    os.environ["HOLDFAST_RUNTIME_DIR"] = str(folder)
    door = Door(places.painter_socket())
    made = Shown(door, getattr(request, "param", 1024 * 1024))
    yield made
    made.painter.close()
    made.connection.close()
    made.client.close()
    made.poll.close()
    door.close()
    del os.environ["HOLDFAST_RUNTIME_DIR"]


def test_a_short_stream_is_shown_as_it_is(shown: Shown) -> None:
    shown.window.append(b"hello")
    shown.attach()

    assert shown.heard(1) == [wire.Output(0, b"hello")]
    assert shown.door.started == 0


def test_a_long_stream_is_shown_as_a_picture_and_goes_on_from_there(
    shown: Shown,
) -> None:
    shown.warm_up()
    shown.window.append(OUTPUT)
    shown.attach()
    shown.window.append(b"meanwhile")
    parts = shown.heard(3)

    frames = [part for part in parts if isinstance(part, wire.Keyframe)]
    assert [frame.more for frame in frames] == [True] * (len(frames) - 1) + [False]
    assert {frame.offset for frame in frames} == {len(OUTPUT)}
    assert parts[-1] == wire.Output(len(OUTPUT), b"meanwhile")


def test_nothing_comes_between_the_parts_of_a_picture(shown: Shown) -> None:
    data = bytes(wire.MAX_KEYFRAME_PART)
    cells = wire.Cells(80, 24)
    parts = [
        wire.Keyframe(offset=5, size=cells, more=number < 9, data=data)
        for number in range(10)
    ]
    shown.connection.queue(parts)
    shown.connection.pump()
    assert shown.connection.is_behind
    shown.connection.send(wire.Ping(7))

    assert shown.heard(11) == [*parts, wire.Ping(7)]


def test_who_has_seen_everything_gets_no_picture(shown: Shown) -> None:
    shown.window.append(OUTPUT)
    shown.attach(after=len(OUTPUT) - 5)

    assert shown.heard(1) == [wire.Output(len(OUTPUT) - 5, OUTPUT[-5:])]


def test_who_wants_no_picture_gets_the_window(shown: Shown) -> None:
    shown.window.append(b"x" * (SHORT + 1))
    shown.attach(keyframe=False)

    assert [type(one) for one in shown.heard(2)] == [wire.Output] * 2
    assert shown.door.started == 0


def test_who_has_missed_bytes_is_told_which_before_the_picture(shown: Shown) -> None:
    shown.warm_up()
    shown.window.append(b"x" * 5000)
    for _ in range(6):
        shown.window.append(OUTPUT)
    shown.attach(after=5000)
    gap, *frames = shown.heard(2)

    end = 5000 + 6 * len(OUTPUT)
    assert gap == wire.Gap(5000, end)
    assert all(isinstance(frame, wire.Keyframe) for frame in frames)


def test_without_a_painter_the_window_is_shown_from_its_start(shown: Shown) -> None:
    places.painter_socket().unlink()
    for _ in range(6):
        shown.window.append(OUTPUT)
    shown.attach(after=100)
    gap, first, *_ = shown.heard(2)

    assert gap == wire.Gap(100, shown.window.start)
    assert isinstance(first, wire.Output)
    assert first.offset == shown.window.start


@pytest.mark.parametrize("shown", [8 << 20], indirect=True)
@pytest.mark.parametrize("after", [None, 100])
def test_without_a_painter_a_large_window_is_not_shown_whole(
    after: int | None, shown: Shown
) -> None:
    places.painter_socket().unlink()
    while shown.window.start <= 100:
        shown.window.append(OUTPUT)
    shown.attach(after=after)
    *gap, first = shown.heard(2)[: 1 if after is None else 2]

    begin = shown.window.end - MAX_STREAM
    assert gap == ([] if after is None else [wire.Gap(after, begin)])
    assert isinstance(first, wire.Output)
    assert first.offset == begin


def test_who_asks_again_before_it_was_answered_is_refused(shown: Shown) -> None:
    shown.warm_up()
    shown.window.append(b"text")
    for _ in range(2):
        shown.view.screen(shown.connection, screens.ScreenRequest(cells=True))
    refused, screen = shown.heard(2)

    assert isinstance(refused, wire.Refuse)
    assert isinstance(screen, screens.Screen)
    assert (screen.text, screen.exact) == ("text", True)


def test_who_left_meanwhile_is_not_shown_anything(shown: Shown) -> None:
    shown.window.append(OUTPUT)
    shown.attach()
    shown.view.screen(shown.connection, screens.ScreenRequest(cells=False))
    shown.connection.is_closed = True

    assert shown.heard(0) == []


def test_who_has_waited_long_enough_is_shown_the_stream_if_it_is_all_there(
    shown: Shown,
) -> None:
    shown.window.append(OUTPUT)
    shown.attach()

    shown.timers.tick(time.monotonic() + HURRY)
    shown.warm_up()  # The picture is there now, and too late.

    first, *more = shown.heard(3)
    assert isinstance(first, wire.Output)
    assert first.offset == 0
    assert not any(isinstance(one, wire.Keyframe) for one in more)


def test_who_needs_a_picture_waits_for_it(shown: Shown) -> None:
    for _ in range(6):
        shown.window.append(OUTPUT)
    shown.attach()

    assert shown.window.start > 0
    assert shown.timers.first > time.monotonic() + HURRY


def test_who_is_here_is_shown_the_session_again_from_a_keyframe(shown: Shown) -> None:
    shown.warm_up()
    shown.window.append(b"hello")
    shown.attach()
    assert shown.heard(1) == [wire.Output(0, b"hello")]
    shown.view.again(shown.connection)
    frame = shown.heard(1)[0]

    assert isinstance(frame, wire.Keyframe)
    assert (frame.offset, frame.more) == (5, False)
    shown.window.append(b" more")
    shown.connection.pump()
    assert shown.heard(1) == [wire.Output(5, b" more")]


def test_who_asks_for_two_pictures_at_once_gets_one(shown: Shown) -> None:
    shown.warm_up()
    shown.window.append(b"hello")
    shown.attach()
    shown.view.again(shown.connection)
    shown.view.again(shown.connection)
    refused, frame = shown.heard(3)[-2:]

    assert isinstance(refused, wire.Refuse)
    assert refused.refused == FrameKind.ATTACH
    assert isinstance(frame, wire.Keyframe)


def test_without_a_painter_there_is_no_picture_and_the_stream_goes_on(
    shown: Shown,
) -> None:
    shown.window.append(b"hello")
    shown.attach()
    assert shown.heard(1) == [wire.Output(0, b"hello")]
    shown.view._repaint(shown.connection, None)  # noqa: SLF001  # as after its patience
    [refused] = shown.heard(1)

    assert isinstance(refused, wire.Refuse)
    shown.window.append(b" more")
    shown.connection.pump()
    assert shown.heard(1) == [wire.Output(5, b" more")]
