"""A desk with a real terminal, a real book and real operators, in this process."""

import contextlib
import os
import selectors
import socket
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from holdfast.client import current_operator
from holdfast.core.book.logbook import Entry, recover
from holdfast.core.session.stream import StreamWindow
from holdfast.holder.input.desk import Desk
from holdfast.holder.links.attached_clients import Company
from holdfast.holder.links.connection import Connection
from holdfast.holder.policy.judge_link import JudgeLink
from holdfast.holder.provenance.shell_commands import Following
from holdfast.holder.record.note_memory import AREA, NoteMemory
from holdfast.holder.session_descriptors import Vaulted
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

    def __init__(self, desk: Desk, operator: Enrolled, number: int) -> None:
        near, self._far_end = socket.socketpair()
        self.connection = Connection(near)
        self.connection.actor = operator.actor
        self.connection.mode = wire.Mode.OPERATE
        self.connection.program = "test"
        self.connection.client = client_id(bytes([number]) * ENTROPY)
        self._desk = desk
        self._reader = FrameReader()
        self._sequence = 0

    @property
    def id(self) -> ActorId:
        """Who it is."""
        return self.connection.operator.id

    def submit(self, payload: bytes, kind: InputKind = InputKind.KEYS) -> None:
        """Send an input."""
        self._sequence += 1
        client = self.connection.client
        assert client is not None
        self._desk.submit(
            self.connection,
            wire.Submit(
                client=client,
                sequence=self._sequence,
                kind=kind,
                incarnation=FIRST_INCARNATION,
                epoch=self._desk.epoch,
                payload=payload,
                seen=None,
                waits=True,
            ),
        )

    def told(self) -> list[Message]:
        """Return what it has been sent since the last time."""
        self.connection.flush()
        said: list[Message] = []
        with contextlib.suppress(BlockingIOError):
            while data := self._far_end.recv(1 << 16, socket.MSG_DONTWAIT):
                said += [decode(frame) for frame in self._reader.feed(data)]
        return said

    def close(self) -> None:
        """Vanish."""
        self.connection.close()
        self._far_end.close()


@dataclass
class World:
    """A desk, and who is attached to its session."""

    vaulted: Vaulted
    desk: Desk
    company: Company
    slave: int
    sizes: list[Size]
    leader: "subprocess.Popen[bytes]"
    connections: list[Connection] = field(default_factory=list)
    clients: list[Client] = field(default_factory=list)

    def join(self, name: str = "", kind: ActorKind = ActorKind.HUMAN) -> Client:
        """Let an operator in: the login user, or one of another name."""
        operator = (
            current_operator.enrol(name, kind) if name else current_operator.ourselves()
        )
        client = Client(self.desk, operator, len(self.clients) + 1)
        self.clients.append(client)
        self.connections.append(client.connection)
        self.desk.meet(operator.actor)
        self.desk.came(client.connection)
        self.desk.sync()
        return client

    def leave(self, client: Client) -> None:
        """Have a client go."""
        self.connections.remove(client.connection)
        self.desk.left(client.connection)

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
    """Yield a desk whose folders are those of the environment."""
    with (
        subprocess.Popen(LEADER, start_new_session=True) as leader,
        selectors.DefaultSelector() as selector,
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
        vaulted = Vaulted(record, held, master, memory, listener, pidfd)
        StreamWindow.create(shared_memory.view(memory)[AREA:])
        connections: list[Connection] = []
        sizes: list[Size] = []
        company = Company(connections)
        desk = _desk(vaulted, company, sizes, selector)
        made = World(vaulted, desk, company, slave, sizes, leader, connections)
        yield made
        for client in made.clients:
            client.close()


def successor(world: World) -> Desk:
    """Return the desk of a holder that takes the session up after a death."""
    with selectors.DefaultSelector() as selector:
        return _desk(world.vaulted, Company([]), [], selector)


def _desk(
    vaulted: Vaulted,
    company: Company,
    sizes: list[Size],
    selector: selectors.BaseSelector,
) -> Desk:
    raw = shared_memory.view(vaulted.memory)
    return Desk(
        vaulted,
        NoteMemory(raw[:AREA]),
        company,
        sizes.append,
        JudgeLink(selector),
        Following(vaulted, StreamWindow.open(raw[AREA:])),
    )
