from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from holdfast.core.capsule.retention import Bounds, Kept, has_room, removable
from holdfast.model.ids import SessionId

ONE, OTHER = SessionId("s_one"), SessionId("s_other")
MUCH = 10**9


def image(number: int, session: SessionId = ONE, size: int = 10) -> Kept:
    return Kept(session, number, number, size, "", is_session=False)


def test_nothing_is_removed_while_both_bounds_hold() -> None:
    assert removable([image(1), image(2)], Bounds(2, 20)) == [], "I5"


def test_the_oldest_of_a_session_go_first() -> None:
    images = [image(number) for number in (3, 1, 4, 2)]

    assert removable(images, Bounds(2, MUCH)) == [image(1), image(2)]


def test_each_session_has_its_own_count() -> None:
    images = [image(1), image(2), image(1, OTHER), image(2, OTHER)]

    assert removable(images, Bounds(2, MUCH)) == []


def test_all_sessions_share_the_disk() -> None:
    images = [image(1), image(2), image(3, OTHER), image(4, OTHER)]

    assert removable(images, Bounds(9, 25)) == [image(1), image(3, OTHER)]


def test_the_newest_of_a_session_stays_whatever_it_takes() -> None:
    assert removable([image(1, size=MUCH)], Bounds(0, 0)) == [], "I1"


def test_the_newest_is_the_one_with_the_highest_number() -> None:
    set_back = replace(image(2), made_ms=0)

    assert removable([image(1), set_back], Bounds(1, MUCH)) == [image(1)], "I1"


def test_what_a_session_consists_of_stays() -> None:
    stopped = replace(image(1), is_session=True)

    assert removable([stopped, image(2), image(3)], Bounds(1, 0)) == [image(2)], "I2"


def test_labels_take_no_more_than_all_images_may() -> None:
    named = [replace(image(number), label="good") for number in (1, 2)]

    assert has_room(named, Bounds(9, 21)), "I3"
    assert not has_room(named, Bounds(9, 20)), "I3"
    assert has_room([*named, image(3, size=MUCH)], Bounds(9, 21)), "I3"


def test_what_has_a_label_stays_and_is_not_counted() -> None:
    named = replace(image(1), label="good")

    assert removable([named, image(2), image(3)], Bounds(2, MUCH)) == [], "I3"
    assert removable([named, image(2), image(3)], Bounds(1, 0)) == [image(2)], "I3"


@given(
    st.lists(
        st.builds(
            Kept,
            st.sampled_from((ONE, OTHER)),
            st.integers(1, 12),
            st.integers(0, 5),
            st.integers(0, 9),
            st.sampled_from(("", "", "label")),
            st.booleans(),
        ),
        max_size=12,
        unique_by=lambda one: (one.session, one.number),
    ),
    st.builds(Bounds, st.integers(0, 5), st.integers(0, 40)),
)
def test_what_stays_is_missed_and_what_goes_is_not(
    images: list[Kept], bounds: Bounds
) -> None:
    gone = removable(images, bounds)
    left = [one for one in images if one not in gone]

    assert all(not (one.label or one.is_session) for one in gone), "I2, I3"
    for session in {one.session for one in images}:
        newest = max(one.number for one in images if one.session == session)
        assert any(one.number == newest for one in left), "I1"
    assert removable(left, bounds) == [], "once is enough"
