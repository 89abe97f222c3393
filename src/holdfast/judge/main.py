"""The judge: a process that asks plug-ins and a webhook for the policy's verdict.

It has one descriptor, a listening socket as its standard input, and speaks the
protocol of `holdfast.linux.judge_packets`. It runs other people's code, in workers of
its own, so that a holder never waits for it and never dies of it. A holder whose judge
died gets no answer, and the gate denies.
"""

import signal
import socket
import sys

from holdfast.judge.worker_pool import WorkerPool

STANDARD_INPUT = 0


def main() -> int:
    """Run the process, and return its exit status."""
    # A plug-in's own children must not be left to a parent that ignores them.
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    signal.signal(signal.SIGTERM, _end)
    WorkerPool(socket.socket(fileno=STANDARD_INPUT)).run()
    return 0


def _end(_: int, __: object) -> None:
    sys.exit(0)


if __name__ == "__main__":
    sys.exit(main())
