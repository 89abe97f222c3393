"""I1 to I3 of core/autonomy/action_kind.py, for whatever words a command has."""

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st
from tests.core.autonomy.test_action_kind import command, program, question

from holdfast.core.autonomy.action_kind import BUILDERS, READERS, action_of
from holdfast.core.shell.simple_command import Assignment, Command

words = st.sampled_from(["a", "-l", "/etc", "..", "status", "push", "--o=/x", "b/c"])
programs = st.sampled_from(["cat", "git", "make", "rm", "cargo"])
lines = st.tuples(programs, st.lists(words, max_size=4))


def made(line: tuple[str, list[str]]) -> Command:
    name, rest = line
    words = (name, *rest)
    return replace(command("x", program(f"/usr/bin/{name}")), words=words)


@given(st.lists(lines, min_size=2, max_size=16))
def test_two_commands_of_one_kind_run_the_same_with_the_same_options(
    drawn: list[tuple[str, list[str]]],
) -> None:
    kinds: dict[str, tuple[str, list[str]]] = {}
    for line in drawn:
        name, rest = line
        known, other = kinds.setdefault(action_of(made(line), question()), line)
        options = [[one for one in all_ if one[0] == "-"] for all_ in (rest, other)]

        assert known == name
        assert options[0] == options[1]
        if other != rest:
            assert name in READERS or rest[0] in BUILDERS[name]
            assert not {"/etc", "..", "--o=/x"} & {*rest, *other}


@given(lines, st.sampled_from(["carries", "hides", "doubt", "assignments"]))
def test_what_does_more_than_its_words_say_has_no_kind(
    line: tuple[str, list[str]], how: str
) -> None:
    given = made(line)
    changed = {
        "carries": replace(given, carries=True),
        "hides": replace(given, hides=True),
        "doubt": replace(given, doubt="x"),
        "assignments": replace(given, assignments=(Assignment("A", "1"),)),
    }

    assert action_of(changed[how], question()) == ""
