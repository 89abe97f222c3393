"""A session with a real terminal, a real book and real operators, in this process."""

import contextlib
import os
import socket
import subprocess
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from holdfast.client import current_operator
from holdfast.core.book.logbook import Entry, recover
from holdfast.core.input.intake import Intake
from holdfast.core.input.intake_effects import Effect
from holdfast.core.session.stream import StreamWindow
from holdfast.holder.context import Context
from holdfast.holder.input.requests import Requests
from holdfast.holder.links.attached_clients import AttachedClients
from holdfast.holder.links.connection import Connection
from holdfast.holder.moment import now
from holdfast.holder.output.attention import AttentionCalls
from holdfast.holder.poll import Poll
from holdfast.holder.provenance.shell_commands import ShellCommands
from holdfast.holder.record.note_memory import AREA, NoteMemory
from holdfast.holder.session import Session
from holdfast.holder.session_descriptors import SessionDescriptors
from holdfast.holder.timers import Timers
from holdfast.linux import pty, shared_memory
from holdfast.linux.stored import folders
from holdfast.linux.stored.operators import Enrolled
from holdfast.model.actors import ActorKind
from holdfast.model.geometry import Size
from holdfast.model.ids import (
    ENTROPY,
    FIRST_INCARNATION,
    ActorId,
    SessionId,
    client_id,
)
from holdfast.model.inputs import InputKind
from holdfast.model.session_record import Cells, HeldRecord, SessionRecord
from holdfast.wire import messages as wire
from holdfast.wire.codec import Message, decode
from holdfast.wire.frames import FrameReader

SESSION = SessionId("s_" + "a" * 16)
WINDOW = 1 << 16
LEADER = ["sleep", "600"]


class Client:
    """One client of one operator, and what it was told."""

    def __init__(
        self, context: Context, session: Session, operator: Enrolled, number: int
    ) -> None:
        near, self.far_end = socket.socketpair()
        self.connection = Connection(near, context.poll, context.clients.gone)
        context.poll.watch(near, lambda: None)
        self.connection.actor = operator.actor
        self.connection.mode = wire.Mode.OPERATE
        self.connection.program = "test"
        self.connection.client = client_id(bytes([number]) * ENTROPY)
        self._session = session
        self._reader = FrameReader()
        self._sequence = 0

    @property
    def id(self) -> ActorId:
        """Who it is."""
        return self.connection.operator.id

    def submit(
        self, payload: bytes, kind: InputKind = InputKind.KEYS, *, waits: bool = True
    ) -> None:
        """Send an input."""
        self._sequence += 1
        client = self.connection.client
        assert client is not None
        self._session.input_handler.submit(
            self.connection,
            wire.Submit(
                client=client,
                sequence=self._sequence,
                kind=kind,
                incarnation=FIRST_INCARNATION,
                epoch=self._session.driver.intake.turn.epoch,
                payload=payload,
                seen=None,
                waits=waits,
            ),
        )

    def told(self) -> list[Message]:
        """Return what it has been sent since the last time."""
        self.connection.flush()
        said: list[Message] = []
        with contextlib.suppress(BlockingIOError):
            while data := self.far_end.recv(1 << 16, socket.MSG_DONTWAIT):
                said += [decode(frame) for frame in self._reader.feed(data)]
        return said

    def close(self) -> None:
        """Vanish."""
        self.connection.close()
        self.far_end.close()


@dataclass
class World:
    """A session's rooms, and who is attached to it."""

    context: Context
    session: Session
    slave: int
    sizes: list[Size]
    leader: "subprocess.Popen[bytes]"
    clients: list[Client] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.requests = Requests(self.session)
        self.approvals = self.session.policy.approvals

    @property
    def intake(self) -> Intake:
        """What decides."""
        return self.session.driver.intake

    @property
    def descriptors(self) -> SessionDescriptors:
        """What outlives the holder."""
        return self.context.descriptors

    @property
    def holder(self) -> ActorId:
        """Who has the turn; empty if nobody."""
        return self.intake.turn.holder or ActorId("")

    def do(self, effects: list[Effect]) -> None:
        """Have done what the intake says."""
        self.session.driver.do(effects, now())

    def turn(self, later: float = 0.0) -> None:
        """Do what the clock demands, as the loop does, or does some seconds later."""
        self.context.timers.tick(time.monotonic() + later)

    def join(self, name: str = "", kind: ActorKind = ActorKind.HUMAN) -> Client:
        """Let an operator in: the login user, or one of another name."""
        operator = (
            current_operator.enrol(name, kind) if name else current_operator.ourselves()
        )
        client = Client(self.context, self.session, operator, len(self.clients) + 1)
        self.clients.append(client)
        self.context.clients.connections.append(client.connection)
        self.session.presence.meet(operator.actor)
        self.session.presence.came(client.connection)
        self.session.book.sync()
        return client

    def leave(self, client: Client) -> None:
        """Have a client go."""
        self.context.clients.connections.remove(client.connection)
        self.session.presence.left(client.connection)

    def entries(self) -> list[Entry]:
        """Return what stands in the book."""
        raw = Path(folders.session_log(SESSION)).read_bytes()
        return [*recover(raw, SESSION).entries]

    def typed(self) -> bytes:
        """Return what the program can read by now, whatever its lines."""
        os.set_blocking(self.slave, False)
        with contextlib.suppress(BlockingIOError):
            return os.read(self.slave, 1 << 12)
        return b""


@contextlib.contextmanager
def world() -> Iterator[World]:
    """Yield a session whose folders are those of the environment."""
    with (
        subprocess.Popen(LEADER, start_new_session=True) as leader,
        contextlib.ExitStack() as stack,
    ):
        stack.callback(leader.kill)
        master, slave = pty.open_pty(Size(80, 24))
        memory = shared_memory.create(SESSION, AREA + WINDOW)
        pidfd = os.pidfd_open(leader.pid)
        for fd in (master, slave, memory, pidfd):
            stack.callback(os.close, fd)
        listener = stack.enter_context(socket.socket(socket.AF_UNIX))
        record = SessionRecord(
            SESSION,
            "build",
            leader.pid,
            command=tuple(LEADER),
            cwd="/",
            size=Cells(80, 24),
        )
        held = HeldRecord(creator=current_operator.ourselves().actor.id)
        descriptors = SessionDescriptors(record, held, master, memory, listener, pidfd)
        StreamWindow.create(shared_memory.view(memory)[AREA:])
        sizes: list[Size] = []
        context, note = _context(descriptors, sizes.append)
        stack.callback(context.poll.close)
        made = World(context, Session(context, note), slave, sizes, leader)
        yield made
        for client in made.clients:
            client.close()


def successor(world: World) -> World:
    """Return the rooms of a holder that takes the session up after a death."""
    context, note = _context(world.descriptors, world.sizes.append)
    made = Session(context, note)
    context.poll.close()
    return World(context, made, world.slave, world.sizes, world.leader)


def _context(
    descriptors: SessionDescriptors, resized: Callable[[Size], None]
) -> tuple[Context, NoteMemory]:
    raw = shared_memory.view(descriptors.memory)
    shell = ShellCommands(descriptors, StreamWindow.open(raw[AREA:]))
    clients, timers = AttachedClients(), Timers()
    calls = AttentionCalls(descriptors, clients, timers, descriptors.change)
    context = Context(
        descriptors, clients, shell, Poll(), timers, calls, resized, lambda: None
    )
    return context, NoteMemory(raw[:AREA])
