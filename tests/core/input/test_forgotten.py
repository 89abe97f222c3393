import pytest

from holdfast.core.input import forgotten
from holdfast.core.input.forgotten import MAX_MARKS, Forgotten
from holdfast.model.ids import ActorId, ClientId, Epoch

ANNA, BOT = ActorId("anna"), ActorId("bot")
NOW, LATER = Epoch(3), Epoch(4)


def client(number: int) -> ClientId:
    return ClientId(f"c_{number}")


def kept(*numbers: int, epoch: Epoch = NOW) -> Forgotten:
    made = Forgotten()
    made.begin(NOW)
    for number in numbers:
        made.add(ANNA, client(number), epoch, number + 1)
    return made


def test_nothing_is_known_of_somebody_who_was_never_here() -> None:
    assert Forgotten().following(ANNA, client(1)) is None
    assert not Forgotten().may_hold(Epoch(0))


def test_i1_whoever_wrote_in_this_turn_goes_on_where_it_was() -> None:
    made = kept(*range(1, 100))

    assert [made.following(ANNA, client(at)) for at in (1, 50, 99)] == [2, 51, 100]
    assert made.following(ANNA, client(100)) is None
    assert made.following(BOT, client(1)) is None
    assert not made.may_hold(NOW)


def test_i1_whoever_is_forgotten_twice_goes_on_where_it_was_last() -> None:
    made = kept(5)
    made.add(ANNA, client(5), NOW, 9)
    made.add(ANNA, client(5), NOW, 8)

    assert made.following(ANNA, client(5)) == 9


def test_i1_whoever_wrote_earlier_is_known_by_its_epoch() -> None:
    made = kept(1, epoch=Epoch(2))

    assert made.following(ANNA, client(1)) is None
    assert (made.may_hold(Epoch(2)), made.may_hold(NOW)) == (True, False)


def test_i1_marks_become_an_epoch_when_the_turn_changes_hands() -> None:
    made = kept(1)
    made.begin(NOW)
    assert made.following(ANNA, client(1)) == 2

    made.begin(LATER)

    assert made.following(ANNA, client(1)) is None
    assert (made.may_hold(NOW), made.may_hold(LATER)) == (True, False)


def test_a_turn_in_which_nobody_was_forgotten_leaves_nothing() -> None:
    made = kept()
    made.begin(LATER)

    assert not made.may_hold(NOW)


def test_i2_beyond_the_bound_all_of_the_epoch_may_be_known(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert MAX_MARKS == 65_536
    monkeypatch.setattr(forgotten, "MAX_MARKS", 3)
    made = kept(1, 2, 3)
    assert made.is_full
    assert not made.may_hold(NOW)

    made.add(ANNA, client(4), NOW, 5)

    assert made.may_hold(NOW)
    assert not made.may_hold(LATER)
