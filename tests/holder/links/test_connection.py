"""One client's connection: what comes in, what goes out, and when it is hung up on."""

import contextlib
import socket
from collections.abc import Iterator

import pytest

from holdfast.core.session.stream import StreamWindow
from holdfast.holder.links.connection import (
    CHUNK,
    MAX_ACTING,
    MAX_UNREAD,
    Connection,
)
from holdfast.holder.poll import Poll
from holdfast.model.ids import ENTROPY, client_id
from holdfast.wire import messages as wire
from holdfast.wire.codec import Message, decode, encode, output_frame
from holdfast.wire.frames import FrameReader

WINDOW = 1 << 20


def goodbye(text: str = "") -> wire.Goodbye:
    return wire.Goodbye("over", text)


class Wire:
    """A connection, and the client at its other end."""

    def __init__(self) -> None:
        near, self.far = socket.socketpair()
        self.far.settimeout(0)
        self.poll = Poll()
        self.gone: list[Connection] = []
        self.connection = Connection(near, self.poll, self.gone)
        self.poll.watch(near, self._ready)
        self.heard: list[Message] = []
        self._reader = FrameReader()

    def _ready(self) -> None:
        self.connection.receive(lambda _, message: self.heard.append(message))

    def say(self, data: bytes) -> list[Message]:
        """Have the client send bytes; return what the holder has heard of late."""
        self.far.sendall(data)
        assert self.poll.turn(5)
        heard, self.heard = self.heard, []
        return heard

    def told(self, turns: int = 1) -> list[Message]:
        """Return what the client has been sent since, however often it must read."""
        found: list[Message] = []
        while True:
            for _ in range(turns):
                self.poll.turn(0)
            with contextlib.suppress(BlockingIOError):
                data = self.far.recv(1 << 20)
                found += [decode(frame) for frame in self._reader.feed(data)]
                continue
            return found

    def fill(self) -> None:
        """Send the client things, not by the connection, until there is no room."""
        raw = encode(goodbye("x" * 1000))
        with contextlib.suppress(BlockingIOError):
            while True:
                assert self.connection.link.send(raw) == len(raw)

    def close(self) -> None:
        self.connection.close()
        self.far.close()
        self.poll.close()


@pytest.fixture
def line() -> Iterator[Wire]:
    made = Wire()
    yield made
    made.close()


def printed(data: bytes) -> StreamWindow:
    window = StreamWindow.create(memoryview(bytearray(WINDOW)))
    for begin in range(0, len(data), CHUNK):
        window.append(data[begin : begin + CHUNK])
    return window


def output(told: list[Message]) -> bytes:
    return b"".join(one.data for one in told if isinstance(one, wire.Output))


# ── what comes in ─────────────────────────────────────────────────────────────


def test_messages_are_handed_over_whole_however_they_come(line: Wire) -> None:
    raw = encode(goodbye("a")) + encode(goodbye("b"))

    assert line.say(raw[:5]) == []
    assert line.say(raw[5:]) == [goodbye("a"), goodbye("b")]
    assert line.gone == []


def test_a_client_that_leaves_is_gone_once(line: Wire) -> None:
    line.far.close()
    for _ in range(2):
        assert line.poll.turn(5)

    assert line.gone == [line.connection]
    assert line.connection.is_closed


def test_a_client_that_says_nothing_yet_is_not_hung_up_on(line: Wire) -> None:
    line.connection.receive(lambda _, message: line.heard.append(message))

    assert line.gone == []
    assert line.heard == []


def test_a_client_that_leaves_without_reading_is_gone_as_well(line: Wire) -> None:
    line.connection.send(goodbye("unread"))
    line.far.close()

    line.connection.receive(lambda _, message: line.heard.append(message))

    assert line.gone == [line.connection]
    assert line.heard == []


def test_who_breaks_the_protocol_is_told_and_hung_up_on(line: Wire) -> None:
    assert line.say(b"\xff" * 64) == []

    (last,) = line.told()
    assert isinstance(last, wire.Goodbye)
    assert last.code == "unknown-frame-kind"
    assert line.gone == [line.connection]


