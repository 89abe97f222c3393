import pytest
from tests.core.resolving_world import (
    ANNA,
    BOT,
    BOTS_MS,
    OLD_MS,
    World,
    by_bot,
    furnished,
    state,
)

from holdfast.core.provenance.line_resolution import (
    MAX_LINKS,
    MAX_LOOKS,
    Shell,
    resolve,
)
from holdfast.core.shell.command_line import read_line
from holdfast.model.resolutions import Sort, Thing

PROGRAM, SCRIPT, ALIAS = Sort.PROGRAM, Sort.SCRIPT, Sort.ALIAS
BUILTIN, FUNCTION, KEYWORD = Sort.BUILTIN, Sort.FUNCTION, Sort.KEYWORD


@pytest.fixture
def world() -> World:
    return furnished()


def test_a_program_is_found_on_the_path_with_its_digest(world: World) -> None:
    (link,) = world.one("ls -l").links

    assert (link.sort, link.name) == (PROGRAM, "/usr/bin/ls")
    assert link.digest == b"/usr/bin/ls"


def test_an_alias_is_followed_to_what_it_runs(world: World) -> None:
    world.now = state(aliases={"deploy": "rm -rf build"})

    found = world.one("deploy")

    assert [one.sort for one in found.links] == [ALIAS, PROGRAM]
    assert found.links[0].text == "rm -rf build"
    assert found.links[1].name == "/usr/bin/rm"
    assert found.doubt == ""


def test_i3_an_alias_is_staged_by_whoever_ran_the_command_that_set_it(
    world: World,
) -> None:
    world.now = state(aliases={"deploy": "rm -rf build"})

    assert world.one("deploy").staged == (by_bot(Thing.ALIAS, "deploy"),)
    assert world.one("ls").staged == ()


def test_an_alias_in_its_own_text_is_the_program(world: World) -> None:
    world.now = state(aliases={"ls": "ls --color", "l": "ls -l"})

    assert world.steps("l x") == [
        (ALIAS, "l"),
        (ALIAS, "ls"),
        (PROGRAM, "/usr/bin/ls"),
    ]


@pytest.mark.parametrize("line", [r"\deploy", "'deploy'", "command deploy"])
def test_an_alias_is_passed_by(world: World, line: str) -> None:
    world.now = state(aliases={"deploy": "rm -rf build"})
    world.file("/usr/bin/deploy")

    assert (ALIAS, "deploy") not in world.steps(line)
    assert (PROGRAM, "/usr/bin/deploy") in world.steps(line)


def test_quotes_in_an_assignment_are_not_those_of_the_word(world: World) -> None:
    world.now = state(aliases={"deploy": "rm"})

    assert world.steps("X='a b' deploy")[0] == (ALIAS, "deploy")
    assert world.steps("deploy 'a b'")[0] == (ALIAS, "deploy")


def test_what_follows_an_alias_belongs_to_what_it_stands_for(world: World) -> None:
    world.now = state(aliases={"as": "sudo -u x"})

    assert (PROGRAM, "/usr/bin/rm") in world.steps("as rm y")


def test_after_an_alias_that_ends_with_a_blank_the_next_word_may_be_one(
    world: World,
) -> None:
    world.now = state(aliases={"sudo": "sudo ", "deploy": "rm x"})

    assert (ALIAS, "deploy") in world.steps("sudo deploy")


def test_an_alias_of_several_commands_runs_all_of_them(world: World) -> None:
    world.now = state(aliases={"both": "ls; rm"})

    assert world.steps("both x")[1:] == [
        (PROGRAM, "/usr/bin/ls"),
        (PROGRAM, "/usr/bin/rm"),
    ]


@pytest.mark.parametrize(
    ("aliases", "left_out"),
    [({"x": "$(evil)"}, ()), ({}, ("x",)), ({"x": "cd /; ./y"}, ())],
)
def test_i2_an_alias_that_cannot_be_read_is_a_doubt(
    world: World, aliases: dict[str, str], left_out: tuple[str, ...]
) -> None:
    world.now = state(aliases=aliases, without_text=left_out)

    assert world.one("x").links[0].sort is ALIAS
    assert world.one("x").doubt


