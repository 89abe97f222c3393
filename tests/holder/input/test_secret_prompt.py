import pytest

from holdfast.core.session.session_state import Evidence, Sleeper, Wait
from holdfast.holder.input.secret_prompt import demand_waiting
from holdfast.model.errors import NotWaiting, WouldBeShown


def seen(wait: Wait, *, echo: bool, canonical: bool = True) -> Evidence:
    one = Sleeper(pid=7, name="it", state="sleeping", wait=wait, where="waits")
    return Evidence(7, (one,), echo, canonical)


@pytest.mark.parametrize("canonical", [True, False])
def test_an_answer_is_taken_where_a_program_waits_and_nothing_shows(
    *, canonical: bool
) -> None:
    demand_waiting(seen(Wait.READING, echo=False, canonical=canonical))


@pytest.mark.parametrize("canonical", [True, False])
def test_an_answer_that_the_terminal_would_show_is_refused(*, canonical: bool) -> None:
    with pytest.raises(WouldBeShown):
        demand_waiting(seen(Wait.READING, echo=True, canonical=canonical))


@pytest.mark.parametrize("wait", [Wait.ELSEWHERE, Wait.NOTHING])
def test_an_answer_that_nobody_waits_for_is_refused(wait: Wait) -> None:
    with pytest.raises(NotWaiting):
        demand_waiting(seen(wait, echo=False))


def test_an_answer_is_not_typed_at_a_prompt() -> None:
    shell = Sleeper(
        pid=7,
        name="bash",
        state="sleeping",
        wait=Wait.READING,
        where="waits",
        keeps_jobs=True,
    )

    with pytest.raises(NotWaiting) as refused:
        demand_waiting(Evidence(7, (shell,), echo=False, canonical=False))
    assert refused.value.facts == {"state": "at-prompt"}
