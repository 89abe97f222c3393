import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from tests.linux.gated import Gated, gated
from tests.linux.kernels import can_hold_execs

from holdfast.linux.exec_files import mark_of
from holdfast.linux.exec_trace import ExecTracer, Expected, Traced
from holdfast.linux.exec_words import read_wanted, with_tracer

pytestmark = pytest.mark.skipif(
    not can_hold_execs(), reason="this kernel cannot hold an exec"
)

TRUE = mark_of("/bin/true")


def release(one: Gated, tracer: ExecTracer, expected: Expected | None) -> list[Traced]:
    """Let the next exec happen under a trace, and return who was killed for it."""
    notice = one.next()
    wanted = read_wanted(notice)
    judged = expected or Expected(wanted.mark, wanted.last)
    assert tracer.seize(notice.thread, judged)
    assert one.gate.let(notice.id)
    killed: list[Traced] = []
    while tracer.knows(notice.thread) and not killed:
        killed += tracer.collect(is_late=True)
        time.sleep(0.001)
    return killed


CHILD = "/bin/true; exit $?"
"""Executes it in a child; without the exit, the leader itself would."""


@pytest.mark.parametrize("line", [CHILD, "exec /bin/true"])
def test_t2_what_was_judged_runs_and_is_let_go(line: str) -> None:
    with gated("sh", "-c", line) as one:
        tracer = ExecTracer(one.pid)
        assert release(one, tracer, None) == []

        assert one.status() == 0
        assert not tracer.is_busy


@pytest.mark.parametrize(
    "expected",
    [
        Expected((0, 0), ("/bin/true",)),
        Expected(TRUE, ("/bin/true", "more")),
        Expected(TRUE, ("/bin/false",)),
        Expected(TRUE, ("/bin/true", "more", None)),
        Expected(None, ()),
    ],
)
def test_t1_what_was_not_judged_is_killed_before_it_runs(expected: Expected) -> None:
    with gated("sh", "-c", CHILD) as one:
        tracer = ExecTracer(one.pid)
        killed = release(one, tracer, expected)

        assert [traced.expected for traced in killed] == [expected]
        while tracer.is_busy:
            tracer.collect()
        assert one.status() == 128 + signal.SIGKILL


def test_t1_a_leader_is_killed_as_well_and_its_end_is_left_to_its_parent() -> None:
    with gated("sh", "-c", "exec /bin/true") as one:
        tracer = ExecTracer(one.pid)
        assert release(one, tracer, Expected(None, ("other",)))

        while tracer.is_busy:
            tracer.collect()
        assert one.status() == -signal.SIGKILL


@pytest.mark.parametrize(
    "expected",
    [
        Expected(None, ("/bin/true",)),
        Expected(TRUE, (None,)),
        Expected(TRUE, ("/bin/true", None)),
    ],
)
def test_what_was_not_known_is_not_compared(expected: Expected) -> None:
    with gated("sh", "-c", CHILD) as one:
        assert release(one, ExecTracer(one.pid), expected) == []
        assert one.status() == 0


def test_t2_an_exec_that_fails_is_let_go() -> None:
    program = "import os\ntry: os.execv('/no/such', ['x'])\n"
    program += "except OSError as error: os._exit(error.errno)"
    with gated(sys.executable, "-c", program) as one:
        tracer = ExecTracer(one.pid)
        assert release(one, tracer, Expected(None, (None,))) == []

        assert one.status() == 2
        assert not tracer.is_busy


TWICE = """
import os
try: os.execv('/no/such', ['x'])
except OSError: os.execv('/bin/true', ['true'])
"""


@pytest.mark.parametrize("word", ["true", "other"])
def test_what_is_executed_after_an_exec_that_failed_is_compared_too(word: str) -> None:
    with gated(sys.executable, "-c", TWICE) as one:
        tracer = ExecTracer(one.pid)
        failing = one.next()
        assert tracer.seize(failing.thread, Expected(None, (None,)))
        assert one.gate.let(failing.id)
        following = one.next()  # It never stopped, so it is traced still.
        assert tracer.seizes(following.thread, Expected(TRUE, (word,)))
        assert one.gate.let(following.id)

        while tracer.is_busy:
            tracer.collect()

        assert one.status() == (0 if word == "true" else -signal.SIGKILL)


def test_t2_whoever_dies_meanwhile_is_let_go_and_its_parent_learns_how() -> None:
    with gated("sh", "-c", CHILD) as one:
        tracer = ExecTracer(one.pid)
        notice = one.next()
        assert tracer.seize(notice.thread, Expected(None, (None,)))

        os.kill(notice.thread, signal.SIGKILL)
        while tracer.is_busy:
            tracer.collect()

        assert one.status() == 128 + signal.SIGKILL


def test_a_signal_that_comes_meanwhile_reaches_it() -> None:
    with gated("sh", "-c", CHILD) as one:
        tracer = ExecTracer(one.pid)
        notice = one.next()
        assert tracer.seize(notice.thread, Expected(None, (None,)))

        os.kill(notice.thread, signal.SIGTERM)
        while tracer.is_busy:
            tracer.collect()

        assert one.status() == 128 + signal.SIGTERM


