from holdfast.keeper.replaced import MAX_KEPT, Replaced
from holdfast.linux.replacements import Replacement
from holdfast.model import holder_orders as orders
from holdfast.model.process_status import ReplacedProcesses

JUDGE = Replacement("judge", 7, "it was stopped", 1000)
HOLDER = Replacement("holder", 8, "it ran without an end", 1000, "s_1")


def told(replaced: Replaced, session: str, created_ms: object = 0) -> list[object]:
    return [one.pid for one in replaced.news(session, created_ms)]


def test_every_session_is_told_once_of_what_serves_them_all() -> None:
    replaced = Replaced()
    replaced.note(JUDGE)

    assert replaced.news("s_1", 0) == [orders.Replaced("judge", 7, "it was stopped")]
    assert told(replaced, "s_1") == []
    assert told(replaced, "s_2", None) == [7]


def test_a_holder_is_its_own_session_s_business() -> None:
    replaced = Replaced()
    replaced.note(HOLDER)

    assert told(replaced, "s_2") == []
    assert told(replaced, "s_1") == [8]


def test_a_session_is_not_told_what_was_before_it() -> None:
    replaced = Replaced()
    replaced.note(JUDGE)

    assert told(replaced, "s_1", 1001) == []


def test_a_session_that_was_forgotten_costs_nothing() -> None:
    replaced = Replaced()
    replaced.note(JUDGE)
    told(replaced, "s_1")
    replaced.drop("s_1")
    replaced.drop("s_1")

    assert told(replaced, "s_1") == [7]


def test_no_more_are_kept_than_are_of_use() -> None:
    replaced = Replaced()
    for _ in range(2 * MAX_KEPT):
        replaced.note(JUDGE)

    assert told(replaced, "s_1") == [7] * MAX_KEPT
    assert replaced.status().count_ == 2 * MAX_KEPT


def test_the_last_is_told_in_a_sentence() -> None:
    replaced = Replaced()
    assert replaced.status() == ReplacedProcesses()
    replaced.note(HOLDER)

    assert replaced.status().last == (
        "the holder of s_1 (pid 8): it ran without an end"
    )
