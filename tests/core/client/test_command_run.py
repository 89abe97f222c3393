import re

import pytest
from tests.cli.support.operating import US, waiting
from tests.core.client.run_world import (
    CLIENT,
    FAR,
    begun,
    command,
    evidence,
    linked_again,
    refused,
    typed,
)

from holdfast.core.client import timeouts
from holdfast.core.client.command_output import Stop
from holdfast.core.client.command_run import (
    LAST_WORD,
    PROMPT_PATIENCE,
    RETRY,
    CommandRun,
    Wish,
)
from holdfast.core.client.timeouts import WITHDRAWAL
from holdfast.model.errors import (
    ApprovalPending,
    ApprovalTimeout,
    CommandGoesOn,
    DeniedByOperator,
    LineUnfinished,
    NotAtPrompt,
    NotYourTurn,
    OutcomeForgotten,
    OutcomeUnknown,
    SessionOver,
)
from holdfast.model.ids import (
    ClientId,
    Index,
)
from holdfast.model.verdicts import Verdict
from holdfast.wire.commands import (
    CommandEnded,
    CommandReport,
    CommandRequest,
    CommandStarted,
)
from holdfast.wire.evidence import StateRequest
from holdfast.wire.messages import (
    Acknowledge,
    Deny,
    Exited,
    Output,
    Settled,
    Submit,
)


def test_the_line_is_typed_and_its_end_is_what_came_of_it() -> None:
    run, sent = begun()

    assert isinstance(sent, Submit)
    assert (sent.sequence, sent.payload) == (1, b"make\r")
    assert run.hear(Acknowledge(CLIENT, 1, Index(3), None), 1) == [
        CommandRequest(CLIENT)
    ]
    run.hear(CommandStarted(command()), 1)
    run.hear(CommandEnded(command(end=25, status=2)), 1)
    assert run.result is None
    run.hear(Output(10, b"0123456789built$ "), 1)
    assert run.result is not None
    assert (run.result.output, run.result.command.status) == (b"built", 2)


def test_i1_on_another_link_nothing_is_typed_anew() -> None:
    run, sent = begun()

    assert linked_again(run, 1) == [sent]
    assert run.attachment.open == [sent]
    assert run.asks_first() == ()
    run.hear(Acknowledge(CLIENT, 1, Index(3), None), 1)
    assert linked_again(run, 2) == [CommandRequest(CLIENT)]


def test_i1_a_line_that_was_not_counted_is_typed_again_when_the_prompt_is_there() -> (
    None
):
    run, _ = begun()
    run.hear(refused(NotAtPrompt("it has not shown its prompt")), 0)
    run.hear(CommandReport("between", None), 0)

    assert run.next_deadline(0) == RETRY
    assert run.tick(RETRY / 2) == []
    assert run.tick(RETRY) == [CommandRequest(ClientId(""))]
    run.hear(CommandReport("prompt", None), RETRY)
    (again,) = run.tick(2 * RETRY)
    assert isinstance(again, Submit)
    assert again.sequence == 1


def test_i1_at_a_prompt_that_has_just_come_it_is_typed_once_more_and_no_oftener() -> (
    None
):
    run, _ = begun()
    run.hear(refused(NotAtPrompt("it has not shown its prompt")), 0)
    assert run.hear(Output(10, b"$ "), 0) == []
    run.hear(CommandReport("prompt", None), 0)
    (again,) = run.tick(RETRY)
    assert isinstance(again, Submit)
    run.hear(refused(NotAtPrompt("something stands typed")), RETRY)

    with pytest.raises(NotAtPrompt):
        run.hear(CommandReport("prompt", None), RETRY)


@pytest.mark.parametrize(
    ("phase", "now"), [("running", 0.0), ("between", PROMPT_PATIENCE)]
)
def test_a_shell_that_runs_something_is_not_waited_for(phase: str, now: float) -> None:
    run, _ = begun()
    run.hear(refused(NotAtPrompt("it runs")), now)

    with pytest.raises(NotAtPrompt):
        run.hear(CommandReport(phase, None), now)


