"""What is carried between a relay and its user, and what ends it."""

import contextlib
import os
import socket
import time
from collections.abc import Callable, Iterator

import pytest
from tests.core.client.relay_world import SESSION, FarWorld
from tests.core.client.test_relay_way import carry, way_to

from holdfast.client import relay_pump
from holdfast.client.relay_pump import RelayPump

PATIENCE = 10.0


class Carried:
    """A pump between a user's socket and the relay's end of a link."""

    def __init__(self, shown: bytes = b"") -> None:
        self.world, way = FarWorld(), way_to()
        carry(way, self.world, way.begin())
        carry(way, self.world, way.lead(SESSION))
        self.relay, theirs = socket.socketpair()
        self.ends: list[str] = []
        self._pump = RelayPump(theirs, way, self.ends.append)
        self.waiting = self.world.says(shown)
        """What the session has to say from the beginning."""

    def start(self) -> "Carried":
        """Begin to carry."""
        self.user = socket.socket(fileno=self._pump.start())
        for end in (self.relay, self.user):
            end.settimeout(PATIENCE)
        return self

    def serve(self) -> None:
        """Let the world hear what is sent, and answer, once."""
        if answer := self.world.hear(self.relay.recv(1 << 20)):
            self.relay.sendall(answer)

    def close(self) -> None:
        self.relay.close()
        self.user.close()


@pytest.fixture
def pump() -> Iterator[Carried]:
    made = Carried().start()
    yield made
    made.close()
    until(lambda: bool(made.ends))


def until(is_so: Callable[[], bool]) -> None:
    deadline = time.monotonic() + PATIENCE
    while not is_so():
        assert time.monotonic() < deadline
        time.sleep(0.002)


def received(link: socket.socket, size: int) -> bytes:
    found = b""
    while len(found) < size:
        piece = link.recv(size - len(found))
        assert piece
        found += piece
    return found


def test_bytes_go_both_ways(pump: Carried) -> None:
    pump.user.sendall(b"typed")
    pump.serve()
    assert bytes(pump.world.said) == b"typed"

    pump.relay.sendall(pump.world.says(b"shown"))
    assert pump.user.recv(100) == b"shown"


def test_much_goes_both_ways_at_once_and_nobody_waits_for_ever(pump: Carried) -> None:
    data = os.urandom(3_000_000)
    raw = memoryview(pump.world.says(data))
    typed, shown = memoryview(data), b""
    for end in (pump.relay, pump.user):
        end.settimeout(0)
    deadline = time.monotonic() + PATIENCE
    while len(shown) < len(data) or len(pump.world.said) < len(data):
        assert time.monotonic() < deadline
        for link, waiting in ((pump.relay, raw), (pump.user, typed)):
            try:
                sent = link.send(waiting) if waiting else 0
            except BlockingIOError:
                sent = 0
            if link is pump.relay:
                raw = raw[sent:]
            else:
                typed = typed[sent:]
        with contextlib.suppress(BlockingIOError):
            shown += pump.user.recv(1 << 20)
        with contextlib.suppress(BlockingIOError):
            pump.world.hear(pump.relay.recv(1 << 20))

    assert shown == data
    assert bytes(pump.world.said) == data


def test_no_more_is_read_than_the_user_reads(pump: Carried) -> None:
    raw = pump.world.says(bytes(8_000_000))
    pump.relay.settimeout(0.3)
    with pytest.raises(TimeoutError):
        pump.relay.sendall(raw)
    pump.relay.settimeout(PATIENCE)


def test_what_was_said_last_goes_out_and_then_leave_is_taken(pump: Carried) -> None:
    pump.user.sendall(b"last")
    pump.user.close()

    while not pump.world.has_left or pump.world.steps[-1] != "CLOSE":
        pump.serve()
    assert bytes(pump.world.said) == b"last"


def test_who_leaves_in_the_middle_of_output_has_said_what_it_said(
    pump: Carried,
) -> None:
    pump.relay.settimeout(0.3)
    with pytest.raises(TimeoutError):
        pump.relay.sendall(pump.world.says(bytes(4_000_000)))
    pump.user.sendall(b"last")
    pump.user.close()

    pump.relay.settimeout(PATIENCE)
    while not pump.world.has_left:
        pump.world.hear(pump.relay.recv(1 << 20))
    assert bytes(pump.world.said) == b"last"


def test_a_relay_that_says_nothing_does_not_keep_who_leaves(
    pump: Carried, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(relay_pump, "LAST_WORDS", 0.05)
    pump.user.close()

    until(lambda: bool(pump.ends))


def test_what_came_before_the_end_is_read_first(pump: Carried) -> None:
    raw = pump.world.says(b"x" * 1_000_000) + pump.world.leaves("peer-left")
    pump.relay.settimeout(0)
    left, shown = memoryview(raw), b""
    while left or len(shown) < 1_000_000:
        with contextlib.suppress(BlockingIOError, BrokenPipeError):
            left = left[pump.relay.send(left) :]
        shown += pump.user.recv(1 << 20)

    assert len(shown) == 1_000_000
    assert pump.user.recv(1) == b""
    until(lambda: pump.ends == ["peer-left"])


@pytest.mark.parametrize(
    "raw", [b"\x82\x7f" + b"\xff" * 8, b"\x82\x40" + b"x" * 64, b"\x81\x01a", b""]
)
def test_a_relay_that_breaks_the_protocol_is_hung_up_on(
    raw: bytes, pump: Carried
) -> None:
    if raw:
        pump.relay.sendall(raw)
    else:
        pump.relay.shutdown(socket.SHUT_WR)

    assert pump.user.recv(1) == b""
    until(lambda: pump.ends == [""])


def test_a_relay_that_is_silent_is_asked_and_then_given_up(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(relay_pump, "HEARTBEAT", 0.2)
    pump = Carried().start()
    while "PING" not in pump.world.steps:
        pump.serve()
    asked = len(pump.world.steps)
    # It has answered: so it is not given up, and asked again.
    while len(pump.world.steps) == asked:
        pump.serve()
    assert not pump.ends

    assert pump.user.recv(1) == b""
    until(lambda: bool(pump.ends))
    pump.close()


def test_a_user_that_does_not_read_is_no_reason_to_give_up(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    pump = Carried(shown=bytes(4_000_000))
    monkeypatch.setattr(relay_pump, "HEARTBEAT", 0.5)
    pump.start()
    pump.relay.settimeout(1.5)
    with pytest.raises(TimeoutError):
        pump.relay.sendall(pump.waiting)

    assert not pump.ends
    pump.close()
    until(lambda: bool(pump.ends))
