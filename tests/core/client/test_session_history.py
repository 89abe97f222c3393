from hypothesis import given
from hypothesis import strategies as st

from holdfast.core.client.session_history import MAX_VISITED, SessionHistory

IDS = ["s_1", "s_2", "s_3"]


def test_next_and_previous_go_in_a_circle() -> None:
    tour = SessionHistory("s_1")

    assert (tour.step(IDS, 1), tour.step(IDS, -1)) == ("s_2", "s_3")
    tour.goes("s_3")
    assert (tour.step(IDS, 1), tour.step(IDS, -1)) == ("s_1", "s_2")


def test_alone_there_is_nowhere_to_go() -> None:
    tour = SessionHistory("s_1")

    assert tour.step(["s_1"], 1) is None
    assert tour.step([], -1) is None
    assert tour.last(["s_1"]) is None


def test_from_a_session_that_is_gone_one_comes_to_the_ends() -> None:
    tour = SessionHistory("s_9")

    assert (tour.step(IDS, 1), tour.step(IDS, -1)) == ("s_1", "s_3")


def test_last_is_the_one_before_that_there_still_is() -> None:
    tour = SessionHistory("s_1")
    for one in ("s_2", "s_3"):
        tour.goes(one)

    assert tour.last(IDS) == "s_2"
    assert tour.last(["s_1", "s_3"]) == "s_1"
    tour.goes("s_2")
    assert tour.last(IDS) == "s_3"


def test_what_could_not_be_shown_was_not_visited() -> None:
    tour = SessionHistory("s_1")
    tour.goes("s_2")

    tour.returns("s_1")

    assert tour.here == "s_1"
    assert tour.last(IDS) is None


@given(st.lists(st.sampled_from(IDS), max_size=200), st.sampled_from([1, -1]))
def test_no_step_leads_to_where_we_are_and_each_can_be_taken_back(
    visits: list[str], by: int
) -> None:
    tour = SessionHistory("s_1")
    for one in visits:
        tour.goes(one)
    was = tour.here

    found = tour.step(IDS, by)
    assert found not in (None, was)
    assert tour.last(IDS) != was
    tour.goes(str(found))
    assert tour.step(IDS, -by) == was
    assert tour.last(IDS) == was


def test_what_is_remembered_is_bounded() -> None:
    tour = SessionHistory("s_0")
    for number in range(1000):
        tour.goes(f"s_{number}")

    assert len(tour._visited) == MAX_VISITED  # noqa: SLF001  # what is remembered
    assert tour.here == "s_999"
