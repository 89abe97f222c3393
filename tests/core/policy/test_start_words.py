import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.core.policy.start_words import MAX_LINE, MAX_NAMED, start_of

GROUND = {"PATH": "/usr/bin", "HOME": "/home/ada", "EDITOR": "vi"}


def text(*words: str, cwd: str = "/src", **env: str) -> str:
    return start_of(words, cwd, GROUND | env, GROUND).text().decode()


def test_a_start_reads_like_what_a_person_would_type() -> None:
    line, _, note = text("make", "a b", cwd="/my src").partition("  # ")

    assert line == "cd '/my src' && make 'a b'"
    assert note.startswith("environment ")
    assert len(note.removeprefix("environment ")) == 32


@pytest.mark.parametrize("name", ["LD_PRELOAD", "PATH", "BASH_ENV", "NODE_OPTIONS"])
def test_what_decides_what_programs_do_is_shown_with_its_value(name: str) -> None:
    assert f"&& {name}='/x y' sh  #" in text("sh", **{name: "/x y"})


def test_any_other_variable_is_named_alone() -> None:
    start = start_of(["sh"], "/", {**GROUND, "AWS_SECRET": "hunter2"}, GROUND)

    assert start.variables == ("AWS_SECRET",)
    assert ", with AWS_SECRET" in start.text().decode()
    assert "hunter2" not in start.text().decode()


def test_many_variables_are_counted() -> None:
    many = {f"V{number:02}": "x" for number in range(MAX_NAMED + 3)}

    assert text("sh", **many).endswith(" and 3 more")


def test_as_many_variables_as_are_named_leave_none_to_count() -> None:
    many = {f"V{number:02}": "x" for number in range(MAX_NAMED)}

    assert text("sh", **many).endswith(f"V{MAX_NAMED - 1:02}")


@pytest.mark.parametrize(
    ("name", "value", "counts"),
    [
        ("TERM", "xterm-256color", False),
        ("LC_ALL", "C.UTF-8", False),
        ("EDITOR", "vi", False),
        ("EDITOR", "evil", True),
        ("TERM", "../../tmp/x", True),
        ("LANG", "x" * 65, True),
        ("TERMINFO", "/my", True),
    ],
)
def test_what_the_host_has_set_and_what_a_terminal_can_do_does_not_count(
    name: str, value: str, *, counts: bool
) -> None:
    start = start_of(["sh"], "/", {**GROUND, name: value}, GROUND)

    assert bool(start.variables) == counts


names = st.sampled_from(["PATH", "HOME", "TERM", "MY"])
environments = st.dictionaries(names, st.text("ab= '", max_size=3), max_size=3)
starts = st.tuples(
    st.lists(st.text("ab '\n", max_size=3), min_size=1, max_size=3),
    st.text("/ab '", max_size=4),
    environments,
)


@given(starts, starts)
def test_i1_two_starts_that_differ_read_differently(
    one: tuple[list[str], str, dict[str, str]],
    other: tuple[list[str], str, dict[str, str]],
) -> None:
    texts = {start_of(*start, GROUND).text() for start in (one, other)}

    assert (len(texts) == 1) == (one == other)


def test_in_which_order_variables_were_given_changes_nothing() -> None:
    one = start_of(["sh"], "/", {"A": "1", "B": "2"}, GROUND)

    assert one == start_of(["sh"], "/", {"B": "2", "A": "1"}, GROUND)


def test_what_is_too_long_to_read_is_cut_and_still_told_apart() -> None:
    long = "x" * MAX_LINE

    assert len(text("echo", long, "a")) < MAX_LINE + 200
    assert text("echo", long, "a") != text("echo", long, "b")


@pytest.mark.parametrize(("more", "is_cut"), [(0, False), (1, True)])
def test_only_what_is_longer_than_a_line_may_be_is_cut(
    more: int,
    is_cut: bool,  # noqa: FBT001  # a parameter
) -> None:
    rest = MAX_LINE - len("cd /src && echo ")

    assert ("…" in text("echo", "x" * (rest + more))) is is_cut
