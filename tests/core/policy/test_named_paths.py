import pytest

from holdfast.core.policy.named_paths import (
    MAX_NAMED,
    every_path,
    listed,
    named_paths,
    read_paths,
    written_paths,
)
from holdfast.core.shell.command_line import read_line
from holdfast.core.shell.open_words import ANYTHING, OpenWord
from holdfast.core.shell.simple_command import Command, Redirection, Way
from holdfast.model.policy_questions import NamedPath

PYTHON = OpenWord(tail=".py", has_slash=False, files=("", ".py"))


def named(*words: str) -> list[str] | None:
    found = named_paths(Command(words))
    return None if found is None else [one.text for one in found]


@pytest.mark.parametrize(
    ("words", "texts"),
    [
        ("cat a /b/c", ["a", "/b/c"]),
        ("ls", []),
        ("./x a", ["./x", "a"]),
        ("dd if=/x of=y", ["if=/x", "/x", "of=y", "y"]),
        ("curl -d @k", ["@k", "k"]),
        ("git show HEAD:a", ["show", "HEAD:a", "a"]),
        ("x --output=/a", ["/a"]),
        ("x --output", []),
        ("x -o/a", ["/a", "a"]),
        ("x -rofoo", ["ofoo", "foo", "oo", "o"]),
        ("x -", []),
        ("x --", []),
        ("x a=", ["a="]),
        ("sed -n 1,2p a", ["1,2p", "2p", "a"]),
    ],
)
def test_i1_every_way_counts_in_which_a_word_may_name_a_file(
    words: str, texts: list[str]
) -> None:
    assert named(*words.split(" ")) == texts


def test_what_may_become_anything_may_name_anything() -> None:
    assert named_paths(Command(("cat", None), (None, ANYTHING))) is None
    assert named_paths(Command(("cat", None), (None, OpenWord(is_one=True)))) is None
    assert named_paths(Command((None,), (ANYTHING,))) is None
    assert named_paths(Command(("cat", "a"), folders=())) is None
    assert named_paths(Command(("ls",), folders=())) == ()


def test_names_of_files_are_those_of_their_folder() -> None:
    found = named_paths(Command(("cat", None), (None, PYTHON), folders=("", "src")))

    assert found == (NamedPath("", "", ".py"), NamedPath("src", "", ".py"))
    assert listed("a", OpenWord(files=("x/", "y"))) == ("a", "x/", "y")
    assert listed("", OpenWord("x", has_slash=False)) is None
    assert listed("", ANYTHING) is None


@pytest.mark.parametrize(
    "program", ['{system("x")}', '{print > "/x"}', '{getline < "/x"}']
)
def test_an_awk_program_that_opens_files_may_open_any(program: str) -> None:
    assert named("awk", program, "a") is None
    assert named("/usr/bin/gawk", program, "a") is None
    assert named("awk", "{print $1}", "a") == ["{print $1}", "a"]


@pytest.mark.parametrize("script", ["1e x", "w /a", "s/a/b/w x", "r x"])
def test_a_sed_script_that_opens_files_may_open_any(script: str) -> None:
    assert named("sed", script, "a") is None
    assert named("gsed", script, "a") is None
    assert named("cat", script, "a") is not None


def test_redirections_name_what_they_open() -> None:
    both = Command(
        ("cat",),
        redirections=(
            Redirection(Way.READ, "a"),
            Redirection(Way.APPEND, "b"),
            Redirection(Way.BOTH, "c"),
            Redirection(Way.WRITE, "/dev/null"),
            Redirection(Way.DUPLICATE, "1"),
            Redirection(Way.TEXT, "text"),
        ),
    )

    assert [one.text for one in read_paths(both) or ()] == ["a", "c"]
    assert [one.text for one in written_paths(both) or ()] == ["b", "c"]
    opened = Redirection(Way.WRITE, None, ANYTHING)
    assert written_paths(Command(("cat",), redirections=(opened,))) is None
    unseen = Redirection(Way.WRITE, None)
    assert written_paths(Command(("cat",), redirections=(unseen,))) is None


def test_i2_too_many_paths_may_be_any() -> None:
    assert named_paths(Command(("x", *map(str, range(MAX_NAMED))))) is not None
    assert named_paths(Command(("x", *map(str, range(MAX_NAMED + 1))))) is None


def test_all_paths_of_a_line_are_named_once() -> None:
    found = every_path(read_line(b"cat a b > c; cat $x; cat b", ended=True))

    assert [one.text for one in found] == ["a", "b", "c"]
