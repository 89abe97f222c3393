import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.core.policy.line_effects import with_effects
from holdfast.core.shell.command_line import read_line
from holdfast.core.shell.shell_grammar import grammar_of
from holdfast.core.shell.simple_command import Command


def read(line: str) -> tuple[Command, ...]:
    return with_effects(
        read_line(line.encode(), grammar_of("bash"), ended=True, values={})
    )


def relinked(line: str) -> list[bool]:
    return [one.relinked for one in read(line)]


def refilled(line: str) -> list[bool]:
    return [one.refilled for one in read(line)]


@pytest.mark.parametrize(
    "first",
    [
        "ln -s x y",
        "/bin/ln -s x y",
        "cp -a x y",
        "cp $X y",
        "mv x y",
        "tar -xf x",
        "unzip x",
        "patch -p1 < x",
        "git checkout x",
        "git -C x status",
        "git $X",
        "git",
        "command ln -s x y",
        "find . -exec ln -s x y +",
        "eval 'ln -s x y'",
        "$X",
        "$(echo ln) -s x y",
    ],
)
@pytest.mark.parametrize("join", ["&&", ";", "||", "|", "&"])
def test_what_follows_a_command_that_may_link_is_relinked(
    first: str, join: str
) -> None:
    assert relinked(f"{first} {join} cat y")[-1]
    assert relinked(f"cat y {join} {first}")[0]


@pytest.mark.parametrize(
    "first",
    [
        "cp x y",
        "git add x",
        "git status",
        "make",
        "mkdir x",
        "echo ln",
        "command ls x",
        "find . -exec cat {} +",
        "x=1",
        "cat a > b",
        "x/ln.py",
    ],
)
def test_other_commands_relink_nothing(first: str) -> None:
    assert not any(relinked(f"{first} && cat y"))


def test_a_command_that_links_is_not_relinked_by_itself() -> None:
    assert relinked("ln -s x y") == [False]
    assert relinked("ln -s x y && cat y") == [False, True]
    assert relinked("ln -s x y && mv x y") == [True, True]


def test_in_a_loop_it_is() -> None:
    assert relinked("for f in a b; do cp -P $f c; done") == [True]
    assert relinked("for f in a b; do cat $f; done") == [False]


@pytest.mark.parametrize(
    "first",
    [
        "touch x",
        "awk 'BEGIN{system(0)}' x",
        "echo x > y",
        "make",
        "> x",
        "$X",
        "ln x y",
        "cat a >> b",
    ],
)
def test_what_stands_beside_a_command_that_may_make_files_is_refilled(
    first: str,
) -> None:
    assert refilled(f"{first}; cat *")[-1]
    assert refilled(f"cat *; {first}")[0]


@pytest.mark.parametrize("first", ["cd x", "echo x", "cat a > /dev/null", "test -f x"])
def test_other_commands_refill_nothing(first: str) -> None:
    assert not any(refilled(f"{first} && cat *"))


def test_a_command_that_makes_files_is_not_refilled_by_itself_but_in_a_loop() -> None:
    assert refilled("touch *") == [False]
    assert refilled("for f in a b; do touch *; done") == [True]


def test_what_cannot_be_read_may_do_both() -> None:
    (doubtful,) = read_line(b"'", grammar_of("bash"), ended=True, values={})

    both = with_effects([doubtful, Command(words=("cat", "x"))])

    assert both[1].relinked
    assert both[1].refilled


LINES = st.lists(
    st.sampled_from(
        ["ln -s a b", "cat *", "touch x", "cd a", "mv a b", "echo x > y", "$X"]
    ),
    min_size=1,
    max_size=5,
)


@given(LINES, LINES)
def test_i1_one_more_command_makes_no_other_less_relinked_or_refilled(
    some: list[str], more: list[str]
) -> None:
    fewer, all_of_them = read("; ".join(some)), read("; ".join([*some, *more]))

    for one, other in zip(fewer, all_of_them, strict=False):
        assert one.relinked <= other.relinked
        assert one.refilled <= other.refilled
