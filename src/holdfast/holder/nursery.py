"""The nursery: has the holder's code loaded, and forks a holder when asked.

A fork shares the memory of everything loaded; a new interpreter would pay for
all of it again, once for each session. It holds nothing of any session: if it
dies, the keeper starts another.
"""

import gc
import os
import signal
import socket
import sys
import traceback

from holdfast.holder import birth
from holdfast.linux import packets


def main() -> None:
    """Fork holders until the keeper is gone."""
    link = socket.socket(fileno=int(sys.argv[1]))
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    # What is loaded now never becomes garbage; a collection that looked at it
    # would copy the pages it is meant to share.
    gc.collect()
    gc.freeze()
    while (heard := packets.receive(link)) is not None:
        packet, fds = heard
        if os.fork() == 0:
            _hold(link, packet, fds)
        for fd in fds:
            os.close(fd)


def _hold(link: socket.socket, packet: packets.Packet, fds: list[int]) -> None:
    status = 0
    try:
        link.close()
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        birth.hold(packet, fds)
    except BaseException:  # noqa: BLE001  # the outermost frame of this process
        traceback.print_exc()
        status = 1
    finally:
        os._exit(status)


if __name__ == "__main__":
    main()
