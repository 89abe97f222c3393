import contextlib
import os
import selectors
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from holdfast.keeper.births import EARLY, PATIENCE, Births


class Ward:
    """Births, and which of them ended in a death."""

    def __init__(self) -> None:
        self.selector = selectors.DefaultSelector()
        self.dead: list[str] = []
        self.why: list[str] = []
        self.births = Births(self.selector, self._died)

    def _died(self, key: str, why: str) -> None:
        self.dead.append(key)
        self.why.append(why)

    def turn(self) -> None:
        for key, events in self.selector.select(5):
            key.data(key.fileobj, events)


@pytest.fixture
def ward() -> Iterator[Ward]:
    made = Ward()
    yield made
    made.births.drop("a")
    made.selector.close()


@pytest.fixture
def child() -> Iterator["subprocess.Popen[bytes]"]:
    with subprocess.Popen(["sleep", "60"]) as process:  # noqa: S607  # whichever there is
        yield process
        process.kill()


Child = subprocess.Popen[bytes]


def test_a_death_before_the_deposit_is_noticed_at_once(
    ward: Ward, child: Child
) -> None:
    ward.births.begin("a", now=0)
    ward.births.forked("a", child.pid, os.pidfd_open(child.pid))

    child.kill()
    ward.turn()

    assert ward.dead == ["a"]
    assert ward.why == [EARLY]
    assert "a" not in ward.births


def test_a_deposit_ends_the_watch(ward: Ward, child: Child) -> None:
    ward.births.begin("a", now=0)
    ward.births.forked("a", child.pid, os.pidfd_open(child.pid))

    ward.births.deposited("a", child.pid)

    assert "a" not in ward.births
    assert ward.births.next_deadline() is None


def test_a_deposit_by_somebody_else_does_not(ward: Ward, child: Child) -> None:
    ward.births.begin("a", now=0)
    ward.births.forked("a", child.pid, os.pidfd_open(child.pid))

    ward.births.deposited("a", child.pid + 1)

    assert "a" in ward.births


def test_whoever_takes_too_long_is_killed(ward: Ward, child: Child) -> None:
    ward.births.begin("a", now=0)
    ward.births.forked("a", child.pid, os.pidfd_open(child.pid))
    ward.births.tick(PATIENCE - 1)
    assert ward.dead == []

    ward.births.tick(PATIENCE)

    assert ward.dead == ["a"]
    assert child.wait(5) == -signal.SIGKILL


def test_what_was_not_forked_yet_is_known(ward: Ward, child: Child) -> None:
    ward.births.begin("a", now=0)
    assert ward.births.unborn() == ["a"]

    ward.births.forked("a", child.pid, os.pidfd_open(child.pid))
    assert ward.births.unborn() == []


def test_a_pidfd_that_comes_after_the_deposit_is_not_kept(
    ward: Ward, child: Child
) -> None:
    ward.births.forked("a", child.pid, os.pidfd_open(child.pid))
    ward.births.died("a", EARLY)

    assert "a" not in ward.births
    assert ward.dead == []
    assert not ward.births.kill("a")


def test_the_deadline_is_the_first_one_s(ward: Ward) -> None:
    assert ward.births.next_deadline() is None
    ward.births.begin("b", now=7)
    ward.births.begin("a", now=3)

    assert ward.births.next_deadline() == 3 + PATIENCE
    ward.births.drop("a")
    assert ward.births.next_deadline() == 7 + PATIENCE
    ward.births.drop("b")
    assert ward.births.next_deadline() is None


def test_no_pidfd_is_left_open_whatever_becomes_of_a_birth(
    ward: Ward, child: Child
) -> None:
    ward.births.forked("a", child.pid, os.pidfd_open(child.pid))  # Not expected.
    assert pidfds(child.pid) == 0

    ward.births.begin("a", now=0)
    ward.births.forked("a", child.pid, os.pidfd_open(child.pid))
    ward.births.forked("a", child.pid, os.pidfd_open(child.pid))  # Said twice.
    assert pidfds(child.pid) == 1
    ward.births.begin("a", now=1)
    assert pidfds(child.pid) == 0
    ward.births.forked("a", child.pid, os.pidfd_open(child.pid))
    ward.births.deposited("a", child.pid)
    assert pidfds(child.pid) == 0
    ward.births.begin("a", now=2)
    ward.births.forked("a", child.pid, os.pidfd_open(child.pid))
    ward.births.kill("a")

    assert pidfds(child.pid) == 0
    assert child.wait(5) == -signal.SIGKILL


def pidfds(pid: int) -> int:
    # Not all that are open: what tests before this one left is closed at any time.
    count = 0
    for path in Path("/proc/self/fdinfo").iterdir():
        with contextlib.suppress(FileNotFoundError):
            count += f"Pid:\t{pid}\n" in path.read_text()
    return count


def test_only_the_process_that_was_forked_speaks_for_it(
    ward: Ward, child: Child
) -> None:
    assert not ward.births.is_of("a", child.pid)
    ward.births.begin("a", now=0)
    assert ward.births.is_of("a", child.pid)  # The nursery has not named it yet.
    ward.births.forked("a", child.pid, os.pidfd_open(child.pid))

    assert ward.births.is_of("a", child.pid)
    assert not ward.births.is_of("a", os.getpid())
