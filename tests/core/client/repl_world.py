"""An interpreter in a session, as a line typed into it sees it."""

import math

from tests.core.client.run_world import (
    CLIENT,
    SESSION,
    attached,
    evidence,
)

from holdfast.core.client.attachment import Attachment
from holdfast.core.client.command_run import Wish
from holdfast.core.client.questions import NO_CLIENT
from holdfast.core.client.repl_run import QUIET, ReplRun
from holdfast.model.errors import (
    NoMarks,
    SessionUnreachable,
)
from holdfast.model.ids import ActorId, Index
from holdfast.model.inputs import InputKind
from holdfast.wire.codec import refusal
from holdfast.wire.commands import CommandRequest
from holdfast.wire.evidence import Asleep, Evidence, StateRequest
from holdfast.wire.frames import FrameKind
from holdfast.wire.messages import (
    Acknowledge,
    Attach,
    Output,
    Submit,
)

REFUSED = NoMarks("python3")
GONE = SessionUnreachable(SESSION, "it hung up")
PROMPT = b"Python\r\n>>> "
US = ActorId("a_" + "a" * 32)


def seen(
    state: str = "waiting-for-input",
    name: str = "python3",
    unread: int = 0,
    group: int = 1,
) -> Evidence:
    one = Asleep(group or 1, name, "sleeping", "")
    found = evidence(state)
    return Evidence(
        state=state,
        program="",
        incarnation=found.incarnation,
        sure=True,
        why=(),
        foreground=group,
        echo=False,
        canonical=False,
        unread=unread,
        sleepers=(one,),
    )


def begun(
    before: bytes = PROMPT,
    wish: Wish = Wish(100),  # noqa: B008
    deadline: float = math.inf,
) -> ReplRun:
    """Return one that has read what was printed before."""
    view = Attachment(SESSION, CLIENT, bytes(32))
    run = ReplRun(view, b"1+1", wish, REFUSED, now=0, deadline=deadline)
    assert run.linked(0) == [CommandRequest(NO_CLIENT)]
    (attach,) = run.hear(refusal(REFUSED, FrameKind.COMMAND_REQUEST), 0)
    assert isinstance(attach, Attach)
    assert run.hear(attached(end=len(before)), 0) == []
    if before:
        assert run.hear(Output(0, before), 0) == []
    return run


def typed(
    before: bytes = PROMPT,
    wish: Wish = Wish(100),  # noqa: B008
    name: str = "python3",
    deadline: float = math.inf,
) -> ReplRun:
    run = begun(before, wish, deadline)
    assert run.tick(0) == [StateRequest()]
    (sent,) = run.hear(seen(name=name), 0)
    assert isinstance(sent, Submit)
    assert (sent.kind, sent.payload) == (InputKind.KEYS, b"1+1\r")
    assert run.hear(Acknowledge(CLIENT, 1, Index(3), None), 0) == []
    return run


def over(run: ReplRun, printed: bytes, at: float = 1.0) -> None:
    """Have it print this, and be quiet."""
    run.hear(Output(len(PROMPT), printed), at)
    assert run.next_deadline(at) == at + QUIET
    assert run.tick(at + QUIET) == [StateRequest()]
    run.hear(seen(), at + QUIET)
