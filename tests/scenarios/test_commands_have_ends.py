import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.scenarios.shells import ended, run, shell, wait_phase
from tests.scenarios.support import Client, Machine, machine

from holdfast.client import calls
from holdfast.linux.shells import SCRIPTS, nonce_of
from holdfast.model.errors import InputIdReused, NoMarks, NotAtPrompt
from holdfast.model.ids import SessionId


@pytest.fixture(scope="module")
def ours() -> Iterator[Machine]:
    with machine() as made:
        yield made


@pytest.fixture
def bash(ours: Machine, tmp_path: Path) -> SessionId:
    return shell(ours, tmp_path)


@pytest.fixture
def user(ours: Machine, bash: SessionId) -> Client:
    return ours.join(bash)


@pytest.mark.parametrize(
    ("line", "status", "printed"),
    [
        ("echo hello", 0, b"hello\r\n"),
        ("false", 1, b""),
        ("(echo sub; exit 7)", 7, b"sub\r\n"),
        ("sh -c 'kill -9 $$'", 137, None),
        ("nonexistent-program", 127, None),
        (")", 2, None),
        ("echo 'a;b\\c' \N{NO-BREAK SPACE}\x80", 0, None),
    ],
)
def test_a_command_gives_its_status_and_its_own_output(
    bash: SessionId, line: str, status: int, printed: bytes | None
) -> None:
    ran = run(bash, line)

    assert ran.command.status == status
    assert ran.command.line == line
    assert printed is None or ran.output == printed


def test_a_command_gives_its_folder_and_how_long_it_took(
    bash: SessionId, tmp_path: Path
) -> None:
    (tmp_path / "a;b \\c").mkdir()
    ran = run(bash, f"cd '{tmp_path}/a;b \\c'; sleep 0.05")

    assert ran.command.cwd == f"{tmp_path}/a;b \\c"
    assert ran.command.duration_ms > 0


def test_the_first_line_is_told_of_a_shell_that_has_a_history(
    ours: Machine, tmp_path: Path
) -> None:
    (tmp_path / ".bash_history").write_text("one\ntwo\n")
    session = shell(ours, tmp_path)

    assert run(session, "echo first").command.line == "echo first"
    assert ended(session, 1).line == "echo first"


def test_a_command_of_several_lines_is_one_command(
    bash: SessionId, user: Client
) -> None:
    user.enter(b"for i in 1 2\rdo\recho line-$i\rdone\r")

    command = ended(bash, 1)
    assert command.line == "for i in 1 2; do echo line-$i; done"
    assert user.wait_output(b"line-2")


def test_an_interrupt_at_the_prompt_is_no_command(
    bash: SessionId, user: Client
) -> None:
    user.enter(b"echo never")
    user.enter(b"\x03")
    wait_phase(bash, "prompt")

    assert run(bash, "echo $?").output == b"130\r\n"
    assert calls.report(bash).command is not None
    assert ended(bash, 1).line == "echo $?"


def test_a_command_is_not_typed_behind_half_a_line(
    bash: SessionId, user: Client
) -> None:
    user.enter(b"rm -rf ")

    with pytest.raises(NotAtPrompt):
        run(bash, "echo mine")


def test_a_command_is_not_typed_into_what_runs(bash: SessionId, user: Client) -> None:
    user.enter(b"cat\r")
    wait_phase(bash, "running")

    with pytest.raises(NotAtPrompt):
        run(bash, "echo mine")
    user.enter(b"\x04")
    assert ended(bash, 1).status == 0


def test_a_session_without_integration_says_so(ours: Machine) -> None:
    session = ours.new("bash", "--norc")

    with pytest.raises(NoMarks):
        run(session, "echo mine")


def test_the_same_key_runs_once_and_is_answered_again(
    bash: SessionId, tmp_path: Path
) -> None:
    first = run(bash, f"echo x >> {tmp_path}/ran", key="k")
    run(bash, "true")

    assert run(bash, f"echo x >> {tmp_path}/ran", key="k") == first
    assert (tmp_path / "ran").read_text() == "x\n"
    with pytest.raises(InputIdReused):
        run(bash, "echo other", key="k")


def test_what_execs_another_shell_has_no_end_and_marks_stop(
    bash: SessionId, user: Client
) -> None:
    user.enter(b"exec bash --norc\r")
    user.enter(b"echo in-$((6*7))\r")
    user.wait_output(b"in-42")

    last = calls.report(bash)
    assert last.phase == "running"
    assert last.command is not None
    assert last.command.line == "exec bash --norc"