def test_a_cut_while_it_was_refused_asks_where_the_shell_is() -> None:
    run, _ = begun()
    run.hear(refused(NotAtPrompt("it runs")), 0)

    assert linked_again(run, 1) == [CommandRequest(ClientId(""))]


def test_another_refusal_is_the_answer() -> None:
    run, _ = begun()

    with pytest.raises(NotYourTurn):
        run.hear(refused(NotYourTurn("a_" + "b" * 32, 1)), 0)


def test_i2_what_was_typed_and_goes_on_is_said_to_go_on() -> None:
    run = typed(deadline=5)

    assert run.tick(5) == [StateRequest()]
    assert run.next_deadline(5) == 5 + LAST_WORD
    with pytest.raises(CommandGoesOn) as told:
        run.tick(5 + LAST_WORD)
    assert told.value.facts == {"start": 10, "waited_ms": 6000, "state": "not known"}


def test_what_the_session_does_when_the_time_is_up_is_told() -> None:
    run = typed(deadline=5)
    run.tick(1)
    run.hear(evidence("waiting-for-input"), 1)
    run.tick(5)

    with pytest.raises(CommandGoesOn) as told:
        run.hear(evidence("running"), 5.5)
    assert told.value.facts["state"] == "running"
    assert told.value.facts["waited_ms"] == 5500


def test_when_the_time_is_up_a_command_that_runs_is_told_with_its_output() -> None:
    run = typed(deadline=5)
    run.hear(CommandStarted(command()), 1)
    run.hear(Output(10, b"0123456789half"), 1)
    run.tick(5)
    run.hear(evidence("running"), 5)

    assert run.result is not None
    assert (run.result.stop, run.result.output) == (Stop.LATE, b"half")
    assert run.result.state == "running"


def test_i2_a_line_without_an_answer_is_not_known() -> None:
    run, _ = begun()

    run.tick(timeouts.TYPING - 0.1)
    with pytest.raises(OutcomeUnknown) as told:
        run.tick(timeouts.TYPING)
    assert told.value.facts == {"client": CLIENT, "sequence": 1}


def held(wish: Wish, deadline: float = FAR) -> CommandRun:
    run, _ = begun(wish, deadline)
    run.attachment.us = US
    run.hear(waiting(actor=US), 1)
    run.tick(1)
    return run


@pytest.mark.parametrize(
    ("wish", "deadline", "by"),
    [(Wish(100, approval=30), FAR, 31.0), (Wish(100), 5.0, 5.0)],
)
def test_what_nobody_approves_in_time_is_taken_back(
    wish: Wish, deadline: float, by: float
) -> None:
    run = held(wish, deadline)

    assert not [one for one in run.tick(by - 0.1) if isinstance(one, Deny)]
    assert run.tick(by) == [Deny(3, waiting(actor=US).digest)]
    with pytest.raises(ApprovalTimeout) as told:
        run.hear(refused(DeniedByOperator(US)), by)
    assert told.value.facts["seconds"] == by - 1


def test_what_was_approved_has_the_time_that_any_line_has() -> None:
    run = held(Wish(100, approval=30))
    run.tick(20)
    run.hear(Settled(3, Verdict.ALLOW, US), 20)
    run.tick(19.9 + timeouts.TYPING)

    with pytest.raises(OutcomeUnknown):
        run.tick(20 + timeouts.TYPING)


def test_what_cannot_be_taken_back_may_still_be_approved() -> None:
    run = held(Wish(100, approval=30))
    run.tick(31)

    run.tick(30.9 + WITHDRAWAL)
    with pytest.raises(ApprovalPending) as told:
        run.tick(31 + WITHDRAWAL)
    assert told.value.facts["ticket"] == 3


