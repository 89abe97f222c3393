import pytest

from holdfast.core.view.rows import text_of, width_of_row
from holdfast.core.view.status_line import StatusFacts, notice_rows, status_line

STANDING = StatusFacts("web", "at-prompt", "you", "1 waits for approval", "with robo")


@pytest.mark.parametrize("columns", [1, 2, 3, 5, 12, 20, 40, 80, 500])
def test_a_status_line_is_as_wide_as_the_terminal(columns: int) -> None:
    hostile = StatusFacts("web\x1b[2J", "x" * 900, "you\n", "", "漢" * 100)
    for standing in (STANDING, hostile, StatusFacts("")):
        for views in ((), ("session is 130x40 +0+0", "130x40")):
            assert width_of_row(status_line(standing, views, columns)) == columns


def test_the_name_and_the_size_are_left_out_last() -> None:
    views = ("session is 130x40 +0+0", "session is 130x40", "130x40")

    assert text_of(status_line(STANDING, views, 36)).endswith("130x40 +0+0 ")
    assert text_of(status_line(STANDING, views, 26)).endswith("session is 130x40 ")
    assert text_of(status_line(STANDING, views, 16)).endswith(" 130x40 ")
    assert text_of(status_line(STANDING, views, 16)).startswith(" web")
    assert text_of(status_line(STANDING, views, 10)) == " web · 1… "


def test_a_long_notice_has_several_rows_and_an_end() -> None:
    rows = notice_rows(["word " * 200], 20)

    assert len(rows) == 3
    assert all(width_of_row(row) <= 20 for row in rows)
    assert text_of(rows[-1]).endswith("…")
