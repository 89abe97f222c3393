from holdfast.core.view.view_choice import (
    CALM,
    FRAMED,
    MAX_REFUSALS,
    PATIENCE,
    RAW,
    ViewChoice,
)
from holdfast.model.geometry import Size

OURS, OTHER = Size(80, 24), Size(130, 40)


def test_another_size_is_framed_by_itself_and_ours_is_raw() -> None:
    choice = ViewChoice()

    assert not choice.wants_frame(OURS, None)
    assert not choice.asks(OURS, OURS, 0.0)
    assert choice.deadline(OURS, OURS) is None
    assert choice.asks(OURS, OTHER, 1.0)
    assert choice.painted(OURS, OTHER, 1.1)
    assert choice.is_framed


def test_what_was_preferred_counts() -> None:
    assert ViewChoice(FRAMED).wants_frame(OURS, OURS)
    assert not ViewChoice(RAW).wants_frame(OURS, OTHER)


def test_i1_one_keyframe_is_asked_for_at_a_time() -> None:
    choice = ViewChoice()

    assert choice.deadline(OURS, OTHER) == 0.0
    assert choice.asks(OURS, OTHER, 1.0)
    assert not choice.asks(OURS, OTHER, 1.1)
    assert choice.deadline(OURS, OTHER) == 1.0 + PATIENCE
    assert choice.asks(OURS, OTHER, 1.0 + PATIENCE)


def test_i2_a_view_changes_no_more_often_than_people_can_see() -> None:
    choice = ViewChoice()
    choice.asks(OURS, OTHER, 1.0)
    choice.painted(OURS, OTHER, 1.0)

    assert not choice.asks(OURS, OURS, 1.1)
    assert choice.deadline(OURS, OURS) == 1.0 + CALM
    assert choice.asks(OURS, OURS, 1.0 + CALM)
    assert not choice.painted(OURS, OURS, 2.0)
    assert not choice.painted(OURS, OURS, 2.1)


def test_a_key_chooses_the_other_view_and_back() -> None:
    choice = ViewChoice()

    choice.toggle(OURS, OURS)
    assert choice.preferred == FRAMED
    choice.toggle(OURS, OURS)
    assert choice.preferred == "auto"
    choice.toggle(OURS, OTHER)
    assert choice.preferred == RAW
    choice.toggle(OURS, OTHER)
    assert choice.preferred == "auto"
    assert choice.wants_frame(OURS, OTHER)


def test_a_look_back_is_framed_until_it_is_over() -> None:
    choice = ViewChoice()

    choice.look_back()
    assert choice.asks(OURS, OURS, 1.0)
    assert choice.painted(OURS, OURS, 1.0)
    choice.is_looking_back = False
    assert choice.asks(OURS, OURS, 1.0 + CALM)


def test_a_keyframe_refused_too_often_leaves_it_raw() -> None:
    choice = ViewChoice(FRAMED)
    now = 1.0
    for _ in range(MAX_REFUSALS - 1):
        assert choice.asks(OURS, OURS, now)
        assert not choice.refused(now)
        now += CALM

    assert choice.asks(OURS, OURS, now)
    assert choice.refused(now)
    assert choice.preferred == RAW