def test_what_a_function_does_is_a_doubt(world: World) -> None:
    world.now = state(functions=("ls",))

    assert world.steps("ls") == [(FUNCTION, "ls")]
    assert world.one("ls").doubt
    assert world.one("ls").staged == (by_bot(Thing.FUNCTION, "ls"),)
    assert world.resolve("ls; make").commands[1].doubt


def test_a_builtin_is_no_file(world: World) -> None:
    world.file("/usr/bin/echo")

    assert world.steps("echo x") == [(BUILTIN, "echo")]
    assert world.steps("env echo x")[-1] == (PROGRAM, "/usr/bin/echo")


def test_each_shell_has_words_of_its_own(world: World) -> None:
    world.file("/usr/bin/print")
    world.file("/usr/bin/noglob")

    assert world.steps("print x") == [(PROGRAM, "/usr/bin/print")]
    world.shell = "zsh"
    assert world.steps("print x") == [(BUILTIN, "print")]
    assert world.steps("noglob ls") == [(KEYWORD, "noglob"), (PROGRAM, "/usr/bin/ls")]


def test_a_keyword_is_followed_by_a_command_of_the_shell(world: World) -> None:
    world.now = state(aliases={"deploy": "rm x"})

    assert world.steps("time -p deploy") == [
        (KEYWORD, "time"),
        (ALIAS, "deploy"),
        (PROGRAM, "/usr/bin/rm"),
    ]


def test_a_folder_that_was_put_on_the_path_is_staged(world: World) -> None:
    world.now = state(path=("/evil", "/bin", "/usr/bin"))
    world.file("/evil/ls", b"#!/usr/bin/sh\nrm\n")

    found = world.one("ls")

    assert by_bot(Thing.PATH_ENTRY, "/evil") in found.staged
    assert [one.sort for one in found.links[:2]] == [SCRIPT, PROGRAM]
    assert world.one("make").staged == ()


def test_the_program_that_a_shell_may_remember_counts_too(world: World) -> None:
    world.now = state(path=("/evil", "/bin", "/usr/bin"))
    world.file("/evil/ls")

    assert world.one("ls").paths == ("/evil/ls", "/usr/bin/ls")


def test_a_program_that_only_a_new_folder_has_is_that_one(world: World) -> None:
    world.now = state(path=("/evil", "/bin", "/usr/bin"))
    world.file("/evil/deploy")

    assert world.one("deploy").paths == ("/evil/deploy",)
    assert world.one("deploy").doubt == ""


def test_of_a_path_that_nobody_changed_only_the_first_file_counts(
    world: World,
) -> None:
    world.file("/bin/ls")

    assert world.one("ls").paths == ("/bin/ls",)


def test_a_file_that_may_not_be_run_is_passed_by(world: World) -> None:
    world.file("/bin/ls", runs=False)

    assert world.one("ls").paths == ("/usr/bin/ls",)


def test_an_empty_folder_on_the_path_is_the_one_that_the_shell_works_in() -> None:
    world = World(before=state(path=("",)))
    world.file("./ls")

    assert world.one("ls").paths == ("./ls",)


def test_a_file_is_staged_by_the_command_in_which_it_was_changed(world: World) -> None:
    world.file("./build.sh", b"#!/usr/bin/env python3\n", changed=(BOTS_MS,))

    found = world.one("./build.sh")

    assert found.staged == (by_bot(Thing.FILE, "./build.sh"),)
    assert found.paths == ("./build.sh", "/usr/bin/env", "/usr/bin/python3")


def test_a_link_to_an_old_file_is_staged_by_whoever_made_the_link(
    world: World,
) -> None:
    world.file("./ls", changed=(BOTS_MS, OLD_MS))

    assert world.one("./ls").staged == (by_bot(Thing.FILE, "./ls"),)


def test_text_without_an_interpreter_is_a_script(world: World) -> None:
    world.file("./x", b"rm -rf /")

    assert world.steps("./x") == [(SCRIPT, "./x")]


