import math

import pytest
from msgspec.structs import replace
from tests.cli.support.kernel import graph, process
from tests.core.client.world import SESSION, evidence, presence

from holdfast.core.client import state_wait, timeouts
from holdfast.core.client.state_wait import (
    FIRST_STEP,
    LAST_STEP,
    Departed,
    Watch,
)
from holdfast.model.errors import SessionOver, SessionUnreachable, WaitedInVain
from holdfast.wire.evidence import Evidence, StateRequest
from holdfast.wire.graphs import GraphRequest, Listener

GONE = SessionUnreachable(SESSION, "it hung up")


def watching(until: float = math.inf) -> Watch[Evidence, Evidence]:
    watch = Watch(SESSION, state_wait.state("at-prompt"), 0, until)
    assert watch.linked(0) == [StateRequest()]
    return watch


def test_it_is_asked_ever_more_rarely_until_it_is_so() -> None:
    watch = watching()
    now, steps = 0.0, []
    for _ in range(9):
        watch.hear(evidence("running"), now)
        assert watch.tick(now) == []
        steps.append(watch.next_deadline(now) - now)
        now = watch.next_deadline(now)
        assert watch.tick(now) == [StateRequest()]

    assert steps[0] == pytest.approx(FIRST_STEP)
    assert steps[-1] == pytest.approx(LAST_STEP)
    assert steps == sorted(steps)
    assert watch.hear(presence(), now) == []
    assert watch.hear(evidence("at-prompt"), now) == []
    assert watch.result == evidence("at-prompt")


def test_the_last_look_is_when_the_time_is_over() -> None:
    watch = watching(0.01)
    watch.hear(evidence("running"), 0.001)

    assert watch.next_deadline(0.001) == 0.01
    assert watch.tick(0.01) == [StateRequest()]
    watch.hear(evidence("running"), 0.02)
    with pytest.raises(WaitedInVain) as told:
        watch.tick(0.02)
    assert told.value.facts == {"what": "at-prompt", "waited_ms": 10}


def test_how_long_was_waited_is_counted_from_the_beginning() -> None:
    watch = Watch(SESSION, state_wait.state("at-prompt"), 2, 5)
    for now, waited in ((5, 3000), (9, 3000)):
        with pytest.raises(WaitedInVain) as told:
            watch.cut(GONE, now)
        assert told.value.facts["waited_ms"] == waited


def test_before_it_has_a_link_it_is_due_at_once() -> None:
    watch = Watch(SESSION, state_wait.state("at-prompt"), 2, 5)

    assert watch.next_deadline(2) == 2
    assert watch.tick(2) == [StateRequest()]


def test_an_answer_nobody_asked_for_is_none() -> None:
    watch = watching()
    watch.hear(evidence("running"), 0)

    assert watch.hear(evidence("at-prompt"), 0) == []
    assert watch.result is None


def test_a_holder_that_does_not_answer_is_left() -> None:
    watch = watching()

    assert watch.next_deadline(0) == timeouts.ANSWER
    assert watch.tick(timeouts.ANSWER - 1) == []
    with pytest.raises(SessionUnreachable):
        watch.tick(timeouts.ANSWER)


def test_a_successor_is_asked_unless_nobody_has_answered_for_long() -> None:
    watch = watching(60)
    watch.dials(0)
    watch.hear(evidence("running"), 1)
    watch.dials(2)
    watch.cut(GONE, 3)
    watch.dials(3)
    watch.cut(GONE, 2 + timeouts.LOSS - 1)

    with pytest.raises(SessionUnreachable):
        watch.cut(GONE, 2 + timeouts.LOSS)
    with pytest.raises(WaitedInVain):
        watch.cut(GONE, 60)


def test_a_session_that_ended_comes_to_no_prompt() -> None:
    with pytest.raises(SessionOver):
        watching().hear(evidence("exited"), 0)
    over = state_wait.state("exited", "lost").judge
    assert over(evidence("exited")) == evidence("exited")


def test_a_port_is_found_once_somebody_listens() -> None:
    assert state_wait.port(80).question.asked == (GraphRequest(descriptors=False),)
    judge = state_wait.port(80).judge
    listener = Listener(8, "::", 80, "tcp6")

    assert judge(graph(process(8))) is None
    assert judge(graph(process(8), listeners=(Listener(8, "::", 81, "tcp6"),))) is None
    assert judge(graph(process(8), listeners=(listener,))) == listener
    with pytest.raises(SessionOver):
        judge(graph())


def test_a_process_has_ended_even_if_its_number_goes_on() -> None:
    assert state_wait.departure(8).question.asked == (GraphRequest(descriptors=False),)
    judge = state_wait.departure(8).judge

    assert judge(graph(process(7), process(8))) is None
    assert judge(graph(process(7), process(8))) is None
    again = replace(process(8), started_ticks=81)
    assert judge(graph(again)) == Departed(8, was_seen=True)
    assert judge(graph(process(7))) == Departed(8, was_seen=True)
    assert state_wait.departure(9).judge(graph(again)) == Departed(9, was_seen=False)
