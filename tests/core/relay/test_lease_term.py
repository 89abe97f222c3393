import math

import pytest

from holdfast.core.relay.lease_term import EXPIRED, LeaseTerm
from holdfast.model.ids import Incarnation

LIFE = Incarnation(2)


def test_i1_it_speaks_until_its_expiry_and_not_at_it() -> None:
    term = LeaseTerm(LIFE, 10.0)

    assert term.may_speak(9.999)
    assert not term.may_speak(10.0)
    assert not term.may_speak(math.inf)


def test_i1_a_later_expiry_lets_it_speak_again() -> None:
    term = LeaseTerm(LIFE, 10.0)

    assert term.told(LIFE, 30.0)

    assert term.may_speak(20.0)
    assert term.why == EXPIRED


def test_a_reason_is_kept_for_people() -> None:
    term = LeaseTerm(LIFE, 10.0)

    assert term.told(LIFE, 0.0, "another host claims it")

    assert not term.may_speak(1.0)
    assert term.why == "another host claims it"


@pytest.mark.parametrize("life", [1, 3])
def test_i2_a_word_about_another_life_changes_nothing(life: int) -> None:
    term = LeaseTerm(LIFE, 10.0)

    assert not term.told(life, 99.0)

    assert not term.may_speak(50.0)


def test_i3_what_another_life_took_over_is_silent_for_good() -> None:
    term = LeaseTerm(LIFE, 10.0)

    assert term.told(LIFE, 99.0, "incarnation 3 lives elsewhere", successor=3)
    assert not term.told(LIFE, 99.0)

    assert not term.may_speak(1.0)
    assert term.successor == 3