def test_for_so_many_clients_a_link_acts_and_the_oldest_are_let_go(
    line: Wire,
) -> None:
    clients = [client_id(bytes([one]) * ENTROPY) for one in range(MAX_ACTING + 1)]
    for one in clients[:-1]:
        assert line.connection.acts_for(one) == []
    assert line.connection.acts_for(clients[0]) == []  # It is the latest now.

    assert line.connection.acts_for(clients[-1]) == [clients[1]]
    assert line.connection.clients == [*clients[2:-1], clients[0], clients[-1]]


# ── what goes out ─────────────────────────────────────────────────────────────


def test_what_is_queued_is_not_overtaken(line: Wire) -> None:
    line.connection.queue([goodbye("a"), goodbye("b")])
    assert line.connection.is_behind
    line.connection.send(goodbye("c"))
    line.connection.pump()

    assert line.told() == [goodbye("a"), goodbye("b"), goodbye("c")]
    assert not line.connection.is_behind


def test_a_slow_client_gets_everything_in_order(line: Wire) -> None:
    sent = [goodbye(f"{number} {'x' * 1000}") for number in range(600)]
    for message in sent:
        line.connection.send(message)
    assert line.connection.unsent

    assert line.told() == sent
    assert not line.connection.unsent
    assert line.gone == []
    assert not line.poll.turn(0)  # It does not wait for room any more.


def test_who_asks_and_never_reads_is_hung_up_on(line: Wire) -> None:
    message = goodbye("x" * 1000)
    while not line.connection.is_closed:
        assert len(line.connection.unsent) <= MAX_UNREAD
        line.connection.send(message)

    assert len(line.connection.unsent) <= MAX_UNREAD + len(encode(message))
    assert line.gone == [line.connection]


def test_what_cannot_be_sent_is_thrown_away(line: Wire) -> None:
    line.connection.queue([goodbye("a")])
    line.far.close()
    line.connection.unsent += b"x"
    line.connection.flush()

    assert not line.connection.unsent
    assert not line.connection.is_behind
    assert line.gone == [line.connection]
    line.connection.hang_up()
    assert line.gone == [line.connection]


def test_who_is_dismissed_hears_one_thing_more(line: Wire) -> None:
    line.connection.dismiss(goodbye("last"))

    assert line.told() == [goodbye("last")]
    assert line.connection.is_closed


# ── the stream ────────────────────────────────────────────────────────────────


def test_a_viewer_is_sent_the_stream_from_where_it_stands(line: Wire) -> None:
    window = printed(b"0123456789")
    line.connection.pump()
    assert line.told() == []  # It watches nothing.
    line.connection.watch(window, 4)
    line.connection.pump()
    window.append(b"ab")
    line.connection.pump()

    told = line.told()
    assert output(told) == b"456789ab"
    assert isinstance(told[0], wire.Output)
    assert told[0].offset == 4
    line.connection.pump()
    assert line.told() == []


def test_a_slow_viewer_costs_one_piece_and_gets_all(line: Wire) -> None:
    data = bytes(range(256)) * 2000
    window = printed(data)
    line.connection.watch(window, 0)
    line.connection.end_with(goodbye("end"))
    line.connection.pump()

    assert 0 < len(line.connection.unsent) <= CHUNK + 64
    told = line.told()
    assert output(told) == data
    assert told[-1] == goodbye("end")
    assert told.count(goodbye("end")) == 1


def test_the_last_word_comes_after_everything_that_was_printed(line: Wire) -> None:
    window = printed(b"abc")
    line.connection.watch(window, 3)
    line.connection.end_with(goodbye("end"))
    window.append(b"def")
    line.connection.pump()
    line.connection.pump()

    told = line.told()
    assert output(told) == b"def"
    assert told[1:] == [goodbye("end")]


def test_what_the_window_no_longer_has_is_told_as_a_gap(line: Wire) -> None:
    window = printed(b"x" * (2 * WINDOW))
    line.connection.watch(window, 10)
    line.connection.pump()

    told = line.told()
    assert isinstance(told[0], wire.Gap)
    assert told[0].start == 10
    assert told[0].end == 2 * WINDOW - len(output(told))


