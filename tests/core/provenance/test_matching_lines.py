import pytest

from holdfast.core.provenance.matching_lines import exact_line, lines_of, several_lines


@pytest.mark.parametrize(
    ("texts", "line", "count"),
    [
        (["ls"], "ls", 1),
        ([None, "", "ls"], " ls ", 3),
        (["pwd", "ls", "ls"], "ls", 2),
        (["for x in y", "do z", "done", "ls"], "for x in y; do z; done", 3),
        (["a", "", "b"], "a\nb", 3),
        (["ls"], "ls -l", 0),
        (["ls", None], "ls -l", 0),
        (["ls"], None, 0),
        (["ls"], "", 0),
        ([""], "", 0),
        ([], "ls", 0),
        (["x", "ls"], "y ls", 0),
    ],
)
def test_lines_are_found_in_what_a_shell_tells(
    texts: list[str | None], line: str | None, count: int
) -> None:
    assert lines_of(texts, line) == count


def test_one_that_says_the_same_is_the_first_that_does() -> None:
    assert exact_line(["a", "b", "b"], "b") == 1
    assert exact_line(["a"], None) is None


def test_several_must_reach_to_its_end() -> None:
    assert several_lines(["a", "b"], "a; b; c") == 0
    assert several_lines(["a", "b"], "a; b;") == 2
