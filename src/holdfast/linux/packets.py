"""Packets of JSON between our own processes, with descriptors beside them.

One packet of a SOCK_SEQPACKET socket is one JSON object; the kernel keeps their
boundaries. Descriptors travel with the packet that names them. Peers with a uid other
than ours are ignored.
"""

import contextlib
import json
import os
import socket
import struct
from collections.abc import Iterable

MAX_PACKET = 64 * 1024
"""Bytes in a packet: a command with its whole environment."""

MAX_FDS = 16
"""Descriptors beside one packet: more than a session has to keep."""

_CREDENTIALS = struct.Struct("3i")

Packet = dict[str, object]


def listen(path: str | os.PathLike[str]) -> socket.socket:
    """Listen for packets at `path`, which nobody else may reach."""
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    mask = os.umask(0o177)
    try:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(path)  # noqa: PTH108  # pathlib is slow to load
        listener.bind(os.fspath(path))
    finally:
        os.umask(mask)
    listener.listen(1024)
    return listener


def connect(path: str | os.PathLike[str], timeout: float) -> socket.socket:
    """Connect to the listener at `path`."""
    link = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    link.settimeout(timeout)
    try:
        link.connect(os.fspath(path))
    except OSError:
        link.close()
        raise
    return link


def is_ours(peer: socket.socket) -> bool:
    """Tell whether the kernel says that the other side has our uid."""
    return _credentials(peer)[1] == os.getuid()


def process_of(peer: socket.socket) -> int:
    """Return which process the other side was when it connected, or 0."""
    return _credentials(peer)[0]


def send(link: socket.socket, packet: Packet, fds: list[int] | None = None) -> None:
    """Send one packet, whole or not at all."""
    socket.send_fds(link, [json.dumps(packet).encode()], fds or [])


def receive(link: socket.socket) -> tuple[Packet, list[int]] | None:
    """Return the next packet and its descriptors, or None when the other is gone.

    What is not a JSON object counts as gone: our own processes send nothing else.

    Raises:
        BlockingIOError: There is none yet.
        TimeoutError: None came in time.

    """
    try:
        raw, fds, flags, _ = socket.recv_fds(link, MAX_PACKET, MAX_FDS)
    except (BlockingIOError, TimeoutError):
        raise
    except OSError:
        return None
    try:
        packet = json.loads(raw)
    except (ValueError, RecursionError):
        packet = None
    if not isinstance(packet, dict) or flags & socket.MSG_CTRUNC:
        close(fds)
        return None
    return packet, list(fds)


def close(fds: Iterable[int]) -> None:
    """Close descriptors that came beside a packet."""
    for fd in fds:
        os.close(fd)


def _credentials(peer: socket.socket) -> tuple[int, int, int]:
    raw = peer.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _CREDENTIALS.size)
    pid, uid, gid = _CREDENTIALS.unpack(raw)
    return pid, uid, gid
