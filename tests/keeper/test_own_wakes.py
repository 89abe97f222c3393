"""How a session is woken without a keeper: by a nursery that is started for it."""

import os
import selectors
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from holdfast.keeper.nursery import Nursery
from holdfast.keeper.own_wakes import AGAIN, OwnWakes
from holdfast.keeper.trustee import Entrusted, Trust

ONE, TWO = "s_" + "a" * 16, "s_" + "b" * 16
FACTS: dict[str, object] = {"name": "one", "dozing": True, "idle_ms": 5}


class Waking:
    """Sessions that doze, and a nursery that cannot make anything of them."""

    def __init__(self) -> None:
        self.selector = selectors.DefaultSelector()
        fds = [os.memfd_create("x")]
        self.trust = Trust({ONE: Entrusted(dict(FACTS), fds, 3)})
        self.wakes = OwnWakes(self.trust, self.selector)

    @property
    def nursery(self) -> Nursery | None:
        return self.wakes._nursery  # noqa: SLF001  # nobody else can see it

    def turn_until(self, reached: Callable[[], object]) -> None:
        deadline = time.monotonic() + 10
        while not reached():
            assert time.monotonic() < deadline, "it never came to this"
            for key, events in self.selector.select(0.01):
                key.data(key.fileobj, events)
            self.wakes.tick(time.monotonic())  # A holder may be dead before it is told.

    def close(self) -> None:
        self.end()
        for session in [*self.trust.copies]:
            self.trust.drop(session)
        self.selector.close()

    def end(self) -> None:
        """End the nursery, and collect it."""
        pid = 0 if self.nursery is None else self.nursery.pid
        self.wakes.end()
        if pid:
            os.waitpid(pid, 0)


@pytest.fixture
def waking(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Waking]:
    for name in ("RUNTIME", "CONFIG", "STATE"):
        monkeypatch.setenv(f"HOLDFAST_{name}_DIR", str(tmp_path / name.lower()))
    made = Waking()
    yield made
    made.close()


def test_nobody_is_woken_before_it_is_time(waking: Waking) -> None:
    assert waking.wakes.next_deadline() is None
    assert ONE not in waking.wakes
    waking.wakes.add(ONE, 100.0)
    waking.wakes.add(ONE, 50.0)  # The first word counts.
    waking.wakes.tick(99.0)

    assert waking.wakes.next_deadline() == 100.0
    assert ONE in waking.wakes
    assert waking.nursery is None


def test_what_somebody_else_deals_with_is_not_woken(waking: Waking) -> None:
    waking.wakes.add(ONE, 100.0)
    waking.wakes.discard(ONE)
    waking.wakes.tick(200.0)

    assert ONE not in waking.wakes
    assert waking.wakes.next_deadline() is None
    assert waking.nursery is None


def test_a_session_that_is_not_here_is_passed_over(waking: Waking) -> None:
    waking.wakes.add(TWO, 0.0)
    waking.wakes.tick(1.0)

    assert TWO not in waking.wakes
    assert waking.wakes.next_deadline() is None


def test_once_its_holder_is_forked_the_session_is_let_go(waking: Waking) -> None:
    waking.wakes.add(ONE, 0.0)
    waking.wakes.add(TWO, 10.0**9)
    waking.wakes.tick(1.0)
    assert waking.nursery is not None
    assert ONE in waking.wakes
    assert waking.wakes.next_deadline() == 10.0**9
    waking.turn_until(lambda: ONE not in waking.trust.copies)

    assert ONE not in waking.wakes
    assert waking.nursery is not None  # Another is to be woken.


def test_a_session_whose_holder_died_at_once_is_woken_again(waking: Waking) -> None:
    waking.wakes.add(ONE, 0.0)
    waking.wakes.tick(1.0)
    nursery = waking.nursery
    assert nursery is not None

    # A nursery says so only if the fork is gone before it can be looked at.
    waking.wakes._heard(nursery, {"do": "stillborn", "key": ONE}, [])  # noqa: SLF001

    assert ONE in waking.trust.copies
    again = waking.wakes.next_deadline()
    assert again is not None
    waking.wakes.tick(again)
    assert waking.wakes.next_deadline() is None  # It was asked for once more.
    waking.turn_until(lambda: ONE not in waking.trust.copies)


def test_when_nobody_is_left_to_wake_the_nursery_ends(waking: Waking) -> None:
    waking.wakes.add(ONE, 0.0)
    waking.wakes.tick(1.0)
    assert waking.nursery is not None
    pid = waking.nursery.pid
    waking.turn_until(lambda: waking.nursery is None)

    assert os.waitpid(pid, 0)[0] == pid
    assert waking.trust.copies == {}


def test_what_a_dead_nursery_was_asked_for_is_asked_for_again(waking: Waking) -> None:
    waking.wakes.add(ONE, 0.0)
    waking.wakes.tick(1.0)
    assert waking.nursery is not None
    pid = waking.nursery.pid
    os.kill(pid, 9)
    os.waitpid(pid, 0)
    before = time.monotonic()
    waking.turn_until(lambda: waking.nursery is None)

    assert ONE in waking.wakes
    due = waking.wakes.next_deadline()
    assert due is not None
    assert before + AGAIN <= due <= time.monotonic() + AGAIN
    waking.wakes.tick(due - 0.5)
    assert waking.nursery is None
    waking.wakes.tick(due)
    assert waking.nursery is not None
    waking.turn_until(lambda: ONE not in waking.trust.copies)
