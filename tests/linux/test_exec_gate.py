import contextlib
import errno
import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.linux.gated import gated
from tests.linux.kernels import can_hold_execs

from holdfast.linux import exec_filter, exec_gate
from holdfast.linux.exec_words import read_wanted
from holdfast.model.errors import CannotStart

NOBODY = 65534

pytestmark = pytest.mark.skipif(
    not can_hold_execs(), reason="this kernel cannot hold an exec"
)


def test_what_is_let_happens_and_the_command_itself_is_not_asked_about() -> None:
    with gated("sh", "-c", "env /bin/true") as one:
        for _ in range(2):
            assert one.gate.let(one.next().id)

        assert one.status() == 0


@pytest.mark.parametrize("number", [errno.EPERM, errno.ENOENT])
def test_what_is_refused_fails_with_the_error_that_is_given(number: int) -> None:
    program = "import os, sys\ntry: os.execv('/bin/true', ['true'])\n"
    program += "except OSError as error: sys.exit(error.errno)"
    with gated(sys.executable, "-c", program) as one:
        while True:
            notice = one.next()
            if one.gate.refuse(notice.id, number):
                break

        assert one.status() == number


def test_a_command_that_cannot_be_started_leaves_no_process() -> None:
    with pytest.raises(CannotStart), gated("no-such-command"):
        pass


def test_g1_a_successor_finds_what_was_taken_and_not_answered() -> None:
    with gated("sh", "-c", "env /bin/true") as one:
        taken = one.next()

        one.gate = one.successor()

        assert one.inherited == [taken]
        assert one.gate.let(taken.id)
        one.gate.let(one.next().id)
        assert one.status() == 0


def test_g1_what_was_answered_is_not_left_for_a_successor() -> None:
    with gated("sh", "-c", "env /bin/true") as one:
        one.gate.let(one.next().id)

        one.gate = one.successor()

        assert one.inherited == []
        one.gate.let(one.next().id)
        assert one.status() == 0


def test_g1_a_notice_of_a_process_that_is_gone_is_cleared_away() -> None:
    with gated("sh", "-c", "env /bin/true; exec sleep 60") as one:
        notice = one.next()
        os.kill(notice.thread, signal.SIGKILL)
        one.gate.let(one.next().id)

        one.gate = one.successor()

        assert one.inherited == []
        assert not one.gate.is_full


def test_g2_taking_does_not_wait_when_nobody_asks() -> None:
    with gated("sleep", "60") as one:
        assert one.gate.receive() is None


def test_g2_when_nobody_is_left_who_could_ask_that_is_told() -> None:
    with gated("true") as one:
        one.status()

        with pytest.raises(BrokenPipeError):
            one.gate.receive()


def test_g3_a_second_answer_changes_nothing() -> None:
    with gated("sh", "-c", "env /bin/true") as one:
        notice = one.next()
        assert one.gate.let(notice.id)

        assert not one.gate.refuse(notice.id)

        one.gate.let(one.next().id)
        assert one.status() == 0


def test_g3_a_process_that_is_gone_is_not_answered() -> None:
    with gated("sh", "-c", "env /bin/true; exec sleep 60") as one:
        notice = one.next()
        assert one.gate.is_valid(notice.id)
        os.kill(notice.thread, signal.SIGKILL)
        one.next()

        assert not one.gate.is_valid(notice.id)
        assert not one.gate.let(notice.id)


def test_a_signal_makes_a_process_ask_again() -> None:
    with gated("sh", "-c", "env /bin/true") as one:
        first = one.next()
        os.kill(first.thread, signal.SIGSTOP)
        os.kill(first.thread, signal.SIGCONT)

        second = one.next()

        assert second.thread == first.thread
        assert second.id != first.id
        assert not one.gate.is_valid(first.id)


def test_no_more_are_taken_than_there_are_slots() -> None:
    line = f"for i in $(seq {exec_gate.SLOTS + 5}); do env /bin/true & done; wait"
    with gated("sh", "-c", line) as one:
        one.gate.let(one.next().id)
        taken = [one.next() for _ in range(exec_gate.SLOTS)]
        assert one.gate.is_full

        one.gate.drop(taken[0].id)

        assert not one.gate.is_full
        one.next()


def test_the_leader_does_not_keep_the_listener() -> None:
    with gated("sh", "-c", "ls -l /proc/self/fd; env /bin/true") as one:
        one.gate.let(one.next().id)
        one.next()

        found = [str(one.readlink()) for one in Path(f"/proc/{one.pid}/fd").iterdir()]
        assert not [link for link in found if "seccomp" in link]


def test_a_process_cannot_put_a_filter_on_top_and_answer_itself() -> None:
    program = "import os, sys\nfrom holdfast.linux import exec_filter\n"
    program += "try: exec_filter.install()\nexcept OSError as e: os._exit(e.errno)\n"
    with gated(sys.executable, "-c", program) as one:
        # Only one listener can be in force: nobody can answer for us.
        assert one.status() == errno.EBUSY


def as_nobody(do: Callable[[], int]) -> int:
    """Do something as an ordinary user, and return the number that it returns."""
    pid = os.fork()
    if pid == 0:
        status = 99
        with contextlib.suppress(BaseException):
            os.setgroups([])
            os.setgid(NOBODY)
            os.setuid(NOBODY)
            status = do()
        os._exit(status)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


@pytest.mark.skipif(os.getuid() != 0, reason="only root can become another user")
def test_an_ordinary_user_has_a_gate_and_gives_up_what_sudo_adds() -> None:
    def use() -> int:
        assert not exec_filter.is_privileged()
        with gated("sh", "-c", "/bin/mkdir x; exit 7") as one:
            notice = one.next()
            assert read_wanted(notice).words == ("/bin/mkdir", "x")
            status = Path(f"/proc/{one.pid}/status").read_text()
            assert "NoNewPrivs:\t1" in status
            assert one.gate.refuse(notice.id)
            return one.status()

    assert as_nobody(use) == 7


@pytest.mark.skipif(os.getuid() != 0, reason="only root can become another user")
def test_an_ordinary_user_is_told_that_a_gate_is_possible() -> None:
    assert as_nobody(lambda: len(exec_gate.why_not())) == 0
