"""One run of a command, begun and driven by hand."""

from holdfast.core.client.attachment import Attachment
from holdfast.core.client.command_run import (
    CommandRun,
    Wish,
)
from holdfast.core.client.questions import NO_CLIENT
from holdfast.model.errors import (
    DeniedByOperator,
    NotAtPrompt,
    NotYourTurn,
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
    CommandReport,
    CommandRequest,
    ShellCommand,
)
from holdfast.wire.evidence import Evidence
from holdfast.wire.frames import FrameKind
from holdfast.wire.messages import (
    Acknowledge,
    Attach,
    Attached,
    Cells,
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
        program="",
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


def begun(wish: Wish = Wish(100), deadline: float = FAR) -> tuple[CommandRun, Message]:  # noqa: B008
    view = Attachment(SESSION, CLIENT, bytes(32))
    run = CommandRun(view, b"make", wish, now=0, deadline=deadline)
    assert run.linked(0) == [CommandRequest(CLIENT), CommandRequest(NO_CLIENT)]
    assert run.hear(CommandReport("prompt", None), 0) == []
    assert run.hear(CommandReport("prompt", None), 0) == [
        view.attach(None, keyframe=False)
    ]
    (typed,) = run.hear(attached(), 0)
    return run, typed


def linked_again(run: CommandRun, now: float) -> list[Message]:
    (attach,) = run.linked(now)
    assert isinstance(attach, Attach)
    return run.hear(attached(), now)


def typed(wish: Wish = Wish(100), deadline: float = FAR) -> CommandRun:  # noqa: B008
    run, _ = begun(wish, deadline)
    run.hear(Acknowledge(CLIENT, 1, Index(3), None), 0)
    return run
