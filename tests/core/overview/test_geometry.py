from hypothesis import given
from hypothesis import strategies as st

from holdfast.core.overview.geometry import NOWHERE, Rect, parts, tiles

SIDES = st.integers(-1, 520)


@given(SIDES, st.integers(-1, 210))
def test_parts_lie_on_the_screen_and_do_not_overlap(columns: int, rows: int) -> None:
    found = [one for one in parts(columns, rows) if one.is_there]

    assert parts(columns, rows).rows.is_there
    for one in found:
        assert one.column >= 0
        assert one.column + one.columns <= max(1, columns)
        assert one.row >= 0
        assert one.row + one.rows <= max(1, rows)
    for one in found:
        for other in found:
            assert one is other or not _overlaps(one, other)


@given(SIDES, st.integers(-1, 210), st.integers(0, 500))
def test_tiles_lie_on_the_screen_and_do_not_overlap(
    columns: int, rows: int, count: int
) -> None:
    found = tiles(columns, rows, count)

    assert found
    assert len(found) <= max(1, count) + 12
    for at, one in enumerate(found):
        assert one.is_there
        assert one.column + one.columns <= max(1, columns)
        assert not any(_overlaps(one, other) for other in found[:at])


def test_a_small_terminal_has_only_the_list() -> None:
    found = parts(20, 5)

    assert found.preview == NOWHERE
    assert found.titles.rows == 0
    assert (found.header.rows, found.rows.rows, found.footer.rows) == (1, 3, 1)


def test_a_terminal_of_common_size_has_the_preview_below_and_a_wide_one_beside() -> (
    None
):
    below, beside = parts(80, 24).preview, parts(200, 50).preview

    assert (below.column, below.columns) == (0, 80)
    assert beside.column > 0
    assert beside.columns >= 100


def test_two_rows_have_no_footer_and_one_has_no_header() -> None:
    assert parts(80, 2).footer == NOWHERE
    assert not parts(80, 1).header.is_there


def test_tiles_are_as_large_as_they_can_be() -> None:
    assert tiles(80, 24, 1) == [Rect(0, 1, 80, 22)]
    assert len(tiles(80, 24, 4)) == 4
    assert len(tiles(80, 24, 50)) == 4
    assert len(tiles(200, 60, 4)) == 4
    assert tiles(200, 60, 4)[0].columns == 100
    assert len(tiles(200, 60, 50)) == 30


def _overlaps(one: Rect, other: Rect) -> bool:
    return (
        one.column < other.column + other.columns
        and other.column < one.column + one.columns
        and one.row < other.row + other.rows
        and other.row < one.row + one.rows
    )
