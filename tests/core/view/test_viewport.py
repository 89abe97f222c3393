from hypothesis import given
from hypothesis import strategies as st

from holdfast.core.view.viewport import Viewport
from holdfast.model.geometry import Size

SIDES = st.integers(1, 40)


def test_it_follows_the_cursor_and_no_more_than_it_must() -> None:
    view, session, room = Viewport(), Size(100, 50), Size(20, 10)

    view.follow(session, room, (30, 5))
    assert (view.top, view.left) == (21, 0)
    view.follow(session, room, (25, 90))
    assert (view.top, view.left) == (21, 71)
    view.follow(session, room, (15, 0))
    assert (view.top, view.left) == (15, 0)
    assert view.place((15, 0), room) == (0, 0)
    assert view.place((14, 0), room) is None
    view.follow(session, room, (3, 0))
    assert (view.top, view.left) == (0, 0)


def test_somebody_may_look_elsewhere_until_the_cursor_moves() -> None:
    view, session, room = Viewport(), Size(100, 50), Size(20, 10)
    view.follow(session, room, (1, 1))

    view.pan(30, 400)
    view.follow(session, room, (1, 1))
    assert (view.top, view.left) == (30, 80)
    view.follow(session, room, (1, 2))
    assert (view.top, view.left) == (0, 0)


@given(st.lists(st.tuples(SIDES, SIDES, SIDES, SIDES, st.data()), max_size=5))
def test_i1_what_is_shown_lies_within_the_session_and_has_the_cursor(
    steps: list[tuple[int, int, int, int, st.DataObject]],
) -> None:
    view = Viewport()
    for columns, rows, wide, high, data in steps:
        session, room = Size(columns, rows), Size(wide, high)
        cursor = data.draw(
            st.tuples(st.integers(0, rows - 1), st.integers(0, columns - 1))
        )
        view.follow(session, room, cursor)
        assert 0 <= view.top <= max(0, rows - high)
        assert 0 <= view.left <= max(0, columns - wide)
        assert view.place(cursor, room) is not None
