import re

import pytest
from tests.cli.support.operating import US, waiting

from holdfast.client.attachment import WITHDRAWING
from holdfast.client.commands import Stop
from holdfast.client.errand import (
    LAST_WORD,
    PROMPT_PATIENCE,
    RETRY,
    TYPING_PATIENCE,
    Errand,
    Wish,
)
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
    NO_EPOCH,
    ActorId,
    ClientId,
    Incarnation,
    Index,
    SessionId,
)
from holdfast.model.inputs import InputId
from holdfast.wire.codec import Message, refusal
from holdfast.wire.commands import (
    CommandEnded,
    CommandReport,
    CommandRequest,
    CommandStarted,
    ShellCommand,
)
from holdfast.wire.evidence import Evidence, StateRequest
from holdfast.wire.frames import FrameKind
from holdfast.wire.messages import (
    Acknowledge,
    Attached,
    Cells,
    Deny,
    Exited,
    Output,
    Submit,
)

SESSION = SessionId("s_" + "a" * 16)
CLIENT = ClientId("c_" + "a" * 16)
NOBODY = ActorId("")
FAR = 1000.0


def attached(end: int = 10) -> Attached:
    return Attached(
        session=SESSION,
        name="web",
        incarnation=Incarnation(1),
        epoch=NO_EPOCH,
        holder=NOBODY,
        start=0,
        end=end,
        state="running",
        size=Cells(80, 24),
        operators=(),
    )


def command(*, end: int | None = None, status: int | None = None) -> ShellCommand:
    return ShellCommand(
        number=1,
        client=CLIENT,
        line="make",
        start=20,
        end=end,
        status=status,
        duration_ms=5,
        cwd="/",
    )


def evidence(state: str) -> Evidence:
    return Evidence(
        state=state,
        incarnation=Incarnation(1),
        sure=True,
        why=(),
        foreground=1,
        echo=True,
        canonical=True,
        unread=0,
        sleepers=(),
    )


def refused(error: Exception) -> Message:
    assert isinstance(error, NotAtPrompt | NotYourTurn | DeniedByOperator)
    return refusal(error, FrameKind.SUBMIT, InputId(CLIENT, 1))


def begun(wish: Wish = Wish(100), deadline: float = FAR) -> tuple[Errand, Message]:  # noqa: B008
    errand = Errand(CLIENT, SESSION, b"make", wish, now=0, deadline=deadline)
    errand.reported(CommandReport("prompt", None), CommandReport("prompt", None))
    (typed,) = errand.attached(attached(), 0)
    return errand, typed


def typed(wish: Wish = Wish(100), deadline: float = FAR) -> Errand:  # noqa: B008
    errand, _ = begun(wish, deadline)
    errand.hear(Acknowledge(CLIENT, 1, Index(3), None), 0)
    return errand


def test_the_line_is_typed_and_its_end_is_what_came_of_it() -> None:
    errand, sent = begun()

    assert isinstance(sent, Submit)
    assert (sent.sequence, sent.payload) == (1, b"make\r")
    assert errand.hear(Acknowledge(CLIENT, 1, Index(3), None), 1) == [
        CommandRequest(CLIENT)
    ]
    errand.hear(CommandStarted(command()), 1)
    errand.hear(CommandEnded(command(end=25, status=2)), 1)
    assert errand.ran is None
    errand.hear(Output(10, b"0123456789built$ "), 1)
    assert errand.ran is not None
    assert (errand.ran.output, errand.ran.command.status) == (b"built", 2)


def test_i1_on_another_link_nothing_is_typed_anew() -> None:
    errand, sent = begun()

    assert errand.attached(attached(), 1) == []
    assert errand.attachment.open == [sent]
    assert errand.asks_first == ()
    errand.hear(Acknowledge(CLIENT, 1, Index(3), None), 1)
    assert errand.attached(attached(), 2) == [CommandRequest(CLIENT)]


def test_i1_a_line_that_was_not_counted_is_typed_again_when_the_prompt_is_there() -> (
    None
):
    errand, _ = begun()
    errand.hear(refused(NotAtPrompt("it has not shown its prompt")), 0)
    errand.hear(CommandReport("between", None), 0)

    assert errand.next_deadline(0) == RETRY
    assert errand.tick(RETRY / 2) == []
    assert errand.tick(RETRY) == [CommandRequest(ClientId(""))]
    errand.hear(CommandReport("prompt", None), RETRY)
    (again,) = errand.tick(2 * RETRY)
    assert isinstance(again, Submit)
    assert again.sequence == 1


