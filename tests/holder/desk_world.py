"""A desk with a real terminal, a real book and a real operator, in this process."""

import contextlib
import os
import selectors
import socket
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass, field

from holdfast.client import acting
from holdfast.core.stream import StreamWindow
from holdfast.holder.company import Company
from holdfast.holder.connection import Connection
from holdfast.holder.desk import Desk
from holdfast.holder.following import Following
from holdfast.holder.judge_link import JudgeLink
from holdfast.holder.note_memory import AREA, NoteMemory
from holdfast.holder.vaulted import Vaulted
from holdfast.linux import folders, pty, shared_memory
from holdfast.model.geometry import Size
from holdfast.model.ids import ENTROPY, FIRST_INCARNATION, SessionId, client_id
from holdfast.model.inputs import InputKind
from holdfast.wire import messages as wire
from holdfast.wire.codec import Message, decode
from holdfast.wire.frames import FrameReader

SESSION = SessionId("s_" + "a" * 16)
WINDOW = 1 << 16
LEADER = ["sleep", "600"]


@dataclass
class World:
    """A desk, and one client who is attached to its session."""

    desk: Desk
    connection: Connection
    far_end: socket.socket
    facts: dict[str, object]
    slave: int
    sizes: list[Size]
    sequence: int = 0
    heard: list[Message] = field(default_factory=list)

    def submit(self, payload: bytes, kind: InputKind = InputKind.KEYS) -> None:
        """Send an input, as the client does."""
        self.sequence += 1
        client = self.connection.client
        assert client is not None
        self.desk.submit(
            self.connection,
            wire.Submit(
                client=client,
                sequence=self.sequence,
                kind=kind,
                incarnation=FIRST_INCARNATION,
                epoch=self.desk.epoch,
                payload=payload,
                seen=None,
                waits=True,
            ),
        )

    def told(self) -> list[Message]:
        """Return what the client has been sent since the last time."""
        self.connection.flush()
        reader, said = FrameReader(), []
        with contextlib.suppress(BlockingIOError):
            while data := self.far_end.recv(1 << 16, socket.MSG_DONTWAIT):
                said += [decode(frame) for frame in reader.feed(data)]
        return said


@contextlib.contextmanager
def world() -> Iterator[World]:
    """Yield a desk whose folders are those of the environment."""
    operator = acting.ourselves()
    with (
        subprocess.Popen(LEADER) as leader,
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
        facts: dict[str, object] = {
            "name": "build",
            "pid": leader.pid,
            "command": LEADER,
            "cwd": "/",
            "size": [80, 24],
            "creator": operator.actor.id,
        }
        vaulted = Vaulted(SESSION, facts, master, memory, listener, pidfd)
        os.makedirs(os.path.dirname(folders.session_log(SESSION)), exist_ok=True)  # noqa: PTH103, PTH120  # the house has paths as text
        raw = shared_memory.view(memory)
        window = StreamWindow.create(raw[AREA:])
        near, far = socket.socketpair()
        stack.enter_context(far)
        connection = Connection(near)
        stack.callback(connection.close)
        connection.actor, connection.mode = operator.actor, wire.Mode.OPERATE
        connection.client = client_id(bytes(ENTROPY))
        sizes: list[Size] = []
        desk = Desk(
            vaulted,
            NoteMemory(raw[:AREA]),
            Company([connection]),
            sizes.append,
            JudgeLink(selector),
            Following(vaulted, window),
        )
        desk.meet(operator.actor)
        desk.came(connection)
        desk.sync()
        yield World(desk, connection, far, facts, slave, sizes)