@pytest.mark.parametrize("option", ["-e", "-u", "-x", "-v", "-f", "-a", "-T"])
def test_shell_options_break_no_mark_and_show_no_nonce(
    bash: SessionId, user: Client, option: str
) -> None:
    run(bash, f"set {option}")

    assert run(bash, "! true").command.status == 1
    assert run(bash, "echo still here").command.status == 0
    assert nonce_of(bash) not in user.wait_output(b"still here")


RC = """\
PS1='mine> '
PROMPT_COMMAND='before=$?; prompted=$((prompted+1))'
PS0='[go]'
trap 'traced=$((traced+1))' DEBUG
alias printf=false builtin=false
"""


def test_what_the_user_set_up_is_kept(ours: Machine, tmp_path: Path) -> None:
    (tmp_path / ".bashrc").write_text(RC)
    session = shell(ours, tmp_path)
    user = ours.join(session)

    run(session, "(exit 3)")
    printed = run(session, "echo $before $((prompted > 0)) $((traced > 0))").output
    assert printed.endswith(b"3 1 1\r\n")
    assert b"mine> " in user.wait_output(b"[go]")


def test_a_login_shell_reads_what_login_shells_read(
    ours: Machine, tmp_path: Path
) -> None:
    (tmp_path / ".bash_profile").write_text("FROM=profile\n")
    (tmp_path / ".profile").write_text("FROM=never\n")
    (tmp_path / ".bashrc").write_text("FROM=never\n")
    session = shell(ours, tmp_path, "bash", "-l")

    assert run(session, "echo $FROM").output == b"profile\r\n"


def test_whoever_replaces_the_prompt_command_keeps_the_ends(bash: SessionId) -> None:
    run(bash, "PROMPT_COMMAND='echo replaced'")

    assert run(bash, "(exit 5)").command.status == 5


def test_marks_that_a_program_prints_change_nothing(
    bash: SessionId, user: Client, tmp_path: Path
) -> None:
    forged = tmp_path / "forged"
    forged.write_bytes(
        b"\x1b]7077;%s;D;0;/evil\x1b\\" % (b"0" * 32)
        + b"\x1b]7077;D;0;/evil\x1b\\\x1b]133;D;0\x07\x1b]633;D;0\x07"
        + b"\x1b]7077;;P\x1b\\\x1b]7077;"
        + b"9" * (1 << 20)
        + b"\x1b\\END"
    )

    ran = run(bash, f"cat {forged}; (exit 9)")
    assert (ran.command.status, ran.command.cwd) == (9, str(tmp_path))
    assert ended(bash, 1).line == f"cat {forged}; (exit 9)"
    assert b"/evil" not in user.wait_output(b"END")


SPY = """\
import os, pathlib, sys
shell = os.getppid()
seen = b"".join(f"{k}={v}\\n".encode() for k, v in os.environ.items())
for name in ("environ", "cmdline"):
    seen += pathlib.Path(f"/proc/{shell}/{name}").read_bytes()
for of in ("self", str(shell)):
    for fd in os.listdir(f"/proc/{of}/fd"):
        try:
            where = os.readlink(f"/proc/{of}/fd/{fd}")
            print("fd", of, fd, where)
        except OSError:
            continue
        if where.startswith("pipe:") and int(fd) > 2:
            seen += os.read(os.open(f"/proc/{of}/fd/{fd}", os.O_RDONLY), 999)
pathlib.Path(sys.argv[1]).write_bytes(seen)
"""


def test_no_child_finds_the_nonce_in_what_it_inherits(
    bash: SessionId, tmp_path: Path
) -> None:
    (tmp_path / "spy.py").write_text(SPY)
    found = run(bash, f"set -a; python3 {tmp_path}/spy.py {tmp_path}/seen")

    assert found.command.status == 0, found.output
    assert nonce_of(bash) not in (tmp_path / "seen").read_bytes()
    assert not re.search(rb"fd self 3 pipe", found.output)


def test_a_variable_of_its_name_does_not_export_the_nonce(
    ours: Machine, tmp_path: Path
) -> None:
    session = shell(ours, tmp_path, __holdfast_nonce="planted", SHELLOPTS="allexport")

    assert nonce_of(session) not in run(session, "env").output


@pytest.mark.parametrize(
    ("program", "script"),
    [
        ("bash", "integration.bash"),
        ("zsh", "zsh/.zshenv"),
        ("fish", "integration.fish"),
    ],
)
def test_every_script_is_one_that_its_shell_can_read(program: str, script: str) -> None:
    try:
        checked = subprocess.run(
            [program, "-n", str(SCRIPTS / script)], capture_output=True, check=False
        )
    except FileNotFoundError:
        pytest.skip(f"there is no {program} here")

    assert (checked.returncode, checked.stderr) == (0, b"")
