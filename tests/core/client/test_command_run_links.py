import pytest
from msgspec.structs import replace
from tests.cli.support.operating import US
from tests.core.client.run_world import (
    CLIENT,
    FAR,
    SESSION,
    attached,
    begun,
    command,
    evidence,
    linked_again,
    typed,
)

from holdfast.core.client import timeouts
from holdfast.core.client.attachment import Attachment
from holdfast.core.client.command_output import Stop
from holdfast.core.client.command_run import (
    CommandRun,
    Wish,
)
from holdfast.core.client.timeouts import LOSS
from holdfast.model.errors import (
    Busy,
    OutcomeForgotten,
    SessionUnreachable,
)
from holdfast.model.ids import (
    ActorId,
    ClientId,
)
from holdfast.model.inputs import InputId
from holdfast.wire.codec import refusal
from holdfast.wire.commands import (
    CommandEnded,
    CommandReport,
    CommandRequest,
    CommandStarted,
    ShellCommand,
)
from holdfast.wire.evidence import StateRequest
from holdfast.wire.frames import FrameKind
from holdfast.wire.messages import (
    Attach,
    Drop,
    Output,
)
from holdfast.wire.presence import Who


def test_where_to_begin_to_read_is_known_before_attaching() -> None:
    def begins(ours: ShellCommand | None, last: ShellCommand | None) -> int | None:
        view = Attachment(SESSION, CLIENT, bytes(32))
        view.offset = 7
        run = CommandRun(view, b"make", Wish(100), now=0, deadline=FAR)
        run.linked(0)
        run.hear(CommandReport("prompt", ours), 0)
        (attach,) = run.hear(CommandReport("prompt", last), 0)
        assert isinstance(attach, Attach)
        assert attach.incarnation is None  # the present life
        return attach.after

    assert begins(None, None) is None
    assert begins(None, command(end=25)) == 25
    assert begins(None, command()) == command().start
    later = replace(command(end=35), start=30)
    assert begins(command(end=25), later) == command().start


def test_a_successor_is_waited_for_while_there_is_time() -> None:
    gone = SessionUnreachable(SESSION, "it hung up")
    run = typed()
    run.dials(1)
    run.cut(gone, LOSS)
    linked_again(run, 20)
    run.cut(gone, 20 + LOSS)
    run.dials(20 + LOSS)

    with pytest.raises(SessionUnreachable):
        run.cut(gone, 20 + 2 * LOSS)
    with pytest.raises(SessionUnreachable):
        typed(deadline=5).cut(gone, timeouts.TYPING)


def test_before_it_is_attached_there_is_time_until_the_deadline() -> None:
    gone = SessionUnreachable(SESSION, "it hung up")
    view = Attachment(SESSION, CLIENT, bytes(32))
    run = CommandRun(view, b"make", Wish(100), now=0, deadline=5)
    run.cut(gone, 4.9)

    with pytest.raises(SessionUnreachable):
        run.cut(gone, 5)


def test_a_turn_that_typing_took_is_dropped_and_no_other() -> None:
    ours, others = typed(), typed()
    ours.attachment.us = ours.attachment.holder = US
    others.attachment.us = US
    others.attachment.holder = ActorId("a_" + "b" * 32)

    assert ours.last_acts() == [Drop(), Who()]
    assert others.last_acts() == []


def test_a_turn_that_was_ours_before_is_kept() -> None:
    view = Attachment(SESSION, CLIENT, bytes(32))
    run = CommandRun(view, b"make", Wish(100), now=0, deadline=FAR)
    run.linked(0)
    run.hear(CommandReport("prompt", None), 0)
    run.hear(CommandReport("prompt", None), 0)
    run.hear(replace(attached(), holder=US), 0)
    run.attachment.us = US

    assert run.last_acts() == []


def test_what_there_was_no_room_for_is_sent_again() -> None:
    run, sent = begun()
    run.hear(refusal(Busy(9, 8), FrameKind.SUBMIT, InputId(CLIENT, 1)), 0)

    assert run.tick(0.25) == [sent]


def test_a_late_answer_after_the_result_changes_nothing() -> None:
    run = typed(deadline=5)
    run.hear(CommandStarted(command()), 1)
    run.tick(5)
    run.hear(CommandEnded(command(end=20, status=0)), 5)
    assert run.tick(5) == []
    run.hear(Output(10, b"0123456789"), 5)
    done = run.result
    run.hear(evidence("at-prompt"), 5)

    assert run.result is done is not None
    assert done.stop is Stop.ENDED


def test_what_was_forgotten_counts_as_typed() -> None:
    run, _ = begun()
    forgotten = refusal(
        OutcomeForgotten(CLIENT, 1), FrameKind.SUBMIT, InputId(CLIENT, 1)
    )

    assert run.hear(forgotten, 0) == [CommandRequest(CLIENT)]
    assert run.is_typed


def test_somebody_else_s_command_is_not_ours() -> None:
    run = typed()
    run.hear(CommandStarted(replace(command(), client=ClientId("c_" + "b" * 16))), 1)

    assert run.tick(0.25) == [CommandRequest(CLIENT), StateRequest()]


def test_a_command_that_was_not_heard_of_is_reported() -> None:
    run = typed()
    assert run.hear(CommandReport("running", None), 1) == []
    run.hear(CommandReport("running", command()), 1)

    assert run.tick(1) == [StateRequest()]
    assert run.tick(1) == []