def test_what_a_client_is_told_overtakes_the_stream_that_it_does_not_take(
    line: Wire,
) -> None:
    data = bytes(range(256)) * 3000
    line.connection.watch(printed(data), 0)
    line.connection.pump()
    line.connection.send(goodbye("first"))

    told = line.told()

    assert output(told) == data
    before = told[: told.index(goodbye("first"))]
    assert len(output(before)) < len(data)
    assert not line.poll.turn(0)  # It does not wait for room any more.


def test_a_piece_of_which_nothing_was_taken_stays_in_the_window(line: Wire) -> None:
    window = printed(b"x")
    line.connection.watch(window, 1)
    line.fill()
    window.append(b"y" * 1000)
    line.connection.pump()
    window.append(b"z" * 1000)
    line.connection.pump()

    assert not line.connection.unsent
    assert output(line.told()) == b"y" * 1000 + b"z" * 1000
    assert not line.poll.turn(0)


def test_a_gap_that_is_not_taken_comes_before_the_rest(line: Wire) -> None:
    window = printed(b"x" * (2 * WINDOW))
    line.connection.watch(window, 10)
    line.fill()
    line.connection.pump()

    told = line.told()
    gaps = [one for one in told if isinstance(one, wire.Gap)]
    assert [one.start for one in gaps] == [10]
    assert gaps[0].end == 2 * WINDOW - len(output(told))


def test_a_viewer_that_is_gone_is_sent_no_more_of_the_stream(line: Wire) -> None:
    line.connection.watch(printed(b"x" * 1000), 0)
    line.far.close()
    line.connection.pump()
    line.connection.pump()

    assert line.gone == [line.connection]
    assert not line.connection.unsent


# ── what has just been printed ────────────────────────────────────────────────


def just_printed(line: Wire, data: bytes) -> tuple[StreamWindow, bytes]:
    """Let a client watch, and something be printed; return it as it is sent."""
    window = printed(b"before")
    line.connection.watch(window, window.end)
    frame = output_frame(window.end, data)
    window.append(data)
    return window, frame


def test_who_has_all_before_is_sent_what_was_just_printed(line: Wire) -> None:
    window, frame = just_printed(line, b"x")

    assert line.connection.passes(len(b"before"), frame)
    assert not line.connection.passes(len(b"before"), frame)
    assert line.connection.is_quiet
    line.connection.pump()
    window.append(b"more")
    line.connection.pump()

    assert output(line.told()) == b"xmore"


def test_who_has_not_is_sent_it_in_its_place(line: Wire) -> None:
    window = printed(b"before")
    line.connection.watch(window, 0)
    frame = output_frame(window.end, b"x")
    window.append(b"x")

    assert not line.connection.passes(len(b"before"), frame)
    assert not line.connection.is_quiet
    line.connection.pump()

    assert output(line.told()) == b"beforex"


def test_much_is_no_frame_in_hand(line: Wire) -> None:
    just_printed(line, b"x")

    assert not line.connection.passes(len(b"before"), b"")


def test_what_was_just_printed_waits_for_room_like_the_rest(line: Wire) -> None:
    _, frame = just_printed(line, b"x")
    line.fill()

    assert not line.connection.passes(len(b"before"), frame)
    line.connection.pump()

    assert output(line.told()) == b"x"


def test_a_frame_that_is_taken_in_part_is_finished_first(line: Wire) -> None:
    line.connection.link.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 4608)
    window, frame = just_printed(line, b"y" * CHUNK)

    assert line.connection.passes(len(b"before"), frame)
    assert line.connection.unsent
    window.append(b"z")
    line.connection.pump()

    assert output(line.told()) == b"y" * CHUNK + b"z"


def test_the_last_word_does_not_come_before_it(line: Wire) -> None:
    _, frame = just_printed(line, b"x")
    line.connection.end_with(goodbye())

    assert not line.connection.passes(len(b"before"), frame)
    line.connection.pump()

    assert line.told() == [wire.Output(6, b"x"), goodbye()]


def test_a_word_that_finds_room_does_not_end_the_stream(line: Wire) -> None:
    line.connection.watch(printed(b"x" * (WINDOW // 2)), 0)
    line.connection.pump()
    first = line.told(turns=0)
    line.connection.send(goodbye())

    assert len(output(first + line.told())) == WINDOW // 2
