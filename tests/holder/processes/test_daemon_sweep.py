"""What becomes of the processes that a session leaves behind, by the clock given."""

import signal

import pytest
from tests.linux.trees import PATIENCE as LONG
from tests.linux.trees import SESSION, Leader, eventually, leader

from holdfast.holder.processes.daemon_sweep import (
    CALM,
    GRACE,
    PATIENCE,
    STEP,
    DaemonSweep,
    Swept,
)
from holdfast.linux.daemons import Daemons
from holdfast.model.ids import ActorId, SessionId

ANNA = ActorId("a_anna")
BERT = ActorId("a_bert")
BEGUN = 100.0

STUBBORN = """
import os, signal, sys
signal.signal(signal.SIGTERM, signal.SIG_IGN)
signal.signal(signal.SIGHUP, signal.SIG_IGN)
print(os.getpid(), flush=True)
sys.stdin.read()
"""

TELLING = """
import os, signal, sys
awaited = (signal.SIGTERM, signal.SIGHUP, signal.SIGUSR1)
signal.pthread_sigmask(signal.SIG_BLOCK, awaited)
print(os.getpid(), flush=True)
print(int(signal.sigwait(awaited)), flush=True)
sys.stdin.read()
"""


def sweep(number: int = signal.SIGTERM, *, leave: bool = False) -> DaemonSweep:
    made = DaemonSweep(SessionId(SESSION), None)
    made.ask(ANNA, number, leave=leave)
    return made


def is_there() -> bool:
    return bool(Daemons(SESSION, None).find())


def ready(tree: Leader) -> int:
    (pid,) = tree.pids()
    assert is_there()
    return pid


def test_what_nobody_ends_is_left_alone() -> None:
    made = DaemonSweep(SessionId(SESSION), None)
    with leader(STUBBORN) as tree:
        ready(tree)

        assert made.begin(BEGUN) is None
        assert made.next_deadline() is None
        assert made.tick(BEGUN + PATIENCE) is None
        assert not made.is_on
        assert is_there()


def test_who_wants_daemons_left_is_told_of_them_and_they_go_on() -> None:
    made = sweep(leave=True)
    with leader(STUBBORN) as tree:
        pid = ready(tree)

        said = made.begin(BEGUN)

        assert said is not None
        assert (said.by, said.ended, said.left) == (ANNA, 0, 1)
        assert f"({pid})" in said.names
        assert not made.is_on
        assert is_there()


def test_the_last_word_about_daemons_counts() -> None:
    made = sweep(leave=False)
    made.ask(BERT, signal.SIGTERM, leave=True)
    with leader(STUBBORN) as tree:
        ready(tree)

        said = made.begin(BEGUN)

        assert said is not None
        assert (said.by, said.left) == (BERT, 1)


def test_where_there_are_none_it_is_said_at_once() -> None:
    made = sweep()

    assert made.begin(BEGUN) == Swept(ANNA, 0, "", 0)
    assert not made.is_on
    assert made.next_deadline() is None


@pytest.mark.parametrize(
    ("asked", "sent"),
    [
        (signal.SIGTERM, signal.SIGTERM),
        (signal.SIGHUP, signal.SIGTERM),
        (signal.SIGUSR1, signal.SIGUSR1),
    ],
)
def test_daemons_get_the_signal_asked_for_but_never_a_hang_up(
    asked: int, sent: int
) -> None:
    with leader(TELLING) as tree:
        ready(tree)

        assert sweep(asked).begin(BEGUN) is None

        assert tree.pids() == [sent]


def test_what_does_not_end_by_itself_is_killed_after_its_grace_and_not_before() -> None:
    made = sweep()
    with leader(STUBBORN) as tree:
        pid = ready(tree)
        assert made.begin(BEGUN) is None
        assert made.is_on
        assert made.next_deadline() == BEGUN + STEP
        assert made.tick(BEGUN + STEP / 2) is None
        assert made.next_deadline() == BEGUN + STEP
        assert made.tick(BEGUN + GRACE - STEP) is None
        assert is_there()

        assert made.tick(BEGUN + GRACE) is None

        eventually("it is killed", lambda: not is_there())
        after = [made.tick(BEGUN + GRACE + (one + 1) * STEP) for one in range(CALM)]
        assert after[:-1] == [None] * (CALM - 1)
        said = after[-1]
        assert said is not None
        assert (said.by, said.ended, said.left) == (ANNA, 1, 0)
        assert f"({pid})" in said.names
        assert not made.is_on
        assert made.next_deadline() is None
        assert made.tick(BEGUN + LONG) is None


def test_what_will_not_end_in_time_is_said_to_be_left(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(Daemons, "kill", lambda self, _: self.find())
    made = sweep()
    with leader(STUBBORN) as tree:
        ready(tree)
        assert made.begin(BEGUN) is None
        assert made.tick(BEGUN + PATIENCE - STEP) is None

        said = made.tick(BEGUN + PATIENCE)

        assert said is not None
        assert (said.ended, said.left) == (0, 1)
