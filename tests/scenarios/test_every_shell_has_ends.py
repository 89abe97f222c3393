from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.scenarios.lone_shell import NONCE, LoneShell, demand

SHELLS = ("bash", "zsh", "fish")
SUBSHELL = {"bash": "(exit {0})", "zsh": "(exit {0})", "fish": "sh -c 'exit {0}'"}
LOOP = {
    "bash": "for i in 1 2\rdo\recho line-$i\rdone",
    "zsh": "for i in 1 2\rdo\recho line-$i\rdone",
    "fish": "for i in 1 2\recho line-$i\rend",
}
UNHOOK = {
    "bash": "unset PROMPT_COMMAND PS0; unset -f __holdfast_ended __holdfast_prompted",
    "zsh": "precmd_functions=() preexec_functions=()",
    "fish": "functions --erase __holdfast_prompted __holdfast_ended __holdfast_started",
}
REPLACE = {
    "bash": "PROMPT_COMMAND='true'",
    "zsh": "precmd() { true }; preexec() { true }",
    "fish": "function fish_prompt; printf '> '; end",
}


@pytest.fixture(params=SHELLS)
def program(request: pytest.FixtureRequest) -> str:
    return demand(str(request.param))


@pytest.fixture
def shell(program: str, tmp_path: Path) -> Iterator[LoneShell]:
    (tmp_path / ".zshrc").touch()
    made = LoneShell(program, tmp_path)
    yield made
    made.end()


def status(shell: LoneShell, line: str) -> int:
    end = shell.enter(line)
    assert end is not None
    return end.status


def test_every_command_has_its_line_its_status_and_its_folder(
    shell: LoneShell, program: str, tmp_path: Path
) -> None:
    (tmp_path / "a;b \\c\N{LATIN SMALL LETTER E WITH ACUTE}").mkdir()

    assert status(shell, SUBSHELL[program].format(7)) == 7
    assert status(shell, "nonexistent-program") == 127
    assert status(shell, "sh -c 'kill -9 $$'") == 137
    end = shell.enter(f"cd '{tmp_path}'/a*")
    assert end is not None
    assert end.cwd == str(tmp_path / "a;b \\c\N{LATIN SMALL LETTER E WITH ACUTE}")
    assert shell.lines == [
        SUBSHELL[program].format(7),
        "nonexistent-program",
        "sh -c 'kill -9 $$'",
        f"cd '{tmp_path}'/a*",
    ]


def test_a_command_of_several_lines_begins_once(shell: LoneShell, program: str) -> None:
    assert status(shell, LOOP[program]) == 0

    assert len(shell.lines) == 1
    assert b"line-2" in shell.shown


def test_an_interrupt_at_the_prompt_is_no_command(shell: LoneShell) -> None:
    shell.type("echo never")
    shell.wait_shown(b"never")
    shell.interrupt()

    assert status(shell, "echo after") == 0
    assert shell.lines == ["echo after"]


def test_an_empty_line_is_no_command(shell: LoneShell) -> None:
    shell.enter("")

    assert status(shell, "echo after") == 0
    assert shell.lines == ["echo after"]


def test_a_job_in_the_background_does_not_hold_the_prompt(shell: LoneShell) -> None:
    assert status(shell, "sleep 100 &") == 0

    assert status(shell, "true") == 0


@pytest.mark.parametrize("inner", SHELLS)
def test_a_shell_inside_is_one_command(shell: LoneShell, inner: str) -> None:
    demand(inner)
    shell.type(f"{inner}\r")
    shell.wait_lines(1)
    before = len(shell.marks)
    shell.type("echo in-$(expr 6 '*' 7)\rexit 3\r")
    shell.wait_prompts(2)

    assert shell.lines == [inner]
    assert len(shell.marks) == before + 2
    assert NONCE not in shell.shown


def test_what_execs_another_shell_begins_and_does_not_end(shell: LoneShell) -> None:
    shell.type("exec bash --norc\r")
    shell.wait_lines(1)
    shell.type("echo in-$((6*7))\r")
    shell.wait_shown(b"in-42")

    assert shell.lines == ["exec bash --norc"]
    assert len(shell.prompts) == 1


def test_whoever_unsets_the_hooks_has_no_marks_and_a_prompt(
    shell: LoneShell, program: str
) -> None:
    shell.type(UNHOOK[program] + "\r")
    shell.type("echo still-$(expr 6 '*' 7)\r")

    shell.wait_shown(b"still-42")
    assert b"not found" not in shell.shown
    assert b"Unknown command" not in shell.shown


def test_whoever_has_a_prompt_of_their_own_keeps_the_ends(
    shell: LoneShell, program: str
) -> None:
    shell.enter(REPLACE[program])

    assert status(shell, SUBSHELL[program].format(5)) == 5
    assert status(shell, "true") == 0


@pytest.mark.parametrize("option", ["-e", "-u", "-x", "-v"])
@pytest.mark.parametrize("program", ["bash", "zsh"], indirect=True)
def test_options_break_no_mark_and_show_no_nonce(shell: LoneShell, option: str) -> None:
    shell.enter(f"set {option}")

    assert status(shell, "! true") == 1
    assert status(shell, "echo still") == 0
    assert NONCE not in shell.shown


def test_a_line_that_fish_does_not_take_has_an_end(tmp_path: Path) -> None:
    shell = LoneShell(demand("fish"), tmp_path)
    shell.type("(exit 3)\r")

    shell.wait_ends(1)
    assert len(shell.prompts) == 1
    shell.end()
