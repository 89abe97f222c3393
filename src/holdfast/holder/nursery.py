"""The nursery: has the holder's code loaded, and forks a holder on request.

A fork shares the memory of everything loaded; a new interpreter would pay for
all of it again for each session. It holds no part of any session: if it dies, the
keeper starts another.
"""

import contextlib
import gc
import os
import signal
import socket
import sys
import traceback

from holdfast.holder import birth
from holdfast.holder.links.keeper_watch import KeeperWatch
from holdfast.holder.policy import policy_in_force
from holdfast.linux import cgroups, limits, packets
from holdfast.linux.stored import places
from holdfast.model.errors import HoldfastError
from holdfast.term import queries
from holdfast.version import __version__

TELL_PATIENCE = 1.0
"""Seconds to tell the keeper why we end."""

MAX_WHY = 300


def main() -> None:
    """Fork holders until the keeper is gone."""
    link = socket.socket(fileno=int(sys.argv[1]))
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    _find_ground()
    policy_in_force.preload()
    queries.preload()
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    # What is loaded now never becomes garbage; a collection that looked at it
    # would copy the pages it is meant to share.
    gc.collect()
    gc.freeze()
    if sys.argv[2:] == ["ready"]:  # An older keeper does not expect to be told.
        knows = {"waits": True, "pings": True, "dozes": True}
        packets.send(link, {"do": "ready", "version": __version__, **knows})
    watch = KeeperWatch(link)
    while (heard := watch.receive()) is not None:
        packet, fds = heard
        policy_in_force.preload()
        if packet.get("image") or packet.get("do") == "port":
            _load_porting()
        pid = os.fork()
        if pid == 0:
            _hold(link, packet, fds)
        _tell_forked(link, packet, pid)
        for fd in fds:
            os.close(fd)


def _find_ground() -> None:
    """Find out where sessions get their cgroups, before holders are forked."""
    found = cgroups.ground()
    if found.folder is not None:
        cgroups.sweep(found.folder)
    limits.sweep()


def _load_porting() -> None:
    """Load the code for checkpoints and restores, once it is first needed.

    Few machines ever do; where one is done, the next has it loaded, and knows CRIU.
    """
    if "holdfast.holder.restored_leader" in sys.modules:
        return
    from holdfast.holder import (  # noqa: F401, PLC0415  # see above
        porter,  # ditto
        restored_leader,
        restored_session,
        tree_dump,
    )

    with contextlib.suppress(HoldfastError, OSError):
        tree_dump.usable_criu()
    gc.freeze()


def _tell_forked(link: socket.socket, packet: packets.Packet, pid: int) -> None:
    """Hand the keeper a pidfd: until the holder deposits, only we know of it."""
    if sys.argv[2:] != ["ready"] or packet.get("do") == "port":
        return
    key = packet.get("id") or packet.get("token")
    with contextlib.suppress(ConnectionError):  # The end of the link is seen next.
        try:
            pidfd = os.pidfd_open(pid)
        except OSError:
            packets.send(link, {"do": "stillborn", "key": key})
            return
        packets.send(link, {"do": "forked", "key": key, "pid": pid}, [pidfd])
        os.close(pidfd)


def _hold(link: socket.socket, packet: packets.Packet, fds: list[int]) -> None:
    status = 0
    try:
        link.close()
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        if packet.get("do") == "port":
            # Few sessions are ever put to disk: the nursery does without its code.
            from holdfast.holder import porter  # noqa: PLC0415  # see above

            porter.serve(fds)
        else:
            birth.hold(packet, fds)
    except BaseException as error:  # noqa: BLE001  # the outermost frame of this process
        traceback.print_exc()
        _tell_why(packet, error)
        status = 1
    finally:
        os._exit(status)


def _tell_why(packet: packets.Packet, error: BaseException) -> None:
    """Tell the keeper why a session goes without us: else nobody would know."""
    why = f"{type(error).__name__}: {error}"[:MAX_WHY]
    with (
        contextlib.suppress(OSError, HoldfastError),
        packets.connect(places.keeper_socket(), TELL_PATIENCE) as link,
    ):
        packets.send(link, {"do": "gave-up", "id": packet.get("id"), "why": why})
        packets.receive(link)


if __name__ == "__main__":
    main()