@pytest.mark.parametrize(
    ("phase", "now"), [("running", 0.0), ("between", PROMPT_PATIENCE)]
)
def test_a_shell_that_runs_something_is_not_waited_for(phase: str, now: float) -> None:
    errand, _ = begun()
    errand.hear(refused(NotAtPrompt("it runs")), now)

    with pytest.raises(NotAtPrompt):
        errand.hear(CommandReport(phase, None), now)


def test_a_cut_while_it_was_refused_asks_where_the_shell_is() -> None:
    errand, _ = begun()
    errand.hear(refused(NotAtPrompt("it runs")), 0)

    assert errand.attached(attached(), 1) == [CommandRequest(ClientId(""))]


def test_another_refusal_is_the_answer() -> None:
    errand, _ = begun()

    with pytest.raises(NotYourTurn):
        errand.hear(refused(NotYourTurn("a_" + "b" * 32, 1)), 0)


def test_i2_what_was_typed_and_goes_on_is_said_to_go_on() -> None:
    errand = typed(deadline=5)

    assert errand.tick(5) == [StateRequest()]
    with pytest.raises(CommandGoesOn):
        errand.tick(5 + LAST_WORD)


def test_when_the_time_is_up_a_command_that_runs_is_told_with_its_output() -> None:
    errand = typed(deadline=5)
    errand.hear(CommandStarted(command()), 1)
    errand.hear(Output(10, b"0123456789half"), 1)
    errand.tick(5)
    errand.hear(evidence("running"), 5)

    assert errand.ran is not None
    assert (errand.ran.stop, errand.ran.output) == (Stop.LATE, b"half")
    assert errand.ran.state == "running"


def test_i2_a_line_without_an_answer_is_not_known() -> None:
    errand, _ = begun()

    with pytest.raises(OutcomeUnknown):
        errand.tick(TYPING_PATIENCE)


def held(wish: Wish, deadline: float = FAR) -> Errand:
    errand, _ = begun(wish, deadline)
    errand.attachment.us = US
    errand.hear(waiting(actor=US), 1)
    errand.tick(1)
    return errand


@pytest.mark.parametrize(
    ("wish", "deadline", "by"),
    [(Wish(100, approval=30), FAR, 31.0), (Wish(100), 5.0, 5.0)],
)
def test_what_nobody_approves_in_time_is_taken_back(
    wish: Wish, deadline: float, by: float
) -> None:
    errand = held(wish, deadline)

    assert not [one for one in errand.tick(by - 0.1) if isinstance(one, Deny)]
    assert errand.tick(by) == [Deny(3, waiting(actor=US).digest)]
    with pytest.raises(ApprovalTimeout):
        errand.hear(refused(DeniedByOperator(US)), by)


def test_what_cannot_be_taken_back_may_still_be_approved() -> None:
    errand = held(Wish(100, approval=30))
    errand.tick(31)

    with pytest.raises(ApprovalPending):
        errand.tick(31 + WITHDRAWING)


def test_an_approval_faster_than_the_withdrawal_counts() -> None:
    errand = held(Wish(100, approval=30))
    errand.tick(31)

    errand.hear(Acknowledge(CLIENT, 1, Index(3), None), 31)

    assert errand.is_typed
    assert errand.next_deadline(31) < FAR


def test_i2_what_nobody_remembers_was_typed_all_the_same() -> None:
    errand = typed()

    with pytest.raises(OutcomeForgotten):
        errand.hear(CommandReport("prompt", None), 1)


def test_a_line_that_is_no_whole_command_is_noticed() -> None:
    errand = typed()
    errand.hear(evidence("at-prompt"), 1)

    with pytest.raises(LineUnfinished):
        errand.hear(evidence("at-prompt"), 2)


def test_silence_makes_it_look_ever_more_rarely() -> None:
    errand = typed()
    looks = []
    for _ in range(4):
        looks.append(errand.next_deadline(0))
        assert errand.tick(looks[-1]) == [CommandRequest(CLIENT), StateRequest()]

    assert looks == [0.25, 0.75, 1.75, 2.75]


def test_waiting_ends_with_what_is_expected_or_with_a_question() -> None:
    expecting = typed(Wish(100, re.compile(b"ready")))
    expecting.hear(CommandStarted(command()), 1)
    expecting.hear(Output(20, b"it is ready"), 1)
    asking = typed(Wish(100, until_input=True))
    asking.hear(CommandStarted(command()), 1)
    asking.hear(evidence("waiting-for-input"), 1)

    assert expecting.ran is not None
    assert expecting.ran.stop is Stop.EXPECTED
    assert asking.ran is not None
    assert asking.ran.stop is Stop.ASKED


def test_a_session_that_ends_meanwhile_is_over() -> None:
    with pytest.raises(SessionOver):
        typed().hear(Exited(0), 1)
