"""A notifier that says yes to every exec: what the kernel's part of a gate costs.

    python -m bench.exec_peer yes|compare PROGRAM…

runs a program under the filter of the exec gate, and lets every exec happen: without
looking at it, or having read what it wants and comparing that with what came of it, as
the gate does. Neither judges anything.
"""

import ctypes
import os
import select
import signal
import socket
import sys

from holdfast.linux import child_stops, exec_filter, exec_gate, shared_memory
from holdfast.linux.exec_trace import ExecTracer, Expected
from holdfast.linux.exec_words import read_wanted

_PR_SET_PDEATHSIG = 1


def main(how: str, *command: str) -> int:
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
    tracer, stops = ExecTracer(pid), child_stops.watch()
    waiting = select.epoll()
    for fd in (listener, stops):
        waiting.register(fd, select.EPOLLIN)
    while True:
        if (stops, select.EPOLLIN) in waiting.poll():
            child_stops.heard(stops)
            tracer.collect()
            continue
        try:
            notice = gate.receive()
        except BrokenPipeError:
            return 0
        if notice is None:
            continue
        if how == "compare":
            wanted = read_wanted(notice)
            tracer.seizes(notice.thread, Expected(wanted.mark, wanted.last))
        gate.let(notice.id)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
