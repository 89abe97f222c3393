import sys

from coverage import Coverage
from hypothesis import given
from hypothesis import strategies as st


@given(st.none())
def test_nothing_is_traced_while_a_property_runs(drawn: None) -> None:
    assert (drawn, sys.gettrace()) == (None, None)


def test_an_ordinary_test_is_traced_if_anything_is() -> None:
    assert (sys.gettrace() is None) == (Coverage.current() is None)
