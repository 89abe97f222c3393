import os
import select
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from holdfast.linux import exec_filter, procfs, spawn
from holdfast.linux.capsule import starter
from holdfast.linux.capsule.start import Capsule, hold_leader, hold_vacant
from holdfast.linux.capsule.trial import why_not
from holdfast.linux.capsule.view import View
from holdfast.model.geometry import DEFAULT_SIZE

WHY = why_not()
PATIENCE = 30.0

pytestmark = pytest.mark.skipif(bool(WHY), reason=WHY)


def view() -> View:
    return View((), is_root=exec_filter.is_privileged(), uid=os.getuid())


@pytest.fixture
def capsule() -> Iterator[Capsule]:
    made = hold_leader(spawn.Leader(("/bin/cat",), "/", {}), view(), DEFAULT_SIZE)
    spawn.say(made.held.word, spawn.GO)
    spawn.why_not_begun(made.held.report, made.held.program)
    yield made
    os.close(made.lifeline)
    os.waitpid(made.record.first, 0)
    for fd in (made.master, made.first, made.held.word, made.held.report):
        os.close(fd)


def stop(pid: int) -> None:
    os.kill(pid, signal.SIGSTOP)
    await_state(pid, "T")


def await_state(pid: int, state: str) -> None:
    pidfd = os.pidfd_open(pid)
    try:
        for _ in range(int(PATIENCE * 100)):
            if (
                procfs.read(f"/proc/{pid}/stat", procfs.STAT).split()[2]
                == state.encode()
            ):
                return
            assert not select.select([pidfd], [], [], 0.01)[0], "it has ended"
    finally:
        os.close(pidfd)
    pytest.fail(f"it is not in state {state}")


def await_end(fd: int) -> None:
    """Wait until the process that has the other end is gone."""
    assert select.select([fd], [], [], PATIENCE)[0]


def test_the_word_lets_go_on_what_stands_still_but_for_what_stood_before(
    capsule: Capsule, tmp_path: Path
) -> None:
    leader, parent = capsule.held.pid, capsule.record.parent
    stop(leader)
    stop(parent)
    inner = capsule.record.inner_leader
    made = starter.make(
        (capsule.record.first, capsule.first), [inner], (tmp_path / "undone").touch
    )
    held = made.held(leader, "/bin/cat", None)

    spawn.say(held.word, spawn.GO)

    await_end(held.report)
    await_state(parent, "S")
    await_state(leader, "T")
    assert not (tmp_path / "undone").exists()
    for fd in (held.word, held.report):
        os.close(fd)


def test_without_a_word_the_tree_ends_and_what_was_done_for_it_is_undone(
    tmp_path: Path,
) -> None:
    vacant = hold_vacant(view(), DEFAULT_SIZE)
    made = starter.make((vacant.pid, vacant.first), [], (tmp_path / "undone").touch)

    os.close(made.word)

    await_end(vacant.first)
    await_end(made.report)
    assert (tmp_path / "undone").exists()
    os.close(made.report)
    vacant.drop()


def test_one_that_is_dismissed_leaves_everything_as_it_is(tmp_path: Path) -> None:
    vacant = hold_vacant(view(), DEFAULT_SIZE)
    made = starter.make((vacant.pid, vacant.first), [], (tmp_path / "undone").touch)
    report = os.dup(made.report)

    made.dismiss()

    await_end(report)
    os.close(report)
    assert not select.select([vacant.first], [], [], 0)[0]
    assert not (tmp_path / "undone").exists()
    vacant.drop()
