"""What a session says to a client, for tests of the client's machines."""

from holdfast.core.client.attachment import Attachment
from holdfast.model.actors import ActorKind
from holdfast.model.ids import NO_EPOCH, ActorId, ClientId, Incarnation, SessionId
from holdfast.wire.commands import ShellCommand
from holdfast.wire.evidence import Evidence
from holdfast.wire.messages import Attached, Cells, Mode, Operator
from holdfast.wire.presence import Presence

SESSION = SessionId("s_" + "a" * 16)
CLIENT = ClientId("c_" + "a" * 16)
US = ActorId("a_" + "a" * 32)
OTHER = ActorId("a_" + "b" * 32)
NOBODY = ActorId("")


def view(mode: Mode = Mode.OPERATE) -> Attachment:
    return Attachment(SESSION, CLIENT, bytes(32), mode)


def attached(
    *, start: int = 0, end: int = 10, holder: ActorId = NOBODY, life: int = 1
) -> Attached:
    return Attached(
        session=SESSION,
        name="web",
        incarnation=Incarnation(life),
        epoch=NO_EPOCH,
        holder=holder,
        start=start,
        end=end,
        state="running",
        size=Cells(80, 24),
        operators=(Operator(US, ActorKind.HUMAN, "anna", CLIENT),),
    )


def presence(holder: ActorId = NOBODY) -> Presence:
    return Presence(
        present=(),
        holder=holder,
        epoch=NO_EPOCH,
        waiting=(),
        frozen=False,
        pending=(),
        rights=(),
    )


def evidence(state: str) -> Evidence:
    return Evidence(
        incarnation=Incarnation(1),
        state=state,
        program="",
        sure=True,
        why=(),
        foreground=1,
        echo=True,
        canonical=True,
        unread=0,
        sleepers=(),
    )


def command(start: int, end: int | None) -> ShellCommand:
    return ShellCommand(
        number=1,
        line="make",
        client=CLIENT,
        start=start,
        end=end,
        status=None if end is None else 0,
        duration_ms=1,
        cwd="/",
    )
