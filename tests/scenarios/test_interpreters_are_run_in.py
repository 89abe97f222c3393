"""`run` in a resident interpreter: its prompt is the boundary, and that is said."""

import asyncio
import json
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.scenarios.shells import shell
from tests.scenarios.support import Machine, eventually, machine

import holdfast
from holdfast.client import calls, keeper
from holdfast.model.ids import SessionId
from holdfast.sdk.values import Stop

LINES = {
    "python3": ("print(6 * 7); print('done')", "42\ndone\n"),
    "node": ("[6 * 7].concat('done').join('\\n')", "'42\\ndone'\n"),
    "sqlite3": ("select 6 * 7; select 'done';", "42\ndone\n"),
}


@pytest.fixture
def here() -> Iterator[Machine]:
    with machine() as made:
        yield made


def verb(*words: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [sys.executable, "-m", "holdfast", *words],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )


def wait_input(session: SessionId) -> None:
    waits = ("waiting-for-input", "idle")
    eventually("it waits", lambda: calls.state(session).state in waits)


@pytest.mark.parametrize("program", LINES)
def test_a_line_gives_what_it_printed_and_says_how_that_is_known(
    here: Machine, program: str
) -> None:
    if shutil.which(program) is None:
        pytest.skip(f"{program} is not installed")
    session = here.new(program)
    wait_input(session)
    line, output = LINES[program]

    told = verb("run", session, "--json", line)
    shown = verb("run", session, line)

    facts = json.loads(told.stdout)
    assert (facts["output"], facts["exit"]) == (output, None)
    assert facts["boundaries"] == "prompt"
    assert (shown.returncode, shown.stdout) == (0, output)
    assert "the next prompt marks the end" in shown.stderr


def test_an_interpreter_inside_a_shell_is_run_in(here: Machine, tmp_path: Path) -> None:
    session = shell(here, tmp_path)
    assert json.loads(verb("run", session, "--json", "true").stdout)["exit"] == 0
    verb("send", session, "--enter", sys.executable)
    wait_input(session)

    assert verb("run", session, "6 * 7").stdout == "42\n"


@pytest.mark.parametrize("how", ["exit()", "C-d"])
def test_after_an_interpreter_the_shell_is_run_in_again(
    here: Machine, tmp_path: Path, how: str
) -> None:
    session = shell(here, tmp_path)
    verb("send", session, "--enter", sys.executable)
    wait_input(session)
    assert verb("run", session, "6 * 7").stdout == "42\n"
    if how == "C-d":
        verb("keys", session, how)
    else:
        verb("send", session, "--enter", how)
    eventually("a prompt", lambda: calls.state(session).state == "at-prompt")

    done = verb("run", session, "echo back")

    assert (done.returncode, done.stdout) == (0, "back\n"), done.stderr


@pytest.mark.parametrize("name", ["bash", "zsh", "fish"])
def test_a_line_that_leaves_the_interpreter_is_over_at_the_shell_s_prompt(
    here: Machine, tmp_path: Path, name: str
) -> None:
    if shutil.which(name) is None:
        pytest.skip(f"{name} is not installed")
    session = shell(here, tmp_path, name)
    verb("send", session, "--enter", sys.executable)
    wait_input(session)

    told = verb("run", session, "--json", "print('bye'); exit(3)")

    facts = json.loads(told.stdout)
    assert (facts["stopped"], facts["exit"]) == ("left", None)
    assert (facts["boundaries"], facts["state"]) == ("prompt", "at-prompt")
    assert facts["output"].startswith("bye\n")
    done = verb("run", session, "echo back")
    assert (done.returncode, done.stdout) == (0, "back\n"), done.stderr


def test_a_shell_without_marks_comes_back_as_well(here: Machine) -> None:
    session = here.new("sh", "-i")
    eventually("a prompt", lambda: calls.state(session).state == "at-prompt")
    verb("send", session, "--enter", "python3")
    eventually("python", lambda: ">>> " in verb("read", session).stdout)
    wait_input(session)

    done = verb("run", session, "exit()")

    assert (done.returncode, done.stdout) == (0, "")
    assert "another program has the terminal now" in done.stderr


def test_a_silent_line_is_waited_for_to_its_end(here: Machine) -> None:
    session = here.new("python3")
    wait_input(session)

    done = verb("run", session, "import time; time.sleep(4.5); print('late')")

    assert done.stdout == "late\n"


@pytest.mark.parametrize("name", ["bash", "zsh", "fish"])
def test_what_an_interpreter_left_unread_is_never_run_with_a_command(
    here: Machine, tmp_path: Path, name: str
) -> None:
    if shutil.which(name) is None:
        pytest.skip(f"{name} is not installed")
    session = shell(here, tmp_path, name)
    program = "import sys, time, tty; tty.setraw(0); print('raw', flush=True);"
    program += " sys.stdin.buffer.raw.read(1); time.sleep(0.3)"
    verb("send", session, "--enter", f'{sys.executable} -c "{program}"; stty sane')
    eventually("it is raw", lambda: "\nraw" in verb("read", session).stdout)
    verb("send", session, "xtouch stolen #")
    eventually("a prompt", lambda: calls.state(session).state == "at-prompt")

    done = verb("run", session, "echo back")

    assert done.returncode == 75
    assert "touch stolen #" in verb("screen", session).stdout
    assert not (tmp_path / "stolen").exists()
    verb("keys", session, "C-c")
    assert verb("run", session, "echo back").stdout == "back\n"


def test_what_comes_late_is_waited_for_and_a_half_line_is_noticed(
    here: Machine,
) -> None:
    session = here.new("python3")
    wait_input(session)

    late = verb("run", session, "import time; time.sleep(0.7); print('late')")
    half = verb("run", session, "for i in range(3):")

    assert late.stdout == "late\n"
    assert half.returncode == 75
    assert "not a complete command" in half.stderr


def test_no_other_program_is_typed_into(here: Machine) -> None:
    session = here.new("sh", "-c", "printf '>>> '; exec cat")
    wait_input(session)

    done = verb("run", session, "print(1)")

    assert done.returncode == 64
    assert "print(1)" not in verb("read", session).stdout
    (known,) = keeper.sessions()
    assert known.id == session


def test_the_sdk_runs_in_one_too(here: Machine) -> None:
    session = here.new("python3")
    wait_input(session)

    async def story() -> holdfast.CommandResult:
        async with holdfast.connect() as host, host.attach(session) as attached:
            return await attached.run("6 * 7")

    result = asyncio.run(story())

    assert (result.output, result.status) == ("42\n", None)
    assert result.stopped is Stop.PROMPTED
