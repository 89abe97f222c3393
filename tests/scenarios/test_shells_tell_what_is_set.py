import contextlib
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.scenarios.lone_shell import KEY, NONCE, LoneShell, demand

from holdfast.core.shell.shell_state import Item, ItemKind, changes
from holdfast.core.shell.state_messages import UNKNOWN

SHELLS = ("bash", "zsh", "fish")
VALUE = "correct-horse-battery"

SET = {
    "bash": "{0}={1}",
    "zsh": "{0}={1}",
    "fish": "set -gx {0} {1}",
}
FUNCTION = {
    "bash": "deploy() {{ {0}; }}",
    "zsh": "deploy() {{ {0} }}",
    "fish": "function deploy; {0}; end",
}
ALIAS = {
    "bash": "alias ll='ls -l'",
    "zsh": "alias ll='ls -l'",
    "fish": "abbr --add ll ls -l",
}
PREPEND = {
    "bash": "PATH=/evil:$PATH",
    "zsh": "PATH=/evil:$PATH",
    "fish": "set PATH /evil $PATH",
}


@pytest.fixture(params=SHELLS)
def program(request: pytest.FixtureRequest) -> str:
    return demand(str(request.param))


@pytest.fixture
def shell(program: str, tmp_path: Path) -> Iterator[LoneShell]:
    (tmp_path / ".zshrc").touch()
    made = LoneShell(program, tmp_path)
    made.known()
    yield made
    made.end()


def changed(shell: LoneShell, *lines: str) -> dict[Item, str]:
    shell.ask(everything=True)
    shell.enter("true")
    old = shell.known()
    for line in lines:
        shell.enter(line)
    found = shell.state()
    assert found is not UNKNOWN
    assert found is not None
    return {one.item: one.how.value for one in changes(old, found)}


def test_what_a_line_sets_is_told(shell: LoneShell, program: str) -> None:
    assert changed(shell, SET[program].format("EDITOR", "vi")) == {
        Item(ItemKind.VARIABLE, "EDITOR"): "added"
    }
    assert changed(shell, FUNCTION[program].format("echo 1")) == {
        Item(ItemKind.FUNCTION, "deploy"): "added"
    }
    assert changed(shell, FUNCTION[program].format("echo 2")) == {
        Item(ItemKind.FUNCTION, "deploy"): "changed"
    }
    assert changed(shell, ALIAS[program]) == {Item(ItemKind.ALIAS, "ll"): "added"}


def test_a_folder_in_front_of_path_is_told(shell: LoneShell, program: str) -> None:
    found = changed(shell, PREPEND[program])

    assert found[Item(ItemKind.PATH_ENTRY, "/evil")] == "added"
    shell.ask(everything=True)
    shell.enter("true")
    state = shell.known()
    assert state.path is not None
    assert state.path[0] == "/evil"


@pytest.mark.parametrize("option", ["-e", "-u", "-x", "-f", "-a"])
@pytest.mark.parametrize("program", ["bash", "zsh"], indirect=True)
def test_options_are_told_and_none_of_them_is_ours(
    shell: LoneShell, option: str
) -> None:
    found = changed(shell, f"set {option}")

    assert len(found) == 1
    assert next(iter(found)).kind is ItemKind.OPTION
    assert KEY not in shell.shown
    assert NONCE not in shell.shown


def test_traps_of_bash_are_told(tmp_path: Path) -> None:
    shell = LoneShell(demand("bash"), tmp_path)
    shell.known()

    assert changed(shell, "trap 'echo bye' USR1; trap 'true' DEBUG") == {
        Item(ItemKind.TRAP, "SIGUSR1"): "added",
        Item(ItemKind.TRAP, "DEBUG"): "added",
    }
    shell.end()


def test_nothing_is_said_when_nothing_has_changed(shell: LoneShell) -> None:
    shell.enter("true")
    shell.state()
    before = len(shell.told)
    shell.enter("true")
    shell.enter("cd /")
    shell.enter("false")

    assert shell.state() is None
    assert len(shell.told) == before


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("DB_PASSWORD", VALUE),
        ("GITHUB_TOKEN", VALUE),
        ("aws_secret_access_key", VALUE),
        ("SESSION_COOKIE", VALUE),
        ("CREDENTIALS", VALUE),
        ("DATABASE_URL", f"postgres://me:{VALUE}@db/x"),
        ("PEM", f"'-----BEGIN RSA {VALUE}'"),
    ],
)
def test_what_looks_secret_never_leaves_the_shell(
    shell: LoneShell, program: str, name: str, value: str
) -> None:
    shell.enter(SET[program].format(name, value))

    assert Item(ItemKind.VARIABLE, name) in shell.known().items
    assert name.encode() in shell.told
    assert VALUE.encode() not in shell.told
    assert NONCE not in shell.told


GARBAGE = {
    "bash": r"x=$'\001\377\t\n;\\'; export y=$'a\nb'; readonly z=1; a=(1 '' $'\e')",
    "zsh": r"x=$'\001\377\0\t\n;\\'; export y=$'a\nb'; readonly z=1; a=(1 '' $'\e')",
    "fish": r"set x \x01\t\n\\; set -gx y a\nb; set z 1; set a 1 '' \e",
}


