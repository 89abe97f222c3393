import pytest
from tests.core.client.world import (
    NOBODY,
    OTHER,
    SESSION,
    US,
    attached,
    evidence,
    presence,
    view,
)

from holdfast.core.client import timeouts
from holdfast.core.client.turn_wait import TurnWait, turn
from holdfast.model.errors import (
    AskRefused,
    SessionOver,
    SessionUnreachable,
    WaitedInVain,
)
from holdfast.model.ids import Epoch
from holdfast.wire.codec import refusal
from holdfast.wire.frames import FrameKind
from holdfast.wire.messages import MAX_ASK_MS, Ask, Exited, TurnPassed
from holdfast.wire.presence import Who

GONE = SessionUnreachable(SESSION, "it hung up")


def passed() -> TurnPassed:
    return TurnPassed(
        former=OTHER,
        holder=US,
        epoch=Epoch(2),
        reason="given",
        dropped_inputs=0,
        dropped_bytes=0,
    )


def waiting(seconds: float = 30) -> TurnWait:
    wait = TurnWait(view(), seconds, 0)
    wait.linked(0)
    assert wait.hear(attached(holder=OTHER), 0) == [Ask(round(seconds * 1000)), Who()]
    return wait


def test_the_turn_is_asked_for_and_looked_at_when_it_comes() -> None:
    wait = waiting()

    assert wait.hear(presence(OTHER), 0) == []
    assert wait.hear(evidence("running"), 0) == []
    assert wait.hear(passed(), 1) == [Who()]
    assert wait.attachment.epoch == 2
    assert wait.next_deadline(1) == 1 + timeouts.ANSWER
    assert wait.hear(evidence("running"), 1) == []
    assert wait.hear(presence(US), 1) == []
    assert wait.result is not None
    assert wait.result.has_turn


def test_somebody_quicker_is_waited_for_again() -> None:
    wait = waiting()
    wait.hear(passed(), 10)

    assert wait.hear(presence(OTHER), 10) == [Ask(20_000), Who()]
    assert wait.hear(presence(OTHER), 11) == []
    wait.hear(passed(), 29.5)
    assert wait.hear(presence(OTHER), 29.5) == [Ask(500), Who()]
    wait.hear(passed(), 30)
    with pytest.raises(WaitedInVain) as told:
        wait.hear(presence(OTHER), 30)
    assert told.value.facts == {"what": "the turn", "waited_ms": 30_000}


def test_a_refusal_and_the_end_are_the_answer() -> None:
    with pytest.raises(AskRefused):
        waiting().hear(refusal(AskRefused(OTHER, "no"), FrameKind.ASK), 0)
    with pytest.raises(SessionOver):
        waiting().hear(Exited(0), 0)


def test_a_successor_is_asked_anew_while_there_is_time() -> None:
    wait = waiting()
    wait.cut(GONE, 1)
    wait.linked(1)

    assert wait.hear(attached(holder=OTHER), 10) == [Ask(20_000), Who()]
    with pytest.raises(SessionUnreachable):
        wait.cut(GONE, 30)


def test_the_holder_s_clock_counts_and_ours_makes_sure() -> None:
    wait = waiting(2)

    assert wait.next_deadline(0) == 2 + timeouts.ANSWER
    assert wait.tick(2) == []
    with pytest.raises(WaitedInVain):
        wait.tick(2 + timeouts.ANSWER)


def test_the_time_asked_for_is_one_that_can_be_said() -> None:
    assert turn(US, 0).asked == (Ask(1), Who())
    assert turn(US, 1e9).asked == (Ask(MAX_ASK_MS), Who())
    assert turn(US, 1).begin()(presence(NOBODY)) is None