@pytest.mark.parametrize("head", [b"#!\n", b"#!/gone\n", b"#!/\xff\n"])
def test_i2_an_interpreter_that_cannot_be_told_is_a_doubt(
    world: World, head: bytes
) -> None:
    world.file("./x", head)

    assert world.one("./x").doubt


def test_i4_interpreters_of_interpreters_end(world: World) -> None:
    world.file("./x", b"#!./x\n")

    found = world.one("./x")

    assert found.doubt
    assert len(found.links) <= MAX_LINKS


@pytest.mark.parametrize(
    ("line", "path"),
    [
        ("sudo -u x rm y", "/usr/bin/rm"),
        ("env A=b rm y", "/usr/bin/rm"),
        ("xargs -n 1 rm", "/usr/bin/rm"),
        ("/usr/bin/sudo rm y", "/usr/bin/rm"),
        ("sh ./run.sh", "./run.sh"),
        ("python3 ./run.sh", "./run.sh"),
        (". ./run.sh", "./run.sh"),
        ("sh -c 'rm x'", "/usr/bin/rm"),
        ("sudo sh -c 'ls; rm x'", "/usr/bin/rm"),
    ],
)
def test_what_is_carried_is_resolved(world: World, line: str, path: str) -> None:
    world.file("./run.sh", b"x")

    assert path in world.one(line).paths


def test_what_follows_a_program_is_known(world: World) -> None:
    assert [one.doubt for one in world.resolve("ls; make").commands] == ["", ""]


def test_a_variable_that_matters_is_staged_for_every_program(world: World) -> None:
    world.now = state(environment={"LD_PRELOAD": "/evil/x.so", "PATH": "/bin"})

    assert world.one("ls").staged == (by_bot(Thing.VARIABLE, "LD_PRELOAD"),)
    assert world.resolve("ls").environment["LD_PRELOAD"] == "/evil/x.so"


def test_whoever_finds_a_variable_can_unset_it(world: World) -> None:
    world.now = state(environment={"LD_PRELOAD": "/evil/x.so", "PS1": "$(rm x)"})

    assert world.one("unset LD_PRELOAD").staged == ()
    assert world.one("PS1=x").staged == ()
    assert world.one("eval x").staged == (by_bot(Thing.VARIABLE, "LD_PRELOAD"),)


def test_where_folders_are_looked_for_is_staged_for_whoever_changes_to_one(
    world: World,
) -> None:
    world.now = state(environment={"CDPATH": "/evil"})

    assert world.one("cd x").staged == (by_bot(Thing.VARIABLE, "CDPATH"),)
    assert world.one("ls").staged == ()
    assert world.one("echo x").staged == ()


def test_an_origin_without_a_trigger_is_not_sure(world: World) -> None:
    world.now = state(aliases={"x": "ls"})
    world.trigger = None

    (staged,) = world.one("x").staged

    assert (staged.by, staged.is_known) == ((BOT,), False)


def test_i4_no_more_files_are_looked_at_than_may_be() -> None:
    looked: list[str] = []
    before = state(path=tuple(f"/{number}" for number in range(2 * MAX_LOOKS)))

    shell = Shell(before, World(before=before).origins())
    found = resolve(read_line(b"x", ended=True), shell, looked.append)

    assert len(looked) == MAX_LOOKS
    assert found.commands[0].doubt


def test_i4_aliases_of_aliases_end(world: World) -> None:
    world.now = state(aliases={f"a{n}": f"a{n + 1}; a{n + 1}" for n in range(20)})

    found = world.one("a0")

    assert found.doubt
    assert len(found.links) <= MAX_LINKS


def test_an_assignment_alone_runs_nothing(world: World) -> None:
    assert world.one("X=1").links == ()
    assert world.one("X=1").doubt == ""


def test_who_set_it_up_and_who_enters_it_are_told_apart(world: World) -> None:
    world.now = state(aliases={"deploy": "rm x"})

    assert ANNA not in world.resolve("deploy").originators()
    assert world.resolve("deploy").originators() == (BOT,)
