import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.core.client.session_choice import (
    MAX_QUERY,
    Candidate,
    Chosen,
    Closed,
    SessionChoice,
)

ALL = [
    Candidate("s_1", "web", "running", "npm run dev"),
    Candidate("s_2", "db", "dozing", "psql shop"),
    Candidate("s_3", "webhook", "running", "node"),
    Candidate("s_4", "old-web", "frozen", "sh"),
]
KEYS = [
    *("Up", "Down", "PageUp", "PageDown", "Home", "End", "Enter", "Escape"),
    *("BSpace", "C-u", "C-w", "w", "e", "b", " ", "x", "Left", "日"),
]


def typed(choice: SessionChoice, *keys: str) -> list[str]:
    for key in keys:
        assert choice.pressed(key) is None
    return [one.label for one in choice.rows(99)]


def test_without_a_query_all_are_offered_in_their_order() -> None:
    choice = SessionChoice(ALL, "s_3")

    assert choice.rows(99) == ALL
    assert choice.count == (4, 4)
    assert choice.pressed("Enter") == Chosen("s_3")


def test_the_first_is_chosen_if_nobody_says_which() -> None:
    assert SessionChoice(ALL, "s_9").pressed("Enter") == Chosen("s_1")


def test_what_is_typed_leaves_those_that_fit_with_the_best_first() -> None:
    choice = SessionChoice(ALL, "s_4")

    assert typed(choice, *"WEB") == ["web", "webhook", "old-web"]
    assert choice.chosen == ALL[0]
    assert choice.count == (3, 4)
    assert typed(choice, *" npm") == ["web"]
    assert typed(choice, *"xx") == []
    assert choice.chosen is None
    assert choice.pressed("Enter") is None


def test_state_command_and_id_are_found_too() -> None:
    assert typed(SessionChoice(ALL), *"doz") == ["db"]
    assert typed(SessionChoice(ALL), *"s_3") == ["webhook"]
    assert typed(SessionChoice(ALL), *"sh") == ["db", "old-web"]


def test_a_query_can_be_shortened() -> None:
    choice = SessionChoice(ALL)
    typed(choice, *"web npm")

    typed(choice, "BSpace")
    assert choice.query == "web np"
    typed(choice, "C-w")
    assert choice.query == "web"
    assert typed(choice, "C-u") == [one.label for one in ALL]
    assert choice.query == ""


def test_a_query_has_an_end() -> None:
    choice = SessionChoice(ALL)
    typed(choice, *"w" * 500)

    assert len(choice.query) == MAX_QUERY


def test_keys_move_the_choice_in_a_circle() -> None:
    choice = SessionChoice(ALL)

    def at(key: str) -> str:
        choice.pressed(key)
        return choice.chosen.id if choice.chosen else ""

    assert [at(key) for key in ("Down", "Up", "Up", "Down", "End", "Home")] == [
        *("s_2", "s_1", "s_4", "s_1", "s_4", "s_1")
    ]
    assert [at(key) for key in ("Tab", "C-p", "C-e", "C-n", "C-n", "C-a")] == [
        *("s_2", "s_1", "s_4", "s_1", "s_2", "s_1")
    ]
    choice.rows(2)
    assert [at(key) for key in ("PageDown", "PageDown", "PageUp", "PageUp")] == [
        *("s_3", "s_4", "s_2", "s_1")
    ]


def test_nothing_moves_in_an_empty_list() -> None:
    choice = SessionChoice([])

    assert choice.pressed("Down") is None
    assert choice.chosen is None
    assert choice.rows(5) == []


@pytest.mark.parametrize("key", ["Escape", "C-c", "C-g", "C-]"])
def test_escape_closes_the_list(key: str) -> None:
    assert SessionChoice(ALL).pressed(key) == Closed()


def test_the_chosen_one_stays_chosen_when_others_come_and_go() -> None:
    choice = SessionChoice(ALL, "s_3")

    choice.offer([Candidate("s_0", "new"), *ALL[2:]])
    assert choice.chosen == ALL[2]
    choice.offer(ALL[:1])
    assert choice.chosen == ALL[0]


@given(st.lists(st.sampled_from(KEYS)), st.integers(-1, 6))
def test_the_chosen_one_fits_and_is_to_be_seen(keys: list[str], room: int) -> None:
    choice = SessionChoice(ALL, "s_2")
    for key in keys:
        choice.pressed(key)

        shown = choice.rows(room)
        assert len(shown) <= max(0, room)
        assert (choice.chosen is None) == (choice.count[0] == 0)
        assert room < 1 or choice.chosen is None or choice.chosen in shown


@pytest.mark.parametrize("count", [0, 500])
def test_any_number_can_be_chosen_from(count: int) -> None:
    many = [Candidate(f"s_{number}", f"name-{number}") for number in range(count)]
    choice = SessionChoice(many)
    choice.pressed("End")

    assert len(choice.rows(20)) == min(count, 20)
    assert typed(choice, *"499") == (["name-499"] if count else [])
