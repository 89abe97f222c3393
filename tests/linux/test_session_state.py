import gc
import os
import shutil
import time
from pathlib import Path

import pytest
from tests.linux.terminals import PYTHON, stage

from holdfast.core.session.session_state import Wait, Word
from holdfast.linux.session_state import look

ASYNC = """
import asyncio

async def main():
    asyncio.get_running_loop().add_reader(0, print)
    await asyncio.sleep(99)

asyncio.run(main())
"""

THREADED = """
import threading, sys, time
threading.Thread(target=sys.stdin.readline).start()
time.sleep(99)
"""

SHELL = ("bash", "--norc", "-i")

PROGRAMS = [
    (SHELL, Word.AT_PROMPT),
    (("bash", "--norc", "--noediting", "-i"), Word.AT_PROMPT),
    (("dash", "-i"), Word.AT_PROMPT),
    (("bash", "--norc", "-c", "bash --norc -i; :"), Word.AT_PROMPT),
    (("bash", "-c", "read x"), Word.WAITING_FOR_INPUT),
    (("bash", "-c", "read -e x"), Word.WAITING_FOR_INPUT),
    (("bash", "-c", "read -t 99 x"), Word.WAITING_FOR_INPUT),
    (("dash", "-c", "read x"), Word.WAITING_FOR_INPUT),
    (("bash", "-c", "read -s x"), Word.WAITING_FOR_SECRET),
    ((PYTHON, "-c", "input()"), Word.WAITING_FOR_INPUT),
    ((PYTHON, "-c", "import getpass; getpass.getpass()"), Word.WAITING_FOR_SECRET),
    ((PYTHON, "-c", "open('/dev/tty').readline()"), Word.WAITING_FOR_INPUT),
    ((PYTHON, "-c", ASYNC), Word.WAITING_FOR_INPUT),
    ((PYTHON, "-c", THREADED), Word.WAITING_FOR_INPUT),
    (
        (
            PYTHON,
            "-c",
            "import select; p = select.poll(); p.register(0, 1); p.poll()",
        ),
        Word.WAITING_FOR_INPUT,
    ),
    (("cat",), Word.WAITING_FOR_INPUT),
    (("bash", "-c", "cat | cat"), Word.WAITING_FOR_INPUT),
    (("vim", "-u", "NONE"), Word.WAITING_FOR_INPUT),
    (("less", "/etc/passwd"), Word.WAITING_FOR_INPUT),
    (("su", "-c", "cat"), Word.WAITING_FOR_INPUT),
]

BUSY = [
    ("sleep", "99"),
    ("bash", "-c", "sleep 99; :"),
    ("bash", "-c", "sleep 99 | cat"),
    ("bash", "-c", "while :; do :; done"),
    (PYTHON, "-c", "print('password:', flush=True)\nwhile True: pass"),
    (PYTHON, "-c", "import time\nprint('[Y/n] password:')\ntime.sleep(99)"),
    ("bash", "-c", "stty -echo; sleep 99"),
    (PYTHON, "-c", "import select; select.select([], [], [], 99)"),
    (
        PYTHON,
        "-c",
        "import socket; s = socket.socket(); s.bind(('', 0)); s.listen(); s.accept()",
    ),
]


@pytest.mark.parametrize(("command", "word"), PROGRAMS, ids=str)
def test_a12_what_waits_is_known_by_the_kernel(
    command: tuple[str, ...], word: Word
) -> None:
    if shutil.which(command[0]) is None:
        pytest.skip(f"there is no {command[0]}")

    with stage(*command) as program:
        said = program.becomes(word)

        assert said.why


@pytest.mark.parametrize("command", BUSY, ids=str)
def test_a12_what_works_or_sleeps_waits_for_nobody(command: tuple[str, ...]) -> None:
    with stage(*command) as program:
        settled = {program.seen().word for _ in range(50)}

        assert settled <= {Word.RUNNING}
        assert program.becomes(Word.RUNNING).is_sure


def test_a_prompt_comes_back_after_a_command() -> None:
    with stage(*SHELL) as shell:
        shell.becomes(Word.AT_PROMPT)
        shell.type(b"sleep 99\r")
        while "sleep (" not in shell.becomes(Word.RUNNING).why[0]:
            pass  # The shell is still on its way there, and would take the key itself.
        shell.type(b"\x03")

        assert shell.becomes(Word.AT_PROMPT).is_sure


def test_a_job_in_the_background_does_not_hide_the_prompt() -> None:
    with stage(*SHELL) as shell:
        shell.becomes(Word.AT_PROMPT)
        shell.type(b"sleep 99 & cat /dev/zero > /dev/null & echo sta''rted\r")
        shell.says(b"started")

        assert shell.becomes(Word.AT_PROMPT).is_sure


def test_a_read_at_the_prompt_is_no_prompt() -> None:
    with stage(*SHELL) as shell:
        shell.becomes(Word.AT_PROMPT)
        shell.type(b"read x\r")

        shell.becomes(Word.WAITING_FOR_INPUT)


def test_another_terminal_is_not_this_one() -> None:
    other, end = os.openpty()
    program = f"import os; os.read(os.open({os.ttyname(end)!r}, os.O_RDWR), 1)"

    with stage(PYTHON, "-c", program) as reader:
        reader.becomes(Word.RUNNING)
        give_up_at = time.monotonic() + 10
        while "reads /dev/pts" not in (said := reader.seen()).why[0]:
            assert time.monotonic() < give_up_at, said
            assert said.word is Word.RUNNING

    os.close(other)
    os.close(end)


def test_nothing_is_left_open_by_looking() -> None:
    with stage("cat") as program:
        program.becomes(Word.WAITING_FOR_INPUT)
        gc.collect()  # Others may have left some that are closed now and then.
        before = len([*Path("/proc/self/fd").iterdir()])

        for _ in range(50):
            program.seen()

        assert len([*Path("/proc/self/fd").iterdir()]) <= before


def test_a_leader_that_is_gone_is_no_error() -> None:
    with stage("true") as program:
        os.waitid(os.P_PID, program.pid, os.WEXITED | os.WNOWAIT)

        assert program.seen().word is Word.RUNNING
        assert look(program.master, program.pid).sleepers == ()


def test_a_process_that_stops_itself_is_running_and_waits_elsewhere() -> None:
    with stage("bash", "-c", "kill -STOP $$") as program:
        give_up_at = time.monotonic() + 10
        while True:
            found = look(program.master, program.pid).sleepers
            if [one.state for one in found] == ["stopped"]:
                break
            assert time.monotonic() < give_up_at, found

        assert found[0].wait is Wait.ELSEWHERE
