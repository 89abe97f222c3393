import pytest
from tests.cli.support.kernel import graph, process
from tests.core.client.world import (
    CLIENT,
    OTHER,
    SESSION,
    US,
    command,
    evidence,
    presence,
)

from holdfast.core.client import questions, timeouts
from holdfast.core.client.questions import MAX_GRAPH_PARTS, NO_CLIENT, Done, Ended
from holdfast.model.errors import MalformedMessage, NotAllowed, SessionOver
from holdfast.model.ids import Epoch
from holdfast.model.inputs import InputKind
from holdfast.wire.blame import BlameRequest
from holdfast.wire.checkpoints import Checkpointed, CheckpointRequest
from holdfast.wire.codec import refusal
from holdfast.wire.commands import CommandReport, CommandRequest
from holdfast.wire.evidence import StateRequest
from holdfast.wire.frames import FrameKind
from holdfast.wire.graphs import GraphRequest, Listener
from holdfast.wire.messages import MAX_NUMBER, End, Event, Exited, Halt, Seize, Take
from holdfast.wire.preflights import Preflight, PreflightRequest
from holdfast.wire.presence import Inherited, Who
from holdfast.wire.trials import Try

NO = NotAllowed(US, "observe")


def test_a_request_is_done_once_presence_comes() -> None:
    question = questions.request(US, Take())
    gather = question.begin()

    assert question.asked == (Take(), Who())
    assert gather(evidence("running")) is None
    assert gather(refusal(NO, FrameKind.FREEZE)) is None
    done = gather(presence(US))
    assert done == Done(US, presence(US))
    assert done.has_turn
    assert not Done(US, presence(OTHER)).has_turn


def test_what_came_with_the_turn_is_in_the_answer() -> None:
    gather = questions.request(US, Seize(Halt.NONE)).begin()
    inherited = Inherited(Epoch(2), b"rm", (OTHER,), (), ())
    gather(inherited)

    done = gather(presence(US))

    assert done is not None
    assert done.inherited == inherited


def test_a_request_that_is_refused_is_the_error() -> None:
    gather = questions.request(US, Take()).begin()

    with pytest.raises(NotAllowed):
        gather(refusal(NO, FrameKind.TAKE))


def test_the_end_answers_a_request_and_not_a_look() -> None:
    assert questions.request(US).begin()(Exited(0)) is None
    with pytest.raises(SessionOver):
        questions.request(US, Take()).begin()(Exited(0))


def test_a_question_with_one_answer_waits_for_it() -> None:
    question = questions.state()
    gather = question.begin()

    assert question.asked == (StateRequest(),)
    assert gather(presence()) is None
    assert gather(evidence("at-prompt")) == evidence("at-prompt")
    with pytest.raises(NotAllowed):
        gather(refusal(NO, FrameKind.STATE_REQUEST))


def test_what_is_asked_is_what_was_meant() -> None:
    early, late = questions.blame("line", "", -5), questions.blame("moment", "", 2**70)

    assert early.asked == (BlameRequest(what="line", name="", at_ms=0),)
    assert late.asked == (BlameRequest(what="moment", name="", at_ms=MAX_NUMBER),)
    trial = questions.trial(US, InputKind.KEYS, b"ls", None)
    assert trial.asked == (Try(US, InputKind.KEYS, b"ls", None),)


def test_a_graph_is_put_together_from_its_parts() -> None:
    listener = Listener(8, "::", 80, "tcp6")
    question = questions.graph(descriptors=True)
    gather = question.begin()

    assert question.asked == (GraphRequest(descriptors=True),)
    assert gather(graph(process(7), more=True)) is None
    assert gather(presence()) is None
    assert gather(graph(process(8), listeners=(listener,))) == graph(
        process(7), process(8), listeners=(listener,)
    )


def test_a_graph_that_does_not_end_is_refused() -> None:
    gather = questions.graph(descriptors=False).begin()
    for _ in range(MAX_GRAPH_PARTS):
        gather(graph(more=True))

    with pytest.raises(MalformedMessage):
        gather(graph(more=True))


def test_what_is_in_the_way_of_a_checkpoint_is_one_answer() -> None:
    question = questions.preflight()
    told = Preflight(blockers=(), cuts=(), unlisted=0)

    assert question.asked == (PreflightRequest(),)
    assert question.begin()(told) == told
    with pytest.raises(NotAllowed):
        question.begin()(refusal(NO, FrameKind.PREFLIGHT_REQUEST))


def test_an_image_is_waited_for_longer_than_an_answer() -> None:
    question = questions.checkpoint(stop=True, label="one", key="k")
    told = Checkpointed(
        image="s.1", number=1, size=9, still_ms=5, stopped=True, cuts=()
    )

    assert question.asked == (
        CheckpointRequest(stop=True, label="one", branch=False, key="k"),
    )
    assert question.patience > questions.preflight().patience
    assert question.begin()(told) == told
    with pytest.raises(NotAllowed):
        question.begin()(refusal(NO, FrameKind.CHECKPOINT_REQUEST))


def test_a_graph_that_is_refused_is_the_error() -> None:
    with pytest.raises(NotAllowed):
        questions.graph(descriptors=False).begin()(refusal(NO, FrameKind.GRAPH_REQUEST))


def test_what_was_refused_to_another_request_is_no_answer() -> None:
    other = refusal(NO, FrameKind.TAKE)

    assert questions.graph(descriptors=False).begin()(other) is None
    assert questions.state().begin()(other) is None
    assert questions.reports(CLIENT).begin()(other) is None


def test_each_client_is_reported_on_in_turn() -> None:
    question = questions.reports(CLIENT, NO_CLIENT)
    gather = question.begin()
    ours, last = CommandReport("running", command(1, None)), CommandReport("", None)

    assert question.asked == (CommandRequest(CLIENT), CommandRequest(NO_CLIENT))
    assert gather(ours) is None
    assert gather(presence()) is None
    assert gather(last) == [ours, last]
    with pytest.raises(NotAllowed):
        gather(refusal(NO, FrameKind.COMMAND_REQUEST))


def test_the_end_is_waited_for_longer_than_an_answer() -> None:
    question = questions.end(1, leave=True)
    gather = question.begin()

    assert question.asked == (End(1, leave=True),)
    assert question.patience == timeouts.END
    assert gather(presence(US)) is None
    assert gather(Event("session.swept", SESSION, {"left": 2})) is None
    assert gather(Exited(3)) == Ended(3, {"left": 2})
    with pytest.raises(NotAllowed):
        gather(refusal(NotAllowed("a_x", "end"), FrameKind.END))
    with pytest.raises(NotAllowed):
        gather(refusal(NO, FrameKind.END))
