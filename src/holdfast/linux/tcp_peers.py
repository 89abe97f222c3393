"""The user at the other end of a TCP connection on this machine.

The kernel is asked about exactly that socket (sock_diag(7)), so the answer costs the
same however many connections there are. The other end may belong to another network
namespace, or be closed already; then there is no answer.
"""

import contextlib
import os
import socket
import struct
from dataclasses import dataclass

_SOCK_DIAG = 4
_BY_FAMILY = 20
_REQUEST = 1
_ERROR = 2
_ANY_STATE = 0xFFFFFFFF
_NO_COOKIE = (0xFFFFFFFF, 0xFFFFFFFF)

_HEADER = struct.Struct("=IHHII")
_ASKED = struct.Struct("=BBBBI")
_PORTS = struct.Struct(">HH")
_REST = struct.Struct("=III")
_ANSWER = struct.Struct("=4x48xIIIII")

TIMEOUT = 1.0
"""Seconds for an answer that comes in microseconds."""


@dataclass(frozen=True, slots=True)
class Peer:
    """Who has the socket at the other end."""

    uid: int
    inode: int


def peer_of(link: socket.socket) -> Peer | None:
    """Return who is at the other end of a TCP connection; None if nobody can tell."""
    if link.family not in (socket.AF_INET, socket.AF_INET6):
        return None
    try:
        ours, theirs = link.getsockname(), link.getpeername()
        asked = _question(link.family, theirs, ours)
        with socket.socket(socket.AF_NETLINK, socket.SOCK_DGRAM, _SOCK_DIAG) as kernel:
            kernel.settimeout(TIMEOUT)
            kernel.sendto(asked, (0, 0))
            answer = kernel.recv(4096)
    except OSError:
        return None
    _, kind, _, _, _ = _HEADER.unpack_from(answer)
    if kind == _ERROR or len(answer) < _HEADER.size + _ANSWER.size:
        return None
    _, _, _, uid, inode = _ANSWER.unpack_from(answer, _HEADER.size)
    return Peer(uid, inode)


def has_socket(pid: int, inode: int) -> bool:
    """Tell whether a process has this socket open."""
    wanted = f"socket:[{inode}]"
    with contextlib.suppress(OSError), os.scandir(f"/proc/{pid}/fd") as found:
        for entry in found:
            with contextlib.suppress(OSError):  # Closed while we looked.
                if os.readlink(entry.path) == wanted:  # noqa: PTH115  # no path: a number
                    return True
    return False


def _question(family: int, theirs: tuple[str, int], ours: tuple[str, int]) -> bytes:
    body = (
        _ASKED.pack(family, socket.IPPROTO_TCP, 0, 0, _ANY_STATE)
        + _PORTS.pack(theirs[1], ours[1])
        + socket.inet_pton(family, theirs[0]).ljust(16, b"\0")
        + socket.inet_pton(family, ours[0]).ljust(16, b"\0")
        + _REST.pack(0, *_NO_COOKIE)
    )
    size = _HEADER.size + len(body)
    return _HEADER.pack(size, _BY_FAMILY, _REQUEST, 0, 0) + body
