"""A notifier that says yes to every exec: what the kernel's part of a gate costs.

    python -m bench.exec_peer PROGRAM…

runs a program under the filter of the exec gate, and lets every exec happen without
looking at it.
"""

import ctypes
import os
import select
import signal
import socket
import sys

from holdfast.linux import exec_filter, exec_gate, shared_memory

_PR_SET_PDEATHSIG = 1


def main(command: list[str]) -> int:
    """Run a command, and let it execute what it likes."""
    ours, theirs = socket.socketpair()
    pid = os.fork()
    if pid == 0:
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
        listener = exec_filter.install()
        socket.send_fds(theirs, [b"."], [listener])
        os.close(listener)
        os.execvp(command[0], command)  # noqa: S606  # as it was asked for
    os.close(0)  # So that it ends when its parent does.
    _, (listener, *_), _, _ = socket.recv_fds(ours, 1, 1)
    gate = exec_gate.ExecGate(listener, shared_memory.create("peer", exec_gate.SIZE))
    gate.inherited()
    waiting = select.epoll()
    waiting.register(listener, select.EPOLLIN)
    while True:
        waiting.poll()
        try:
            notice = gate.receive()
        except BrokenPipeError:
            return 0
        if notice is not None:
            gate.let(notice.id)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
