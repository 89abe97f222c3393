"""Observes what a capsule with its own network tries to reach.

Every address is made one of the capsule's own: what is sent to it goes by on the
loopback device, where a packet socket reads it, and the kernel refuses it at once,
because nobody listens there. Nothing of this needs a right on the machine, only on
the capsule's network, nor a device or a program that may be missing.

What a program inside listens to on all addresses answers then for every machine.
"""

import contextlib
import os
import socket
import struct
from collections.abc import Iterator

from holdfast.core.capsule.outward_packets import IPV4, IPV6, OutwardPackets
from holdfast.linux.capsule import namespaces
from holdfast.model.session_record import CapsuleRecord

SEEN = 512
"""Bytes of a packet that are read: a question for a name has 300 at most."""

AT_ONCE = 2000
"""Packets taken in a row, so that a flood keeps nobody waiting."""

_LOOPBACK = b"lo"
_ALL = 0x0003

# Of rtnetlink: see man 7 rtnetlink.
_NEW_ROUTE, _REQUEST, _ACKNOWLEDGE, _CREATE, _REPLACE = 24, 0x1, 0x4, 0x400, 0x100
_LOCAL_TABLE, _STATIC, _HOST_SCOPE, _LOCAL_ROUTE = 255, 4, 254, 2
_OUTPUT_DEVICE = 4
_HEADER = struct.Struct("=IHHII")
_ROUTE = struct.Struct("=8BI")
_ATTRIBUTE = struct.Struct("=HHI")
_ERROR = struct.Struct("=i")

# Of packet sockets, and of their filters.
_FILTER, _PACKET, _STATISTICS = 26, 263, 6
_COUNTS = struct.Struct("=II")
_PACKET_TYPE, _PROTOCOL = 0xFFFFF004, 0xFFFFF000
_WORD_AT, _HALF_AT, _BYTE_AT, _IS, _RETURN = 0x20, 0x28, 0x30, 0x15, 0x06
_STEP = struct.Struct("=HBBI")
_STEPS = (
    (_WORD_AT, 0, 0, _PACKET_TYPE),  # Each packet goes by twice: out, and in again.
    (_IS, 0, 6, 0),
    (_HALF_AT, 0, 0, _PROTOCOL),
    (_IS, 0, 2, IPV4),
    (_BYTE_AT, 0, 0, 16),  # Where the address begins to which it goes.
    (_IS, 2, 1, 127),
    (_IS, 0, 1, IPV6),
    (_RETURN, 0, 0, SEEN),
    (_RETURN, 0, 0, 0),
)
"""Only what comes in, and goes to no address that is the loopback's anyhow."""


class OutwardWatch:
    """What one capsule has tried to reach since it is watched."""

    def __init__(self, link: socket.socket) -> None:
        self.link = link
        self._packets = OutwardPackets()

    def read(self) -> bool:
        """Take what has come; tell whether there may be more already."""
        for _ in range(AT_ONCE):
            try:
                packet, source = self.link.recvfrom(SEEN)
            except BlockingIOError:
                return False
            self._packets.take(source[1], packet)
        return True

    def close(self) -> OutwardPackets:
        """Look no longer; return what was seen, with what was lost counted."""
        with self.link:
            while self.read():
                pass
            counts = self.link.getsockopt(_PACKET, _STATISTICS, _COUNTS.size)
        self._packets.left_out += _COUNTS.unpack(counts)[1]
        return self._packets


def watch(capsule: CapsuleRecord, first: int) -> OutwardWatch:
    """Begin to look; `first` is the pidfd of the capsule's pid 1.

    Raises:
        OSError: The kernel refuses, or its network is not its own.

    """
    if capsule.net != "own":
        raise OSError(0, "its network is the machine's")
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with ours:
        with theirs:
            pid = os.fork()
            if pid == 0:
                _look_from_inside(capsule, first, theirs)
        try:
            word, fds, _, _ = socket.recv_fds(ours, 200, 1)
        finally:
            os.waitpid(pid, 0)
    if not fds:
        raise OSError(0, word.decode() or "its network cannot be entered")
    link = socket.socket(fileno=fds[0])
    link.settimeout(0)
    return OutwardWatch(link)


def _look_from_inside(capsule: CapsuleRecord, first: int, link: socket.socket) -> None:
    """Open the socket where the packets are, send it out, and end."""
    try:
        users = namespaces.NEW_USERS if capsule.rootless else 0
        namespaces.enter(first, users | namespaces.NEW_NET)
        with _packets_on_loopback() as reader:
            for family in (socket.AF_INET, socket.AF_INET6):
                _make_all_local(family)
            socket.send_fds(link, [b"open"], [reader.fileno()])
    except OSError as error:
        with contextlib.suppress(OSError):
            link.send((error.strerror or "failed").encode()[:200])
    finally:
        os._exit(0)


@contextlib.contextmanager
def _packets_on_loopback() -> Iterator[socket.socket]:
    family, kind = socket.AF_PACKET, socket.SOCK_DGRAM
    with socket.socket(family, kind | socket.SOCK_CLOEXEC, 0) as reader:
        steps = b"".join(_STEP.pack(*one) for one in _STEPS)
        kept = bytearray(steps)
        address = _address_of(kept)
        program = struct.pack("=H6xQ", len(_STEPS), address)
        reader.setsockopt(socket.SOL_SOCKET, _FILTER, program)
        # Bound after it is filtered: nothing else is ever in its queue.
        reader.bind((_LOOPBACK.decode(), _ALL))
        yield reader


def _address_of(kept: bytearray) -> int:
    import ctypes  # noqa: PLC0415  # only here

    return ctypes.addressof(ctypes.c_char.from_buffer(kept))


def _make_all_local(family: int) -> None:
    """Route every address to the loopback device; without that protocol, nothing."""
    route = _ROUTE.pack(
        family, 0, 0, 0, _LOCAL_TABLE, _STATIC, _HOST_SCOPE, _LOCAL_ROUTE, 0
    )
    device = socket.if_nametoindex(_LOOPBACK.decode())
    body = route + _ATTRIBUTE.pack(_ATTRIBUTE.size, _OUTPUT_DEVICE, device)
    flags = _REQUEST | _ACKNOWLEDGE | _CREATE | _REPLACE
    head = _HEADER.pack(_HEADER.size + len(body), _NEW_ROUTE, flags, 1, 0)
    with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0) as kernel:
        kernel.send(head + body)
        answer = kernel.recv(4096)
    (code,) = _ERROR.unpack_from(answer, _HEADER.size)
    if code and family == socket.AF_INET:
        raise OSError(-code, os.strerror(-code))
