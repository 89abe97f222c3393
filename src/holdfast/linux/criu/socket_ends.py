"""All Unix and netlink sockets of a network namespace (sock_diag(7)).

/proc/net/unix has no other ends, and /proc/net/netlink has the first 32 groups only.
The kernel answers for the caller's network. So for a capsule with a network of
its own a child goes there, asks, and writes down what it heard.
"""

import contextlib
import os
import socket
import struct
from collections.abc import Callable, Iterator
from typing import NamedTuple

_SOCK_DIAG = 4
_BY_FAMILY = 20
_DUMP = 0x301
_ERROR, _DONE = 2, 3
_HEADER = struct.Struct("=IHHII")
_UNIX = struct.Struct("=BBHIIIII")
_NETLINK = struct.Struct("=BBHIIII")
_UNIX_SOCKET = struct.Struct("=4xI8x")
_NETLINK_SOCKET = struct.Struct("=4x12xI8x")
_ATTRIBUTE = struct.Struct("=HH")
_NUMBER = struct.Struct("=I")
_LINE = struct.Struct("=BQQ")
"""What the child writes down for each socket: which table, its number, the value."""

_ANY_STATE = 0xFFFFFFFF
_ALL_PROTOCOLS = 255
_SHOW_PEERS, _PEER, _WAITING = 4 | 8, 2, 3
_SHOW_GROUPS, _GROUPS = 2, 1
_FIRST_GROUPS = 4
"""Bytes of the first 32 groups."""

TIMEOUT = 2.0
"""Seconds for an answer that takes milliseconds."""

MAX_ANSWER = 1 << 20


class Ends(NamedTuple):
    """What there is in a network."""

    peers: dict[int, int]
    """Of each connected Unix socket: the number of its other end."""

    high_groups: frozenset[int]
    """Netlink sockets that listen to a group above the 32nd."""


NONE = Ends({}, frozenset())


def read_ends(enter: Callable[[], None] | None = None) -> Ends:
    """Return them for our network; or for the one that a child gets to by `enter`.

    Nothing, where the kernel does not answer.
    """
    if enter is None:
        with contextlib.suppress(OSError):
            return _ask()
        return NONE
    ours, theirs = os.pipe()
    child = os.fork()
    if child == 0:
        _tell(theirs, enter)
    os.close(theirs)
    try:
        return _written(ours)
    finally:
        os.close(ours)
        os.waitpid(child, 0)


def _tell(pipe: int, enter: Callable[[], None]) -> None:
    try:
        enter()
        ends = _ask()
        lines = [(0, number, peer) for number, peer in ends.peers.items()]
        lines += [(1, number, 0) for number in ends.high_groups]
        with open(pipe, "wb") as stream:
            stream.write(b"".join(_LINE.pack(*line) for line in lines))
    finally:
        os._exit(0)


def _written(pipe: int) -> Ends:
    with open(pipe, "rb", closefd=False) as stream:
        raw = stream.read()
    whole = len(raw) - len(raw) % _LINE.size
    lines = [*_LINE.iter_unpack(raw[:whole])]
    peers = {number: value for table, number, value in lines if table == 0}
    return Ends(peers, frozenset(number for table, number, _ in lines if table))


def _ask() -> Ends:
    unix = _UNIX.pack(socket.AF_UNIX, 0, 0, _ANY_STATE, 0, _SHOW_PEERS, 0, 0)
    peers: dict[int, int] = {}
    for body in _answers(unix):
        (number,) = _UNIX_SOCKET.unpack_from(body)
        if found := _attribute(body[_UNIX_SOCKET.size :], _PEER):
            (peer,) = _NUMBER.unpack(found)
            peers.setdefault(number, peer)
        # Nobody has accepted these: their other end has no number, its listener has.
        for (waiting,) in _NUMBER.iter_unpack(
            _attribute(body[_UNIX_SOCKET.size :], _WAITING)
        ):
            peers[waiting] = number
    asked = (socket.AF_NETLINK, _ALL_PROTOCOLS, 0, 0, _SHOW_GROUPS, 0, 0)
    high = [
        _NETLINK_SOCKET.unpack_from(body)[0]
        for body in _answers(_NETLINK.pack(*asked))
        if any(_attribute(body[_NETLINK_SOCKET.size :], _GROUPS)[_FIRST_GROUPS:])
    ]
    return Ends(peers, frozenset(high))


def _answers(asked: bytes) -> Iterator[bytes]:
    size = _HEADER.size + len(asked)
    with socket.socket(socket.AF_NETLINK, socket.SOCK_DGRAM, _SOCK_DIAG) as kernel:
        kernel.settimeout(TIMEOUT)
        kernel.sendto(_HEADER.pack(size, _BY_FAMILY, _DUMP, 0, 0) + asked, (0, 0))
        while True:
            packet = kernel.recv(MAX_ANSWER)
            while len(packet) >= _HEADER.size:
                length, kind, _, _, _ = _HEADER.unpack_from(packet)
                if kind in (_ERROR, _DONE) or length < _HEADER.size:
                    return
                yield packet[_HEADER.size : length]
                packet = packet[_aligned(length) :]


def _attribute(raw: bytes, wanted: int) -> bytes:
    while len(raw) >= _ATTRIBUTE.size:
        length, kind = _ATTRIBUTE.unpack_from(raw)
        if length < _ATTRIBUTE.size:
            break
        if kind == wanted:
            return raw[_ATTRIBUTE.size : length]
        raw = raw[_aligned(length) :]
    return b""


def _aligned(length: int) -> int:
    return (length + 3) & ~3
