import os
import socket
from collections.abc import Iterator
from functools import partial

import pytest

from holdfast.holder.poll import Poll


@pytest.fixture
def poll() -> Iterator[Poll]:
    made = Poll()
    yield made
    made.close()


@pytest.fixture
def pair() -> Iterator[tuple[socket.socket, socket.socket]]:
    near, far = socket.socketpair()
    with near, far:
        yield near, far


def test_what_can_be_read_is_told_until_nobody_waits(
    poll: Poll, pair: tuple[socket.socket, socket.socket]
) -> None:
    near, far = pair
    heard: list[bytes] = []
    poll.watch(near, lambda: heard.append(near.recv(10)))

    assert not poll.turn(0)
    far.send(b"one")
    assert poll.turn(1)
    poll.unwatch(near)
    far.send(b"two")

    assert not poll.turn(0)
    assert heard == [b"one"]
    assert poll.count == 0


def test_room_is_told_of_as_long_as_somebody_wants_it(
    poll: Poll, pair: tuple[socket.socket, socket.socket]
) -> None:
    near, _ = pair
    told: list[str] = []
    poll.watch(near, lambda: told.append("read"))
    poll.watch_room(near, lambda: told.append("room"))

    assert poll.turn(1)
    poll.watch_room(near, None)
    assert not poll.turn(0)
    assert told == ["room"]


def test_an_end_is_something_to_read(
    poll: Poll, pair: tuple[socket.socket, socket.socket]
) -> None:
    near, far = pair
    told: list[str] = []
    poll.watch(near, lambda: told.append("read"))
    far.close()

    assert poll.turn(1)
    assert told == ["read"]


def test_who_is_no_longer_waited_for_is_not_called_in_the_same_turn(
    poll: Poll,
) -> None:
    ends = [os.pipe() for _ in range(2)]
    called: list[int] = []

    def call(number: int) -> None:
        called.append(number)
        poll.unwatch(ends[1 - number][0])

    for number, (reads, writes) in enumerate(ends):
        poll.watch(reads, partial(call, number))
        os.write(writes, b"x")

    assert poll.turn(1)
    assert len(called) == 1
    for fd in (*ends[0], *ends[1]):
        os.close(fd)


def test_what_was_closed_elsewhere_is_forgotten_without_a_word(poll: Poll) -> None:
    reads, writes = os.pipe()
    poll.watch(reads, lambda: None)
    os.close(reads)
    poll.unwatch(reads)
    os.close(writes)

    assert poll.count == 0


def test_what_floods_comes_last_in_every_turn(poll: Poll) -> None:
    ends = [os.pipe() for _ in range(3)]
    called: list[int] = []
    for number, (reads, writes) in enumerate(ends):
        poll.watch(reads, partial(called.append, number), is_last=number == 1)
        os.write(writes, b"x")

    for _ in range(3):
        assert poll.turn(1)
    poll.unwatch(ends[1][0])
    assert poll.turn(1)

    assert called[2:9:3] == [1, 1, 1]
    assert sorted(called[9:]) == [0, 2]
    for fd in (*ends[0], *ends[1], *ends[2]):
        os.close(fd)


# ── what is expected, and what is put off ─────────────────────────────────────


def test_what_is_expected_is_done_instead_if_it_comes_alone(
    poll: Poll, pair: tuple[socket.socket, socket.socket]
) -> None:
    near, far = pair
    did: list[str] = []
    poll.watch(near, lambda: did.append("usual"))
    poll.expect(near, lambda: did.append("expected"), otherwise=partial(print, end=""))
    assert not poll.turn(0)
    assert poll.expected is not None

    far.send(b"x")
    assert poll.turn(1)
    assert did == ["expected"]
    assert poll.expected is None
    assert poll.turn(1)

    assert did == ["expected", "usual"]


def test_anything_else_comes_after_what_was_put_off(
    poll: Poll, pair: tuple[socket.socket, socket.socket]
) -> None:
    (near, far), did = pair, list[str]()
    other, end = socket.socketpair()
    with other, end:
        poll.watch(near, lambda: did.append(near.recv(9).decode()))
        poll.watch(other, lambda: did.append("other"))
        poll.expect(other, lambda: None, otherwise=lambda: did.append("not that"))
        poll.late = lambda: did.append("late")

        far.send(b"one")
        assert poll.turn(1)
        poll.interrupt()

    assert did == ["late", "not that", "one"]
    assert poll.late is None


def test_only_the_last_goes_before_what_was_put_off(
    poll: Poll, pair: tuple[socket.socket, socket.socket]
) -> None:
    (near, far), did = pair, list[str]()
    poll.watch(near, lambda: did.append(near.recv(9).decode()), is_last=True)
    poll.late = lambda: did.append("late")

    far.send(b"one")
    assert poll.turn(1)
    assert did == ["one"]
    assert poll.late is not None
    far.close()
    assert poll.turn(1)

    assert did == ["one", "late", ""]


def test_what_follows_comes_after_what_was_put_off_and_once(poll: Poll) -> None:
    did: list[str] = []

    def shown() -> None:
        did.append("shown")

    poll.follow(shown)
    assert did == ["shown"]
    poll.late = lambda: did.append("late")
    poll.follow(shown)
    poll.follow(shown)
    assert did == ["shown"]
    poll.interrupt()

    assert did == ["shown", "late", "shown"]
    poll.interrupt()
    assert did == ["shown", "late", "shown"]


def test_the_last_can_be_tried_without_a_wait(
    poll: Poll, pair: tuple[socket.socket, socket.socket]
) -> None:
    (near, far), found = pair, list[bytes]()
    near.settimeout(0)

    def take() -> bool:
        try:
            found.append(near.recv(9))
        except BlockingIOError:
            return False
        return True

    assert not poll.try_last()
    poll.watch(near, take, is_last=True)
    assert not poll.try_last()
    far.send(b"one")
    assert poll.try_last()
    assert found == [b"one"]

    poll.unwatch(near)
    far.send(b"two")
    assert not poll.try_last()
    assert found == [b"one"]
