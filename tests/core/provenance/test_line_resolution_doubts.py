import pytest
from tests.core.resolving_world import World, by_bot, furnished, state

from holdfast.core.provenance.line_resolution import (
    Shell,
    Unseen,
    changes_plainly,
    resolve,
)
from holdfast.core.provenance.originators import Origins
from holdfast.core.shell.command_line import read_line
from holdfast.core.shell.shell_state import ShellState
from holdfast.model.resolutions import Thing


@pytest.fixture
def world() -> World:
    return furnished()


@pytest.mark.parametrize(
    "line",
    [
        "sudo rm x",
        "sudo -Z rm",
        "eval x",
        "ls $((x))",
        "$X",
        "env $X",
        "nohup -- $X",
        "sh",
        "sh -x y",
        "sh ./gone",
        "sh -c '$(x)'",
        "sh -c 'ls; rm'",
        ".",
        "gone",
        "./gone",
        "PATH=/evil ls",
        "LD_PRELOAD=x ls",
        "env PATH=/evil ls",
    ],
)
def test_i2_what_words_do_not_tell_is_a_doubt(world: World, line: str) -> None:
    assert world.one(line).doubt


@pytest.mark.parametrize(
    "line", ["cd /; ./x", "export A; ls", "PATH=/evil; ls", "$X; ls"]
)
def test_i2_what_follows_something_that_may_change_the_shell_is_a_doubt(
    world: World, line: str
) -> None:
    assert world.resolve(line).commands[1].doubt


def test_i2_a_doubt_says_what_is_doubted(world: World) -> None:
    own = read_line(b"ls $((x))", ended=True)[0].doubt

    assert world.one("ls $((x))").doubt == own
    assert world.resolve("cd /; ls").commands[1].doubt not in ("", own)


@pytest.mark.parametrize(
    "line",
    ["deploy $((x))", "if ((x)); then deploy; fi", "cd /; deploy", "ls\ndeploy\nls"],
)
def test_what_was_staged_is_found_in_what_cannot_be_read(
    world: World, line: str
) -> None:
    world.now = state(aliases={"deploy": "rm x"}, functions=("date",))

    found = world.resolve(line)

    assert by_bot(Thing.ALIAS, "deploy") in found.staged
    assert found.commands[-1].doubt


def test_a_program_of_a_new_folder_is_found_in_what_cannot_be_read(
    world: World,
) -> None:
    world.now = state(path=("/evil", "/usr/bin"))
    world.file("/evil/ls")
    world.file("/evil/make", runs=False)

    found = world.one("make $((ls))")

    assert found.staged == (by_bot(Thing.PATH_ENTRY, "/evil"),)
    assert found.paths == ("/evil/ls",)
    assert world.one("echo $((date))").staged == ()


def test_i2_a_folder_that_may_not_be_looked_at_is_a_doubt(world: World) -> None:
    world.files["/bin/ls"] = Unseen()

    assert world.one("ls").doubt
    assert world.one("ls").paths == ("/usr/bin/ls",)
    assert world.one("/bin/ls").doubt


@pytest.mark.parametrize("now", [state(path=None), state(is_whole=False)])
def test_i2_a_shell_that_is_half_known_is_a_doubt(world: World, now: object) -> None:
    world.now = now  # type: ignore[assignment]

    assert world.one("ls").doubt


def test_without_a_state_everything_is_a_doubt() -> None:
    commands = read_line(b"ls; rm", ended=True)

    found = resolve(commands, Shell(None, Origins()), lambda _: None)

    assert [one.doubt != "" for one in found.commands] == [True, True]
    assert found.originators() == ()


def test_i2_an_alias_that_ends_a_command_leaves_the_next_one_open(world: World) -> None:
    world.now = state(aliases={"x": "ls;", "y": "ls &", "z": "ls"})

    assert world.one("x rm").doubt
    assert world.one("y rm").doubt
    assert not world.one("z rm").doubt


def test_i2_i3_a_word_of_the_grammar_may_be_an_alias(world: World) -> None:
    world.now = state(aliases={"do": "rm x; do"})

    (found,) = world.resolve("for f in a; do ls; done").commands

    assert found.doubt
    assert by_bot(Thing.ALIAS, "do") in found.staged
    assert not world.one("ls do").doubt


@pytest.mark.parametrize("line", ["cd x", "export X", "$X"])
def test_i2_what_changes_the_shell_in_a_loop_comes_before_all_of_it(
    world: World, line: str
) -> None:
    first, *_, last = world.resolve(f"for f in a; do ls; {line}; done; ls").commands

    assert first.doubt
    assert last.doubt
    assert not world.resolve("for f in a; do ls; done").commands[0].doubt
    assert not world.resolve(f"ls; {line}").commands[0].doubt
    before = world.resolve(f"ls; for f in a; do ls; {line}; done").commands[0]
    assert not before.doubt  # It is run once, and before all of it.


@pytest.mark.parametrize(
    ("now", "shell", "plainly"),
    [
        (state(), "bash", True),
        (None, "bash", False),
        (state(aliases={"cd": "x"}), "bash", False),
        (state(functions=("cd",)), "bash", False),
        (state(environment={"CDPATH": "/x"}), "bash", False),
        (state(environment={"CDPATH": ""}), "bash", True),
        (state(is_whole=False), "bash", False),
        (state(is_whole=False), "fish", True),
        (state(is_whole=False, functions=("cd",)), "fish", False),
        (state(is_whole=False, aliases={"cd": "x"}), "fish", False),
    ],
)
def test_cd_changes_to_what_its_word_names_unless_something_stands_in_its_way(
    now: ShellState | None, shell: str, *, plainly: bool
) -> None:
    assert changes_plainly(Shell(now, Origins(), shell)) is plainly
