import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.model import errors
from holdfast.model.errors import (
    Fact,
    Forbidden,
    HoldfastError,
    LeaseHeld,
    PeerError,
    StaleIncarnation,
    Unavailable,
    UnknownFrameKind,
    Unsettled,
    UsageError,
    from_facts,
    leaves,
)

BRANCHES = (UsageError, Forbidden, PeerError, Unavailable, Unsettled)
LEAVES = leaves()

leaf = pytest.mark.parametrize("kind", LEAVES, ids=lambda kind: kind.code)


def facts_for(kind: type[HoldfastError]) -> dict[str, Fact]:
    return {
        name: 7 if wanted is int else f"the {name}"
        for name, wanted in kind.fields.items()
    }


def test_every_error_class_is_a_branch_or_a_leaf() -> None:
    found = {
        value
        for value in vars(errors).values()
        if isinstance(value, type) and issubclass(value, HoldfastError)
    }

    assert found == {HoldfastError, *BRANCHES, *LEAVES}


def test_every_code_is_used_once() -> None:
    codes = [kind.code for kind in LEAVES]

    assert len(codes) == len(set(codes))
    assert HoldfastError.code not in codes


@leaf
def test_a_code_is_lower_case_words(kind: type[HoldfastError]) -> None:
    assert kind.code.replace("-", "").isalpha()
    assert kind.code == kind.code.lower()


@leaf
def test_a_leaf_hangs_on_one_branch(kind: type[HoldfastError]) -> None:
    assert sum(issubclass(kind, branch) for branch in BRANCHES) == 1
    assert kind.__base__ in BRANCHES


@leaf
def test_a_leaf_says_what_happened_and_what_to_do(kind: type[HoldfastError]) -> None:
    assert (kind.__doc__ or "").split("\n")[0].endswith(".")
    if not issubclass(kind, PeerError):
        assert kind.next_step.endswith((".", ".)"))


@leaf
def test_only_what_may_succeed_later_is_retryable(kind: type[HoldfastError]) -> None:
    assert not kind.retryable or issubclass(kind, Unavailable)


@leaf
def test_facts_are_texts_and_numbers_by_the_names_of_the_parameters(
    kind: type[HoldfastError],
) -> None:
    facts = facts_for(kind)

    error = kind(**facts)  # type: ignore[arg-type]

    assert set(kind.fields.values()) <= {str, int}
    assert error.facts == facts
    assert str(error)


@leaf
def test_a_leaf_crosses_the_wire_as_code_and_facts(kind: type[HoldfastError]) -> None:
    error = kind(**facts_for(kind))  # type: ignore[arg-type]

    again = from_facts(error.code, error.facts, "")

    assert type(again) is kind
    assert str(again) == str(error)
    assert again.facts == error.facts


def test_an_unknown_code_keeps_what_the_other_side_said() -> None:
    error = from_facts("from-the-future", {"depth": 3}, "too deep")

    assert type(error) is HoldfastError
    assert str(error) == "too deep"
    assert error.facts == {"depth": 3}


@pytest.mark.parametrize(
    "facts",
    [
        {},
        {"kind": "0x07"},
        {"kind": True},
        {"kind": 7, "more": 1},
        {"self": 1, "sentence": "x"},
    ],
)
def test_facts_that_do_not_fit_keep_what_the_other_side_said(
    facts: dict[str, Fact],
) -> None:
    error = from_facts(UnknownFrameKind.code, facts, "as they said it")

    assert type(error) is HoldfastError
    assert str(error) == "as they said it"
    assert error.facts == facts


@given(
    st.sampled_from([kind.code for kind in LEAVES]) | st.text(),
    st.dictionaries(st.text(max_size=9), st.text() | st.integers(), max_size=4),
    st.text(),
)
def test_no_description_of_an_error_is_itself_an_error(
    code: str, facts: dict[str, Fact], sentence: str
) -> None:
    assert isinstance(from_facts(code, facts, sentence), HoldfastError)


@pytest.mark.parametrize(
    ("values", "named"),
    [
        ((), {}),
        ((1,), {}),
        ((1, 2, 3), {}),
        ((1, 2), {"size": 1}),
        ((1,), {"sizes": 2}),
    ],
)
def test_an_error_takes_its_facts_and_no_others(
    values: tuple[int, ...], named: dict[str, int]
) -> None:
    with pytest.raises(TypeError, match="FrameTooLarge takes"):
        errors.FrameTooLarge(*values, **named)


def test_the_facts_of_an_error_are_its_attributes() -> None:
    error = errors.FrameTooLarge(9, limit=8)

    assert (error.size, error.limit) == (9, 8)
    assert str(error) == "a frame of 9 bytes is over the limit of 8"


def test_leaves_of_one_branch_can_be_listed() -> None:
    assert LeaseHeld in leaves(Unavailable)
    assert StaleIncarnation not in leaves(Unavailable)


@pytest.mark.parametrize("kind", [errors.NotYourTurn, errors.TurnMoved])
def test_a_free_turn_is_held_by_nobody(kind: type[HoldfastError]) -> None:
    error = from_facts(kind.code, {"holder": "", "epoch": 3}, "")

    assert "nobody" in str(error)
