"""A process under an exec filter, for tests."""

import contextlib
import os
import select
import signal
from collections.abc import Iterator

from holdfast.linux import exec_gate, shared_memory, spawn
from holdfast.linux.exec_gate import ExecGate, Notice


class Gated:
    """A leader that asks, and the side that answers."""

    def __init__(self, *command: str, cwd: str = "/") -> None:
        self.memory = shared_memory.create("notices", exec_gate.SIZE)
        self.master, slave = os.openpty()
        environment = {"PATH": os.environ["PATH"]}
        leader = spawn.Leader(command, cwd, environment, is_gated=True)
        try:
            self.pid, self.listener = spawn.start_gated(leader, slave, self.memory)
        finally:
            os.close(slave)
        self.gate = self.successor()

    def successor(self) -> ExecGate:
        """Return another side that answers, as one that takes over has it."""
        gate = ExecGate(self.listener, self.memory)
        self.inherited = gate.inherited()
        return gate

    def next(self) -> Notice:
        """Wait for the next exec."""
        while True:
            assert select.select([self.listener], [], [], 10)[0], "nobody asks"
            notice = self.gate.receive()
            if notice is not None:
                return notice

    def status(self) -> int:
        """Return how the leader ended."""
        return os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])

    def close(self) -> None:
        with contextlib.suppress(ProcessLookupError, ChildProcessError):
            os.kill(self.pid, signal.SIGKILL)
            os.waitpid(self.pid, 0)
        for fd in (self.listener, self.master, self.memory):
            os.close(fd)


@contextlib.contextmanager
def gated(*command: str, cwd: str = "/") -> Iterator[Gated]:
    """Start a command that asks before each exec."""
    made = Gated(*command, cwd=cwd)
    try:
        yield made
    finally:
        made.close()
