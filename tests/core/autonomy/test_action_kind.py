"""What kind of action a command is, and which commands are of none."""

from dataclasses import replace

import pytest

from holdfast.core.autonomy.action_kind import (
    MAX_ACTION,
    MAX_ACTIONS,
    action_of,
    actions_of,
)
from holdfast.core.shell.command_line import read_line
from holdfast.core.shell.shell_grammar import grammar_of
from holdfast.core.shell.simple_command import Command
from holdfast.model.actors import Actor, ActorKind
from holdfast.model.ids import ActorId, SessionId
from holdfast.model.inputs import InputKind
from holdfast.model.policy_questions import Execution, LocalTime, Question
from holdfast.model.resolutions import Link, Resolved, Sort, Staging, Thing

BOT = Actor(ActorId("a_" + "b" * 32), ActorKind.AGENT, "bot")


def question(kind: InputKind = InputKind.COMMAND) -> Question:
    session = SessionId("s_aaaaaaaaaaaaaaaa")
    return Question(BOT, kind, b"", session, "s", LocalTime(0, 0))


def program(path: str, digest: bytes = b"") -> Resolved:
    return Resolved((Link(Sort.PROGRAM, path, digest),))


def command(line: str, resolved: Resolved | None = None) -> Command:
    (found,) = read_line(line.encode(), grammar_of("bash"), ended=True, values={})
    name = line.split(" ", 1)[0]
    return replace(found, resolved=resolved or program(f"/usr/bin/{name}"))


def kind(line: str, resolved: Resolved | None = None) -> str:
    return action_of(command(line, resolved), question())


def test_a_program_that_nothing_is_known_of_is_a_kind_with_all_its_words() -> None:
    assert kind("make test") == "/usr/bin/make test"
    assert kind("make clean") != kind("make test")
    assert kind("rm -r build") == "/usr/bin/rm -r build"
    assert kind("rm -r 'a b'") == "/usr/bin/rm -r 'a b'"


def test_of_a_program_that_reads_only_the_options_count() -> None:
    assert kind("cat a b") == kind("cat c") == "/usr/bin/cat"
    assert kind("ls src -l") == "/usr/bin/ls -l"
    assert kind("ls src -la") != kind("ls src -l")


@pytest.mark.parametrize(
    ("line", "value"),
    [
        ("git diff --output .git/config", ".git/config"),
        ("go test -exec ./x", "./x"),
        ("printf -v PATH bin", "PATH"),
    ],
)
def test_a_word_that_may_be_the_value_of_an_option_is_part_of_the_kind(
    line: str, value: str
) -> None:
    assert value in kind(line).split()
    assert kind("grep --color=never a b") == "/usr/bin/grep --color=never"


@pytest.mark.parametrize("word", ["/etc/x", "../x", "a/../../x", "'~/x'", "--f=/etc/x"])
def test_a_word_that_leads_out_of_the_folder_is_part_of_the_kind(word: str) -> None:
    assert word.strip("'") in kind(f"cat {word}")


def test_of_a_known_subcommand_only_the_options_count() -> None:
    assert kind("git status") == "/usr/bin/git status"
    assert kind("git diff a --stat") == "/usr/bin/git diff --stat"
    assert kind("git add x") == kind("git add y")


@pytest.mark.parametrize(
    "line", ["git push origin main", "git -C . status", "git", "cargo install x"]
)
def test_of_any_other_subcommand_every_word_counts(line: str) -> None:
    assert kind(line) == f"/usr/bin/{line}"


def test_a_program_outside_of_the_system_s_folders_is_known_by_its_content() -> None:
    own = program("/home/a/t.sh", b"\xab" * 32)

    assert kind("./t.sh x", own) == f"/home/a/t.sh#{'ab' * 8} x"
    assert kind("./t.sh x", program("/home/a/t.sh")) == ""


def test_a_file_by_the_name_of_a_reader_is_not_taken_for_one() -> None:
    own = program("/home/a/bin/cat", b"\xab" * 32)

    assert kind("cat a", own) != kind("cat b", own)


def test_a_script_is_a_kind_with_its_interpreter() -> None:
    both = (Link(Sort.SCRIPT, "/srv/x", b"\1" * 32), Link(Sort.PROGRAM, "/bin/sh"))

    assert kind("x a", Resolved(both)) == f"/srv/x#{'01' * 8} /bin/sh a"


def test_a_builtin_is_a_kind_and_an_alias_is_part_of_one() -> None:
    builtin = Resolved((Link(Sort.BUILTIN, "echo"),))
    alias = Link(Sort.ALIAS, "ls", text="ls --color")
    aliased = Resolved((alias, Link(Sort.PROGRAM, "/usr/bin/ls")))

    assert kind("echo a", builtin) == kind("echo b", builtin) == "builtin echo"
    assert kind("ls x", aliased) == "[ls --color] /usr/bin/ls"
    assert kind("ls x", Resolved((alias,))) == ""


@pytest.mark.parametrize(
    "line",
    [
        "cat $X",
        "cat *",
        "make > out",
        "A=1 make",
        "sudo make",
        "sh -c ls",
        "xargs rm",
        "eval ls",
        "if true; then true; fi",
    ],
)
def test_what_words_do_not_tell_has_no_kind(line: str) -> None:
    found = read_line(line.encode(), grammar_of("bash"), ended=True, values={})
    resolved = [replace(one, resolved=program("/usr/bin/x")) for one in found]

    assert actions_of(tuple(resolved), question()) == ()


@pytest.mark.parametrize(
    "resolved",
    [
        Resolved(),
        Resolved((Link(Sort.PROGRAM, "/usr/bin/x"),), doubt="who knows"),
        Resolved((Link(Sort.FUNCTION, "x"),)),
        Resolved((Link(Sort.UNKNOWN, "x"),)),
        Resolved((Link(Sort.PROGRAM, "/usr/bin/x"),), (Staging(Thing.FILE, "x", ()),)),
    ],
)
def test_what_runs_has_to_be_known_and_not_staged(resolved: Resolved) -> None:
    assert kind("x a", resolved) == ""


def test_a_line_that_the_shell_may_not_read_has_no_kind() -> None:
    found = command("make")

    assert action_of(found, replace(question(), shell_reads=False)) == ""
    assert action_of(found, question(InputKind.SIGNAL)) == ""
    assert action_of(replace(found, resolved=None), question()) == ""
    assert action_of(replace(found, folders=()), question()) == ""


def test_an_exec_is_of_the_kind_of_the_file_that_is_executed() -> None:
    asked = Execution("/usr/bin/make", "/usr/bin/make", ("make", "test"))
    executing = replace(question(), execution=asked, shell_reads=False)

    assert action_of(Command(("make", "test")), executing) == "/usr/bin/make test"


def test_a_line_has_the_kinds_of_all_its_commands_or_none() -> None:
    make, test = command("make"), command("make test")

    assert actions_of((make, test, make), question()) == (
        "/usr/bin/make",
        "/usr/bin/make test",
    )
    assert actions_of((make, command("cat $X")), question()) == ()
    assert actions_of((make,) * (MAX_ACTIONS + 1), question()) == ()
    assert actions_of((), question()) == ()


def test_a_long_or_odd_kind_is_bounded_and_still_its_own() -> None:
    long, other = kind(f"make {'a' * 300}"), kind(f"make {'a' * 301}")
    odd = action_of(replace(command("make"), words=("make", "a\nb")), question())
    plain = action_of(replace(command("make"), words=("make", "a?b")), question())

    assert len(long) == MAX_ACTION
    assert long != other
    assert "\n" not in odd
    assert odd != plain
