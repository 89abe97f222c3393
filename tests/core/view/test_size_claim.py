import pytest

from holdfast.core.view.size_claim import SizeClaim, TurnStatus
from holdfast.model.geometry import Size

SMALL, LARGE = Size(80, 24), Size(130, 40)
OURS = TurnStatus(is_ours=True, is_free=False, is_alone=False)
FREE = TurnStatus(is_ours=False, is_free=True, is_alone=False)
ALONE = TurnStatus(is_ours=False, is_free=True, is_alone=True)
THEIRS = TurnStatus(is_ours=False, is_free=False, is_alone=True)


def claim(size: Size = LARGE) -> SizeClaim:
    made = SizeClaim()
    made.told(size)
    return made


@pytest.mark.parametrize(
    ("footing", "arriving", "typing"),
    [
        (OURS, True, True),
        (ALONE, True, True),
        (FREE, False, True),
        (THEIRS, False, False),
    ],
)
def test_the_turn_and_the_company_decide(
    footing: TurnStatus, *, arriving: bool, typing: bool
) -> None:
    assert claim().on_arrival(SMALL, footing) is arriving
    assert claim().on_typing(SMALL, footing) is typing


def test_nothing_is_claimed_that_is_so_already_or_unknown() -> None:
    assert not claim().on_typing(LARGE, OURS)
    assert not SizeClaim().on_typing(LARGE, OURS)


def test_i1_a_size_is_claimed_once() -> None:
    ours = claim()

    assert ours.on_typing(SMALL, OURS)
    assert not ours.on_typing(SMALL, OURS)
    ours.told(LARGE)
    assert not ours.on_typing(SMALL, OURS)
    ours.forget()
    assert ours.on_typing(SMALL, OURS)
    ours.told(Size(10, 10))
    assert ours.on_typing(SMALL, OURS)
