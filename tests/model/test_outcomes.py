from typing import get_args

from holdfast.model import outcomes
from holdfast.model.errors import Busy
from holdfast.model.ids import Index
from holdfast.model.outcomes import Applied, Cut, Dropped, Outcome, Refused, Unknown


def test_every_outcome_is_named_in_the_table_above_them() -> None:
    for kind in get_args(Outcome):
        assert f"    {kind.__name__.upper()} " in (outcomes.__doc__ or "")


def test_outcomes_of_one_entry_are_told_apart() -> None:
    index = Index(7)

    found = {Applied(index), Dropped(index), Cut(index, 3), Unknown(index)}

    assert len(found) == 4


def test_a_refusal_carries_its_error() -> None:
    assert Refused(Busy(queued=1, limit=1)).error.retryable
