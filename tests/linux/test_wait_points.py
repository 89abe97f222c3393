import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from tests.linux.terminals import PYTHON, stage

from holdfast.core.session.session_state import Word

NOBODY = 65534

CONNECTED = """
import select, socket
s = socket.socket()
s.bind(("127.0.0.1", 0))
s.listen()
c = socket.create_connection(s.getsockname())
"""

WATCHED = """
import sys
sys.path[:0] = {path!r}
from tests.linux.terminals import stage
from holdfast.core.session.session_state import Word
import os
os.setgroups([])
os.setgid({nobody})
os.setuid({nobody})
with stage("su", "root") as program:
    said = program.becomes(Word.WAITING_FOR_SECRET)
    print(said.is_sure, said.why)
"""


@pytest.mark.parametrize(
    ("command", "word"),
    [
        (("bash", "--norc", "-i"), Word.AT_PROMPT),
        (("bash", "-c", "read x"), Word.WAITING_FOR_INPUT),
        (("bash", "-c", "read -s x"), Word.WAITING_FOR_SECRET),
        ((PYTHON, "-c", "input()"), Word.WAITING_FOR_INPUT),
        (("vim", "-u", "NONE"), Word.WAITING_FOR_INPUT),
    ],
    ids=str,
)
def test_where_tracing_is_not_allowed_it_is_inferred_and_said_so(
    command: tuple[str, ...], word: Word
) -> None:
    if shutil.which(command[0]) is None:
        pytest.skip(f"there is no {command[0]}")

    with stage(*command) as program:
        assert not program.becomes(word, may_trace=False).is_sure


def test_an_epoll_is_seen_without_the_right_to_trace() -> None:
    watching = "import select; e = select.epoll(); e.register(0, 1); e.poll()"

    with stage(PYTHON, "-c", watching) as program:
        said = program.becomes(Word.WAITING_FOR_INPUT, may_trace=False)

        assert "polls the terminal" in said.why[0]


@pytest.mark.parametrize(
    ("command", "settled"),
    [
        (("sleep", "99"), "sleeps in"),
        (("bash", "-c", "sleep 99 | cat"), "reads a pipe"),
        ((PYTHON, "-c", "while True: pass"), "runs"),
        ((PYTHON, "-c", CONNECTED + "c.recv(1)"), "sleeps in wait_woken"),
        ((PYTHON, "-c", CONNECTED + "select.select([c], [], [])"), "polls 1 "),
    ],
    ids=str,
)
def test_nothing_is_inferred_where_something_else_may_wake_it(
    command: tuple[str, ...], settled: str
) -> None:
    with stage(*command) as program:
        while settled not in program.becomes(Word.RUNNING).why[0]:
            pass  # It has not begun to sleep yet.

        assert program.seen(may_trace=False).word is Word.RUNNING


@pytest.mark.skipif(os.getuid() != 0, reason="needs another user")
def test_a_setuid_program_of_another_user_asks_for_a_secret_by_its_terminal() -> None:
    root = Path(__file__).parents[2]
    program = WATCHED.format(path=[str(root), *sys.path], nobody=NOBODY)

    said = subprocess.check_output([PYTHON, "-c", program], text=True, timeout=60)

    assert said.startswith("False ('su (")
