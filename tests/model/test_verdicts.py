import enum

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.model.verdicts import Verdict, verdict_from


class Shout(enum.StrEnum):
    ALLOW = "allow"


class Sly(str):
    __slots__ = ()

    def __eq__(self, other: object) -> bool:
        return True

    def __hash__(self) -> int:
        return super().__hash__()


@pytest.mark.parametrize("verdict", Verdict)
def test_a_verdict_and_its_word_are_understood(verdict: Verdict) -> None:
    assert verdict_from(verdict) is verdict
    assert verdict_from(verdict.value) is verdict


@pytest.mark.parametrize(
    "answer",
    [
        True,
        1,
        None,
        "yes",
        "ALLOW",
        " allow",
        "allow\n",
        "",
        b"allow",
        ["allow"],
        Verdict,
        Shout.ALLOW,
        Sly("deny"),
        object(),
    ],
)
def test_whatever_else_a_plug_in_returns_is_nonsense(answer: object) -> None:
    assert verdict_from(answer) is None


@given(st.text())
def test_only_the_three_words_open_close_or_hold_the_gate(text: str) -> None:
    assert (verdict_from(text) is None) == (text not in {"allow", "deny", "ask"})