def test_a_thread_is_traced_through_its_exec(tmp_path: Path) -> None:
    program = (
        "import os, threading as t; x = t.Thread(target=lambda: "
        f"os.execv('/bin/mkdir', ['mkdir', '{tmp_path}/made'])); x.start(); x.join()"
    )
    with gated("sh", "-c", f'{sys.executable} -c "{program}"; exit $?') as one:
        tracer = ExecTracer(one.pid)
        for _ in range(2):
            assert release(one, tracer, None) == []

        assert one.status() == 0
    assert (tmp_path / "made").is_dir()


TRACER = """
import ctypes, sys
libc = ctypes.CDLL(None)
assert libc.ptrace(0x4206, int(sys.argv[1]), None, None) == 0
print(flush=True); input()
"""


def test_what_another_process_traces_must_not_go_on() -> None:
    with gated("sh", "-c", "env /bin/true; exit $?") as one:
        tracer = ExecTracer(one.pid)
        release(one, tracer, None)
        notice = one.next()
        with subprocess.Popen(
            [sys.executable, "-c", TRACER, str(notice.thread)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        ) as other:
            assert other.stdout is not None
            other.stdout.readline()
            assert "traces it" in with_tracer(read_wanted(notice), notice.thread).doubt

            anything = Expected(None, (None,))
            assert not tracer.seize(notice.thread, anything)
            # Nor may the first exec of a session, with which nothing has worked yet.
            assert not ExecTracer(one.pid).seize(notice.thread, anything)
            other.kill()


def test_who_has_the_number_of_a_traced_thread_is_not_taken_for_it() -> None:
    anything = Expected(None, (None,))
    with gated("sh", "-c", CHILD) as one:
        tracer = ExecTracer(one.pid)
        notice = one.next()
        gone = Traced(notice.thread, one.pid, anything)
        tracer._traced[notice.thread] = gone  # noqa: SLF001  # its number is free again

        assert not tracer.seizes(notice.thread, anything)
        assert not tracer.seize(notice.thread, anything)
        assert tracer._traced == {notice.thread: gone}  # noqa: SLF001  # still to stop


def test_where_nobody_can_be_traced_an_exec_may_go_on_until_one_was() -> None:
    ourselves = os.getpid()  # The kernel says no to that, as it may to everything.
    anything = Expected(None, (None,))
    with gated("sh", "-c", CHILD) as one:
        tracer = ExecTracer(one.pid)
        assert tracer.seize(ourselves, anything)

        release(one, tracer, None)

        assert not tracer.seize(ourselves, anything)


def test_whoever_is_gone_needs_no_trace() -> None:
    tracer = ExecTracer(1)

    assert tracer.seize(2**22 - 1, Expected(None, (None,)))
    assert tracer.collect(is_late=True) == []


SCRIPTS = [
    "#!/bin/true\n",
    "#!/bin/true",
    "#! \t/bin/true  -a  b \t\n",
    "#!/bin/true -a\0b\n",
    "#!/bin/true \0b\n",
    "#!/bin/true\0b\n",
    "#!/bin/true " + "x" * 300,
    "#!./inner x\n",
    "#!./inner",
]
STARTS = [
    "os.execv('./outer', ['name', 'a', ''])",
    "os.execv(os.getcwd() + '/outer', ['name'])",
    "os.execve(os.open('outer', 0), ['name', 'a'], {})",
    (
        "fd = os.open('outer', 0); os.set_inheritable(fd, True)\n"
        "os.execve(fd, ['name', 'a'], {})"
    ),
    (
        "fd = os.open('outer', 0); os.set_inheritable(fd, True)\n"
        "os.execv(f'/proc/self/fd/{fd}', ['name', 'a'])"
    ),
]


@pytest.mark.parametrize("text", SCRIPTS, ids=repr)
@pytest.mark.parametrize("start", STARTS)
def test_the_kernel_executes_what_was_said_it_would(
    tmp_path: Path, text: str, start: str
) -> None:
    for name, content in (("outer", text), ("inner", "#!/bin/true -i\n")):
        (tmp_path / name).write_text(content)
        (tmp_path / name).chmod(0o755)
    program = (
        "import os\ntry:\n "
        + start.replace("\n", "\n ")
        + ("\nexcept OSError: os._exit(7)")
    )
    with gated(sys.executable, "-c", program, cwd=str(tmp_path)) as one:
        assert release(one, ExecTracer(one.pid), None) == []

        assert one.status() in (0, 7)


@pytest.mark.parametrize("depth", [4, 5, 6])
def test_as_many_interpreters_are_followed_as_the_kernel_follows(
    tmp_path: Path, depth: int
) -> None:
    inner = "/bin/true"
    for number in range(depth):
        script = tmp_path / f"s{number}"
        script.write_text(f"#!{inner}\n")
        script.chmod(0o755)
        inner = str(script)
    program = f"import os\ntry: os.execv({inner!r}, ['x'])\n"
    program += "except OSError as error: os._exit(error.errno)"
    with gated(sys.executable, "-c", program) as one:
        notice = one.next()
        wanted = read_wanted(notice)
        one.gate.let(notice.id)

        has_run = one.status() == 0
    assert (wanted.mark == TRUE) == has_run == (depth <= 5)
    assert len(wanted.further) == min(depth, 5)