def test_an_approval_faster_than_the_withdrawal_counts() -> None:
    run = held(Wish(100, approval=30))
    run.tick(31)

    run.hear(Acknowledge(CLIENT, 1, Index(3), None), 31)

    assert run.is_typed
    assert run.next_deadline(31) < FAR


def test_i2_what_nobody_remembers_was_typed_all_the_same() -> None:
    run = typed()

    with pytest.raises(OutcomeForgotten) as told:
        run.hear(CommandReport("prompt", None), 1)
    assert told.value.facts == {"client": CLIENT, "sequence": 1}


def test_a_line_that_is_no_whole_command_is_noticed() -> None:
    run = typed()
    run.tick(1)
    run.hear(evidence("at-prompt"), 1)
    run.hear(evidence("at-prompt"), 1)  # Somebody else has asked, on the same link.
    run.tick(2)

    with pytest.raises(LineUnfinished) as told:
        run.hear(evidence("at-prompt"), 2)
    assert told.value.facts == {"start": 10}


def test_a_prompt_that_was_seen_once_and_then_not_is_no_such_line() -> None:
    run = typed()
    for second, state in enumerate(("at-prompt", "running", "at-prompt"), 1):
        run.tick(second)
        run.hear(evidence(state), second)

    assert run.result is None


def test_silence_makes_it_look_ever_more_rarely() -> None:
    run = typed()
    looks = []
    for _ in range(4):
        looks.append(run.next_deadline(0))
        assert run.tick(looks[-1]) == [CommandRequest(CLIENT), StateRequest()]

    assert looks == [0.25, 0.75, 1.75, 2.75]


def test_waiting_ends_with_what_is_expected_or_with_a_question() -> None:
    expecting = typed(Wish(100, re.compile(b"ready")))
    expecting.hear(CommandStarted(command()), 1)
    expecting.hear(Output(20, b"it is ready"), 1)
    asking = typed(Wish(100, until_input=True))
    asking.hear(CommandStarted(command()), 1)
    asking.tick(1)
    asking.hear(evidence("waiting-for-input"), 1)

    assert expecting.result is not None
    assert expecting.result.stop is Stop.EXPECTED
    assert asking.result is not None
    assert asking.result.stop is Stop.ASKED


@pytest.mark.parametrize(
    ("states", "is_asked"),
    [
        (["waiting-for-secret"], True),
        (["at-prompt", "at-prompt"], True),
        (["at-prompt"], False),
        (["running"], False),
    ],
)
def test_a_question_is_a_program_that_waits_or_a_shell_of_its_own(
    states: list[str], *, is_asked: bool
) -> None:
    asking, patient = typed(Wish(100, until_input=True)), typed()
    for run in (asking, patient):
        run.hear(CommandStarted(command()), 1)
        for second, state in enumerate(states, 1):
            run.tick(second)
            run.hear(evidence(state), second)

    assert (asking.result is not None) is is_asked
    assert patient.result is None
    if asking.result is not None:
        assert asking.result.state == states[-1]


def test_what_is_expected_is_looked_for_in_more_than_is_kept() -> None:
    run = typed(Wish(4, re.compile(b"rea.*dy")))
    run.hear(CommandStarted(command()), 1)
    for number in range(20):
        run.hear(Output(20 + 3 * number, b"rea"), 1)
    run.hear(Output(80, b"dy"), 1)

    assert run.result is not None
    assert (run.result.output, run.result.left_out) == (b"eady", 58)
    assert run.result.state == ""


def test_what_was_printed_before_it_began_is_not_what_is_expected() -> None:
    run = typed(Wish(100, re.compile(b"ready")))
    run.hear(Output(10, b"ready 789"), 1)
    run.hear(CommandStarted(command()), 1)

    assert run.result is None


@pytest.mark.parametrize(("status", "how"), [(0, "status 0"), (-9, "signal 9")])
def test_a_session_that_ends_meanwhile_is_over(status: int, how: str) -> None:
    with pytest.raises(SessionOver, match=how):
        typed().hear(Exited(status), 1)
