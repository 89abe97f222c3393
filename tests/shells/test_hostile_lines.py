"""The table of hostile lines: how each is read, and what the real shells make of it."""

import pytest
from tests.shells.hostile_lines import UNDECIDABLE, Reading, shown, table
from tests.shells.interactive import Interactive
from tests.shells.real_shells import World, complaint, installed, said

from holdfast.core.shell.command_line import read_line
from holdfast.core.shell.shell_grammar import Grammar

TABLE = table()
SHELLS = installed()


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> World:
    return World(tmp_path_factory.mktemp("shells"))


@pytest.mark.parametrize(("line", "grammar", "reading"), TABLE)
def test_a_hostile_line_is_read_as_the_table_says(
    line: str, grammar: Grammar, reading: Reading
) -> None:
    assert shown(read_line(line.encode(), grammar, ended=True)) == reading


@pytest.mark.parametrize("line", sorted({line for line, _, _ in TABLE}))
def test_what_shells_read_differently_is_undecidable_if_the_shell_is_not_known(
    line: str,
) -> None:
    each = [reading for text, _, reading in TABLE if text == line]
    is_alike = all(reading == each[0] for reading in each)

    reading = shown(read_line(line.encode(), ended=True))

    assert reading == (each[0] if is_alike else UNDECIDABLE)


@pytest.mark.parametrize("grammar", SHELLS)
def test_a_real_shell_runs_nothing_that_the_table_does_not_have(
    world: World, grammar: Grammar
) -> None:
    for line, shell, _ in TABLE:
        commands = said(line, grammar) if shell is grammar else None
        if commands is not None:
            found = complaint(commands, world.run(line, grammar))
            assert not found, f"{line!r}: {found}"


@pytest.mark.parametrize("grammar", SHELLS)
def test_nor_does_a_shell_that_somebody_types_into(
    world: World, grammar: Grammar
) -> None:
    with Interactive(world, grammar) as shell:
        for line, other, _ in TABLE:
            commands = said(line, grammar) if other is grammar else None
            if commands is not None:
                found = complaint(commands, shell.run(line))
                assert not found, f"{line!r}: {found}"


def test_the_table_is_told_from_what_happens(world: World) -> None:
    commands = said("put a", Grammar.BASH)

    assert commands is not None
    assert "runs" in complaint(commands, world.run("put b", Grammar.BASH))
    assert "writes" in complaint(commands, world.run("put a > c", Grammar.BASH))
    assert "runs" in complaint(commands, world.run("cd src && put a", Grammar.BASH))
