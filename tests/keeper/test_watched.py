import os
import selectors
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from holdfast.keeper.watched import Knock, Means, Watched
from holdfast.linux import packets
from holdfast.linux.replacements import Replacement, kill
from holdfast.linux.watchdog import LOOK, SILENCE, STEP

Child = subprocess.Popen[bytes]


@pytest.fixture
def child() -> Iterator[Child]:
    with subprocess.Popen(["sleep", "60"]) as process:  # noqa: S607  # whichever there is
        yield process
        process.kill()


def stop(child: Child) -> None:
    os.kill(child.pid, signal.SIGSTOP)
    os.waitpid(child.pid, os.WUNTRACED)


def pass_time(watched: Watched, seconds: float) -> None:
    now = time.monotonic()
    until = now + seconds
    while (due_at := watched.next_deadline()) is not None and due_at <= until:
        watched.tick(due_at)


def look(watched: Watched, *, times: int) -> None:
    for _ in range(times):
        due_at = watched.next_deadline()
        assert due_at is not None
        watched.tick(due_at)


def test_a_process_that_stands_still_is_asked_and_killed(
    child: Child, capsys: pytest.CaptureFixture[str]
) -> None:
    replaced, asked = list[Replacement](), list[str]()
    watched = Watched(replaced.append)
    means = Means("holder", lambda: asked.append("?"), child.kill)
    watched.watch("s_1", child.pid, means, every=LOOK)
    stop(child)

    look(watched, times=2)
    assert asked == ["?"]
    assert watched.everyone_stalled() == {"s_1": "it is stopped"}
    assert not replaced
    look(watched, times=1)

    assert child.wait(5) == -signal.SIGKILL
    last = f"the holder of s_1 (pid {child.pid}): it was stopped"
    assert list(map(str, replaced)) == [last]
    assert replaced[0].session == "s_1"
    assert capsys.readouterr().err == f"process.replaced {last}\n"


def test_one_that_is_not_ours_to_kill_is_only_said_to_hang(child: Child) -> None:
    replaced = list[Replacement]()
    watched = Watched(replaced.append)
    watched.watch("host", child.pid, Means("host", lambda: None, None))
    stop(child)

    pass_time(watched, 10)

    assert child.poll() is None
    assert watched.stalled("host")
    assert not replaced


def test_one_that_answers_is_left_alone(child: Child) -> None:
    watched = Watched(print)
    means = Means("a", lambda: watched.answered("a"), child.kill)
    watched.watch("a", child.pid, means)
    stop(child)

    pass_time(watched, LOOK + SILENCE + STEP)

    assert child.poll() is None


def test_nobody_is_watched_that_has_no_number_here_or_is_gone(child: Child) -> None:
    watched = Watched(print)
    for pid in (0, 1):
        watched.watch("a", pid, Means("a", lambda: None, None))
    watched.watch("b", child.pid, Means("b", lambda: None, None))
    watched.rest("b")
    watched.watch("c", child.pid, Means("c", lambda: None, None))
    watched.drop("c")

    assert watched.next_deadline() is None
    assert watched.everyone_stalled() == {}


def test_no_group_of_processes_is_ever_killed() -> None:
    kill(0)
    kill(-1)
    kill(1)


class Knocked:
    """A socket to knock at, and how often that was answered."""

    def __init__(self, folder: Path) -> None:
        self.listener = packets.listen(folder / "a.sock")
        self.selector = selectors.DefaultSelector()
        self.answers = 0
        self.knock = Knock(lambda: folder / "a.sock", self.selector, self.count)

    def count(self) -> None:
        self.answers += 1

    def close(self) -> None:
        self.knock.end()
        self.listener.close()
        self.selector.close()

    def turn(self) -> None:
        for key, events in self.selector.select(0.01):
            key.data(key.fileobj, events)


@pytest.fixture
def knocked(tmp_path: Path) -> Iterator[Knocked]:
    made = Knocked(tmp_path)
    yield made
    made.close()


def test_an_answer_and_a_hang_up_both_show_that_somebody_is_there(
    knocked: Knocked,
) -> None:
    knocked.knock.ask()
    knocked.turn()
    assert knocked.answers == 0

    link, _ = knocked.listener.accept()
    with link:
        heard = packets.receive(link)
        packets.send(link, {"ok": True})
        knocked.turn()
    assert heard == ({"do": "status"}, [])
    assert knocked.answers == 1
    knocked.knock.ask()
    knocked.listener.accept()[0].close()
    knocked.turn()

    assert knocked.answers == 2
    assert not knocked.selector.get_map()


def test_a_queue_that_is_full_or_nobody_there_is_no_answer(
    knocked: Knocked, tmp_path: Path
) -> None:
    knocked.listener.listen(0)
    with packets.connect(tmp_path / "a.sock", 1):
        knocked.knock.ask()
        assert not knocked.selector.get_map()
    (tmp_path / "a.sock").unlink()
    knocked.knock.ask()
    knocked.turn()

    assert knocked.answers == 0
    assert not knocked.selector.get_map()
