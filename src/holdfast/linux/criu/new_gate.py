"""An exec gate for a tree that CRIU restores: closed before CRIU begins.

The process that becomes CRIU puts the filter on itself, and what it restores inherits
that. Its own first exec, which is CRIU, is let happen; every other one fails, until the
holder of the session has the listener. Every exec fails, too, if nobody has it.
"""

import os
import select
import socket
import time

from holdfast.linux import exec_filter, shared_memory
from holdfast.linux.exec_gate import SIZE, ExecGate
from holdfast.model.errors import NoExecGate


class NewGate:
    """The gate of one restore, on both sides of a fork."""

    def __init__(self) -> None:
        self._ours, self._theirs = socket.socketpair()
        self.listener: int | None = None
        """By which execs are answered, once the process inside has sent it."""

    def close_behind_us(self) -> None:
        """Put the filter on this process, which is about to execute CRIU.

        Raises:
            OSError: The kernel refuses.

        """
        listener = exec_filter.install()
        socket.send_fds(self._theirs, [b"\1"], [listener])
        os.close(listener)  # Who has it can answer.

    def await_end(self, process: int, seconds: float) -> None:
        """Answer execs until a process has ended, by its pidfd, or time is over.

        Raises:
            Unavailable: There is no gate.

        """
        until = time.monotonic() + seconds
        self._theirs.close()
        ours = self._ours.fileno()
        ready, _, _ = select.select([process, ours], [], [], seconds)
        if ours in ready:
            _, fds, _, _ = socket.recv_fds(self._ours, 1, 1)
            self.listener = fds[0] if fds else None
        if self.listener is None:
            return  # It has ended, or ends, and says why.
        memory = shared_memory.create("exec-gate", SIZE)
        try:
            self._answer(ExecGate(self.listener, memory), process, until)
        finally:
            os.close(memory)

    def _answer(self, gate: ExecGate, process: int, until: float) -> None:
        gate.inherited()
        is_first = True
        while (left := until - time.monotonic()) > 0:
            ready, _, _ = select.select([process, gate.listener], [], [], left)
            if process in ready:
                return
            try:
                notice = gate.receive()
            except BrokenPipeError:
                return  # Nobody is left inside.
            if notice is None:
                continue
            if is_first:
                gate.let(notice.id)
            else:
                gate.refuse(notice.id)
            is_first = False

    def taken(self) -> int:
        """Return the listener; it is the taker's now.

        Raises:
            Unavailable: There is none.

        """
        listener, self.listener = self.listener, None
        if listener is None:
            raise NoExecGate("the restored session is not under it")
        return listener

    def close(self) -> None:
        """Let go of it: what is under it and not taken executes nothing any more."""
        self._ours.close()
        self._theirs.close()
        if self.listener is not None:
            os.close(self.listener)
            self.listener = None
