"""Where a socket listens, and what it is connected to.

A descriptor only tells the number of its socket. The tables of /proc/PID/net
tell the rest; each process sees those of its own network namespace, so they are read
once for each namespace, and only the lines that are asked for are parsed.
"""

import socket
import struct
from collections.abc import Iterator
from typing import NamedTuple

from holdfast.linux import procfs

MAX_TABLE = 16 * 1024 * 1024
"""Bytes of one table: some hundred thousand connections."""

LISTENING = "listening"
CONNECTED = "connected"
OTHER = "other"

_TABLES = ("tcp", "tcp6", "udp", "udp6", "unix")
_INODE = 9
_UNIX_INODE = 6
_TCP_LISTEN = b"0A"
_TCP_ESTABLISHED = b"01"
_UNIX_ACCEPTS = 1 << 16
"""The flag of a Unix socket that listens."""

_UNIX_CONNECTED = b"03"
_WORD = struct.Struct("=I")


class Socket(NamedTuple):
    """One socket: `standing` is listening, connected or other."""

    protocol: str
    standing: str
    local: str
    local_port: int
    remote: str
    remote_port: int


Lines = dict[bytes, tuple[str, bytes]]
"""By the number of the socket: the table, and the line of it."""


class Tables:
    """The sockets of every network namespace that was asked about."""

    def __init__(self) -> None:
        self._known: dict[str, Lines] = {}
        self._found: dict[tuple[str, str], Socket | None] = {}
        self._ports: dict[tuple[str, int], frozenset[str]] = {}

    def find(self, pid: int, inode: str) -> Socket | None:
        """Return the socket of that number, as `pid` is shown it."""
        namespace = procfs.link(f"/proc/{pid}/ns/net")
        key = namespace, inode
        # Children share the sockets of their parents.
        if key not in self._found:
            line = self._lines(namespace, pid).get(inode.encode())
            self._found[key] = None if line is None else _socket(*line)
        return self._found[key]

    def listening(self, pid: int, port: int) -> frozenset[str]:
        """Return the numbers of the sockets on which `port` is listened to."""
        namespace = procfs.link(f"/proc/{pid}/ns/net")
        key = namespace, port
        if key not in self._ports:
            lines = self._lines(namespace, pid)
            self._ports[key] = frozenset(_listening(lines, port))
        return self._ports[key]

    def all_listening(self, pid: int) -> list[Socket]:
        """Return everything that listens for connections in the network of `pid`."""
        lines = self._lines(procfs.link(f"/proc/{pid}/ns/net"), pid).values()
        found = (_inet(kind, line) for kind, line in lines if kind != "unix")
        return [one for one in found if one.standing == LISTENING]

    def _lines(self, namespace: str, pid: int) -> Lines:
        if not namespace:
            return {}
        if namespace not in self._known:
            self._known[namespace] = _read(pid)
        return self._known[namespace]


def _listening(lines: Lines, port: int) -> Iterator[str]:
    wanted = b":%04X" % port
    for inode, (protocol, line) in lines.items():
        if protocol == "unix" or not line.split(maxsplit=2)[1].endswith(wanted):
            continue
        if _inet(protocol, line).standing == LISTENING:
            yield inode.decode()


def _read(pid: int) -> Lines:
    lines: Lines = {}
    for protocol in _TABLES:
        raw = procfs.read_table(f"/proc/{pid}/net/{protocol}", MAX_TABLE)
        place = _UNIX_INODE if protocol == "unix" else _INODE
        for line in raw.splitlines()[1:]:
            words = line.split(maxsplit=place + 1)
            if len(words) > place:
                lines[words[place]] = protocol, line
    return lines


def _socket(protocol: str, line: bytes) -> Socket:
    return _unix(line) if protocol == "unix" else _inet(protocol, line)


def _inet(protocol: str, line: bytes) -> Socket:
    _, local, remote, state = line.split(maxsplit=4)[:4]
    here, here_port = _address(local)
    there, there_port = _address(remote)
    if protocol.startswith("tcp"):
        standing = {_TCP_LISTEN: LISTENING, _TCP_ESTABLISHED: CONNECTED}.get(
            state, OTHER
        )
    else:
        # Nobody accepts datagrams; a socket that has no peer takes them from all.
        standing = CONNECTED if there_port else LISTENING
    return Socket(protocol, standing, here, here_port, there, there_port)


def _address(text: bytes) -> tuple[str, int]:
    digits, _, port = text.partition(b":")
    # Four bytes at a time, as numbers of this machine.
    raw = b"".join(
        _WORD.pack(int(digits[at : at + 8], 16)) for at in range(0, len(digits), 8)
    )
    family = socket.AF_INET if len(raw) == _WORD.size else socket.AF_INET6
    return socket.inet_ntop(family, raw), int(port, 16)


def _unix(line: bytes) -> Socket:
    words = line.split(maxsplit=7)
    path = words[7].decode("utf-8", "surrogateescape") if len(words) > 7 else ""  # noqa: PLR2004  # the eighth is its path
    if int(words[3], 16) & _UNIX_ACCEPTS:
        standing = LISTENING
    else:
        standing = CONNECTED if words[5] == _UNIX_CONNECTED else OTHER
    return Socket("unix", standing, path, 0, "", 0)
