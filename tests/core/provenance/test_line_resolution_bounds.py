"""How far is a line followed, and what is said beyond that?"""

import shlex
from itertools import pairwise

import pytest
from tests.core.resolving_world import BOTS_MS, World, by_bot, furnished, state

from holdfast.core.provenance.line_resolution import (
    MAX_DEPTH,
    MAX_GLIMPSED,
    MAX_INTERPRETER,
    MAX_LINKS,
)
from holdfast.model.resolutions import Sort, Thing

TOO_LONG = "the chain is too long"


@pytest.fixture
def world() -> World:
    return furnished()


def within(line: str, times: int) -> str:
    """Return a line that shells within shells run."""
    for _ in range(times):
        line = f"sh -c {shlex.quote(line)}"
    return line


@pytest.mark.parametrize("times", [MAX_DEPTH, MAX_DEPTH + 1])
def test_i4_an_alias_is_followed_so_far_and_no_further(
    world: World, times: int
) -> None:
    names = [f"a{number}" for number in range(times)]
    world.now = state(aliases=dict(pairwise([*names, "ls"])))

    found = world.one("a0")

    assert found.doubt == (TOO_LONG if times > MAX_DEPTH else "")
    assert len(found.links) == times + (times <= MAX_DEPTH)


@pytest.mark.parametrize("times", [MAX_DEPTH, MAX_DEPTH + 1])
def test_i4_the_first_command_of_an_alias_is_followed_as_far_as_the_last(
    world: World, times: int
) -> None:
    names = [f"a{number}" for number in range(times)]
    nested = {name: f"{inner}; ls" for name, inner in pairwise([*names, "rm"])}
    world.now = state(aliases=nested)

    found = world.one("a0")

    is_over = times > MAX_DEPTH
    assert found.doubt == (TOO_LONG if is_over else "")
    assert ("/usr/bin/rm" in found.paths) is not is_over


@pytest.mark.parametrize("word", ["time", "env"])
@pytest.mark.parametrize("times", [MAX_DEPTH, MAX_DEPTH + 1])
def test_i4_what_stands_before_a_command_is_followed_so_far(
    world: World, word: str, times: int
) -> None:
    found = world.one(f"{word} " * times + "ls")

    is_over = times > MAX_DEPTH
    assert found.doubt == (TOO_LONG if is_over else "")
    assert ("/usr/bin/ls" in found.paths) is not is_over


@pytest.mark.parametrize("times", [MAX_DEPTH // 2, MAX_DEPTH // 2 + 1])
def test_i4_a_shell_in_a_shell_is_followed_so_far(world: World, times: int) -> None:
    found = world.one(within("ls", times))

    is_over = times > MAX_DEPTH // 2
    assert found.doubt == (TOO_LONG if is_over else "")
    assert ("/usr/bin/ls" in found.paths) is not is_over


@pytest.mark.parametrize("times", [MAX_DEPTH + 1, MAX_DEPTH + 2])
def test_i4_an_interpreter_of_an_interpreter_is_followed_so_far(
    world: World, times: int
) -> None:
    for number in range(times):
        world.file(f"/x{number}", f"#!/x{number + 1}\n".encode())
    world.file(f"/x{times}")

    found = world.one("/x0")

    is_over = times > MAX_DEPTH + 1
    assert (found.doubt != "") is is_over
    assert (f"/x{times}" in found.paths) is not is_over


def test_i4_the_program_that_env_is_to_find_is_a_step_too(world: World) -> None:
    for number in range(MAX_DEPTH):
        world.file(f"/x{number}", f"#!/x{number + 1}\n".encode())
    world.file(f"/x{MAX_DEPTH}", b"#!/usr/bin/env python3\n")

    assert world.one("/x0").paths[-1] == "/usr/bin/python3"
    assert world.one("/x0").doubt == ""


@pytest.mark.parametrize("more", [0, 1])
def test_an_interpreter_s_line_is_read_so_far(world: World, more: int) -> None:
    path = "/" + "x" * (MAX_INTERPRETER - len("#!/") + more)
    world.file(path)
    world.file("./run", f"#!{path}\n".encode())

    assert (world.one("./run").doubt == "") is (more == 0)


def test_i4_a_command_has_so_many_links(world: World) -> None:
    both = {f"a{n}": f"a{n + 1}; a{n + 1}" for n in range(6)}
    world.now = state(aliases={**both, "a6": "ls"})

    found = world.one("a0")

    assert len(found.links) == MAX_LINKS
    assert found.doubt == TOO_LONG


@pytest.mark.parametrize("more", [0, 1])
def test_so_many_words_are_looked_up_of_what_cannot_be_read(
    world: World, more: int
) -> None:
    world.now = state(aliases={"deploy": "rm x"})
    words = [f"w{number}" for number in range(MAX_GLIMPSED - 2 + more)]

    # The first word of all is a builtin's, and an assignment of it cannot be read.
    found = world.one(f"echo {' '.join(words)} deploy $((x))")

    assert (by_bot(Thing.ALIAS, "deploy") in found.staged) is (more == 0)


# ── what is said of each step ─────────────────────────────────────────────────


def test_i3_every_variable_counts_but_those_that_matter_in_one_place(
    world: World,
) -> None:
    own = {"PATH": "/bin", "CDPATH": "/x", "PROMPT_COMMAND": "x", "PS1": "$", "PS4": ""}
    world.now = state(environment={**own, "IFS": "/", "LD_PRELOAD": "x"})

    assert world.one("ls").staged == (
        by_bot(Thing.VARIABLE, "IFS"),
        by_bot(Thing.VARIABLE, "LD_PRELOAD"),
    )


def test_i3_a_glimpse_says_what_an_alias_and_a_function_stand_for(
    world: World,
) -> None:
    world.now = state(aliases={"deploy": "rm x"}, functions=("date",))

    found = world.one("deploy date ls $((x))")

    assert [(one.sort, one.name, one.text) for one in found.links] == [
        (Sort.ALIAS, "deploy", "rm x"),
        (Sort.FUNCTION, "date", ""),
    ]
    assert set(found.staged) == {
        by_bot(Thing.ALIAS, "deploy"),
        by_bot(Thing.FUNCTION, "date"),
    }


def test_i3_a_glimpse_at_what_nobody_changed_is_nothing(world: World) -> None:
    world.before = state(aliases={"deploy": "rm x"}, functions=("date",))

    found = world.one("deploy date $((x))")

    assert (found.links, found.staged) == ((), ())


def test_i3_a_file_that_a_glimpse_finds_is_staged_by_whoever_wrote_it(
    world: World,
) -> None:
    world.now = state(path=("/evil", "/usr/bin"))
    world.file("/evil/deploy", changed=(BOTS_MS,))

    found = world.one("x $((deploy))")

    assert [(one.sort, one.name) for one in found.links] == [
        (Sort.SCRIPT, "/evil/deploy")
    ]
    assert set(found.staged) == {
        by_bot(Thing.PATH_ENTRY, "/evil"),
        by_bot(Thing.FILE, "/evil/deploy"),
    }