def test_garbage_arrays_and_read_only_variables_are_told(
    shell: LoneShell, program: str
) -> None:
    found = changed(shell, GARBAGE[program])

    assert {one.name for one in found} == {"x", "y", "z", "a"}


def test_a_shell_without_a_home_tells_all_the_same(
    shell: LoneShell, program: str
) -> None:
    found = changed(shell, "set --erase HOME" if program == "fish" else "unset HOME")

    assert found[Item(ItemKind.VARIABLE, "HOME")] == "removed"


@pytest.mark.parametrize("name", ["IFS", "LC_ALL", "PROMPT_COMMAND", "PS0"])
@pytest.mark.parametrize("program", ["bash", "zsh"], indirect=True)
def test_what_is_read_only_hinders_no_mark_and_is_not_complained_of(
    shell: LoneShell, name: str
) -> None:
    shell.enter(f"readonly {name}")
    shown = len(shell.shown)

    end = shell.enter("(exit 7)")
    assert end is not None
    assert end.status == 7
    assert b"read-only" not in shell.shown[shown:]
    assert b"readonly" not in shell.shown[shown:]


MANY = {
    "bash": "for i in {1..10000}; do alias al$i='ls -l'; eval \"fu$i() { :; }\"; done",
    "zsh": "for i in {1..10000}; do alias al$i='ls -l'; eval \"fu$i() { :; }\"; done",
}


@pytest.mark.parametrize("program", sorted(MANY), indirect=True)
def test_ten_thousand_aliases_and_functions_are_told_as_far_as_they_fit(
    shell: LoneShell, program: str
) -> None:
    shell.enter(MANY[program])

    state = shell.known()
    assert not state.is_whole
    assert Item(ItemKind.FUNCTION, "fu9999") in state.items


BIG = {
    "bash": 'for i in {1..900}; do eval "fu$i() { : $(printf %0200d 0); }"; done',
    "zsh": 'for i in {1..900}; do eval "fu$i() { : $(printf %0200d 0) }"; done',
    "fish": "for i in (seq 230); set -g va$i (printf %0200d 0); end",
}


def test_the_prompt_comes_when_nobody_reads_the_pipe(
    program: str, tmp_path: Path
) -> None:
    (tmp_path / ".zshrc").touch()
    shell = LoneShell(program, tmp_path, reads=False)

    shell.enter(BIG[program])
    shell.enter("true")
    assert shell.state() is UNKNOWN
    shell.end()


def test_the_prompt_comes_when_the_reader_has_stopped(
    shell: LoneShell, program: str
) -> None:
    shell.stop_reading()
    shell.enter(BIG[program])
    shell.enter("true")

    assert shell.state() is UNKNOWN


def test_what_was_not_taken_is_told_once_somebody_reads_again(
    shell: LoneShell, program: str
) -> None:
    kept = shell.fd
    shell.stop_reading()
    shell.enter(BIG[program])
    shell.fd = kept

    shell.enter("true")
    shell.enter("true")
    names = {item.name for item in shell.known().items}
    assert names & {"fu900", "va230"}


def test_without_a_pipe_prompts_come_and_no_file_is_made(shell: LoneShell) -> None:
    shell.pipe.unlink()
    shell.enter("true")

    assert shell.prompts[-1].number == 0
    assert not shell.pipe.exists()


def test_forged_messages_change_nothing(shell: LoneShell, program: str) -> None:
    shell.enter("true")
    shell.state()
    forged = f"holdfast-state 1 {'c' * 32} 9\\0oevil\\0end {'c' * 32} 1\\0"
    shell.enter(f"printf '{forged}' > {shell.pipe}")
    shell.enter(SET[program].format("EDITOR", "vi"))

    names = {item.name for item in shell.known().items}
    assert "EDITOR" in names
    assert "evil" not in names


def test_what_the_user_knows_of_the_last_job_is_left_alone(
    shell: LoneShell, program: str
) -> None:
    last = "$last_pid" if program == "fish" else "$!"
    shell.enter("sleep 100 &")
    shell.enter(SET[program].format("EDITOR", "vi"))
    shell.enter("true")

    end = shell.enter(f"kill {last}")
    assert end is not None
    assert end.status == 0


def test_no_child_inherits_the_pipe_or_a_secret(shell: LoneShell) -> None:
    shell.enter("ls -l /proc/self/fd; cat /proc/self/environ; env")

    assert str(shell.pipe).encode() not in shell.shown
    assert KEY not in shell.shown
    assert NONCE not in shell.shown
    assert str(shell.pipe) not in files_of(shell.pid)


def files_of(pid: int) -> set[str]:
    """Return what a process has open; what it closes meanwhile is not among it."""
    found = set()
    for one in Path(f"/proc/{pid}/fd").iterdir():
        with contextlib.suppress(FileNotFoundError):
            found.add(str(one.readlink()))
    return found
