import threading
from collections.abc import Callable
from dataclasses import replace

import pytest
from tests.cli.conftest import keeper, web  # noqa: F401  # fixtures
from tests.cli.support.fakes import OTHER, US, FakeSession

from holdfast.client.calls import act, presence, request, try_input, wait_turn
from holdfast.client.driver import ask
from holdfast.core.client import questions
from holdfast.model.errors import (
    AskRefused,
    HoldfastError,
    NotAllowed,
    NotProven,
    NotYourTurn,
    SessionOver,
    WaitedInVain,
)
from holdfast.model.inputs import InputKind
from holdfast.model.verdicts import Verdict
from holdfast.wire.codec import refusal
from holdfast.wire.frames import FrameKind
from holdfast.wire.messages import Ask, Freeze, Halt, Seize, Take


def meanwhile(what: Callable[[], None]) -> threading.Thread:
    thread = threading.Thread(target=what)
    thread.start()
    return thread


def test_a_request_that_is_done_is_followed_by_how_things_stand(
    web: FakeSession,  # noqa: F811
) -> None:
    done = act(web.id, Take())

    assert done.has_turn
    assert (done.presence.epoch, done.us) == (1, US)
    assert presence(web.id).holder == US


def test_the_first_request_refused_is_the_error(web: FakeSession) -> None:  # noqa: F811
    web.operating.refusal = NotAllowed(US, "seize")

    with pytest.raises(NotAllowed):
        request(web.id, Freeze())


def test_whoever_is_not_believed_is_told_so(web: FakeSession) -> None:  # noqa: F811
    web.operating.believes = False

    with pytest.raises(NotProven):
        request(web.id, Freeze())
    with pytest.raises(NotProven):
        act(web.id, Take())


def test_a_successor_is_asked_again(web: FakeSession) -> None:  # noqa: F811
    web.operating.is_deaf = True

    def replace() -> None:
        web.wait_until(lambda: bool(web.operating.requested))
        web.die()
        web.operating.is_deaf = False
        web.revive()

    replacing = meanwhile(replace)

    assert request(web.id, Freeze()).presence.frozen
    replacing.join()
    assert web.operating.requested == [Freeze(), Freeze()]


def test_a_session_that_does_not_answer_is_not_waited_for_for_ever(
    web: FakeSession,  # noqa: F811
) -> None:
    web.operating.is_deaf = True

    with pytest.raises(WaitedInVain):
        ask(web.id, replace(questions.request(US), patience=0.05))


def test_what_an_input_would_meet_is_asked_and_nothing_done(
    web: FakeSession,  # noqa: F811
) -> None:
    tried = try_input(web.id, OTHER, InputKind.COMMAND, b"rm")

    assert (tried.verdict, tried.rule) == (Verdict.ASK, "remove-trees")
    assert web.inputs == []


def test_a_refused_question_is_an_error(web: FakeSession) -> None:  # noqa: F811
    web.operating.refusal = NotAllowed(US, "observe")

    with pytest.raises(NotAllowed):
        try_input(web.id, OTHER, InputKind.COMMAND, b"rm")


def test_a_free_turn_is_had_at_once(web: FakeSession) -> None:  # noqa: F811
    assert wait_turn(web.id, 9.0).has_turn


def test_whoever_asks_waits_until_the_turn_comes(web: FakeSession) -> None:  # noqa: F811
    web.passes_turn(OTHER)

    def give() -> None:
        web.wait_until(lambda: US in web.operating.waiting)
        web.passes_turn("", "dropped")
        web.passes_turn(US, "answered")

    giving = meanwhile(give)

    assert wait_turn(web.id, 9.0).has_turn
    giving.join()
    (asked,) = web.operating.requested
    assert isinstance(asked, Ask)


def test_whoever_loses_the_turn_at_once_asks_again(web: FakeSession) -> None:  # noqa: F811
    web.passes_turn(OTHER)

    def tease() -> None:
        web.wait_until(lambda: US in web.operating.waiting)
        with web.changed:
            web.operating.waiting.clear()
            web.pass_to(US, "given")
            web.pass_to(OTHER, "seized")
        web.wait_until(lambda: US in web.operating.waiting)
        web.passes_turn(US, "given")

    teasing = meanwhile(tease)

    assert wait_turn(web.id, 9.0).has_turn
    teasing.join()
    assert len(web.operating.requested) == 2


@pytest.mark.parametrize("error", [AskRefused(OTHER, "no"), NotYourTurn(OTHER, 1)])
def test_whoever_is_refused_is_told_why(
    error: HoldfastError,
    web: FakeSession,  # noqa: F811
) -> None:
    web.passes_turn(OTHER)

    def refuse() -> None:
        web.wait_until(lambda: US in web.operating.waiting)
        web.says(refusal(error, FrameKind.ASK))

    refusing = meanwhile(refuse)

    with pytest.raises(type(error)):
        wait_turn(web.id, 9.0)
    refusing.join()


def test_whoever_waits_waits_again_at_the_successor(web: FakeSession) -> None:  # noqa: F811
    web.passes_turn(OTHER)

    def replace() -> None:
        web.wait_until(lambda: US in web.operating.waiting)
        web.die()
        web.operating.waiting.clear()
        web.revive()
        web.wait_until(lambda: US in web.operating.waiting)
        web.passes_turn(US, "given")

    replacing = meanwhile(replace)

    assert wait_turn(web.id, 9.0).has_turn
    replacing.join()
    first, second = web.operating.requested
    assert isinstance(first, Ask)
    assert isinstance(second, Ask)
    assert second.timeout_ms <= first.timeout_ms


def test_a_session_that_ends_meanwhile_is_over(web: FakeSession) -> None:  # noqa: F811
    web.passes_turn(OTHER)

    def end() -> None:
        web.wait_until(lambda: US in web.operating.waiting)
        web.exits(0)

    ending = meanwhile(end)

    with pytest.raises(SessionOver):
        wait_turn(web.id, 9.0)
    ending.join()


def test_seizing_twice_is_seizing(web: FakeSession) -> None:  # noqa: F811
    web.passes_turn(OTHER)

    for _ in range(2):
        assert act(web.id, Seize(Halt.NONE)).has_turn
