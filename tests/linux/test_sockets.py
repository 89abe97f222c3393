import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from holdfast.linux.sockets import CONNECTED, LISTENING, OTHER, Tables

APART = """
import os, socket
os.unshare(os.CLONE_NEWNET) if hasattr(os, "unshare") else __import__("ctypes").CDLL(
    None).unshare(0x40000000)
s = socket.socket()
s.bind(("", 4321))
s.listen()
print(os.fstat(s.fileno()).st_ino, flush=True)
input()
"""


def inode(one: socket.socket) -> str:
    return str(os.fstat(one.fileno()).st_ino)


@pytest.mark.parametrize(
    ("family", "host", "protocol"),
    [
        (socket.AF_INET, "127.0.0.1", "tcp"),
        (socket.AF_INET6, "::1", "tcp6"),
    ],
)
def test_a_stream_socket_listens_and_connects(
    family: socket.AddressFamily, host: str, protocol: str
) -> None:
    with socket.socket(family) as server, socket.socket(family) as client:
        server.bind((host, 0))
        server.listen()
        client.connect(server.getsockname())
        port, own = server.getsockname()[1], client.getsockname()[1]

        tables = Tables()
        listening = tables.find(os.getpid(), inode(server))
        connected = tables.find(os.getpid(), inode(client))

        assert listening is not None
        assert listening[:4] == (protocol, LISTENING, host, port)
        assert connected == (protocol, CONNECTED, host, own, host, port)
        assert tables.listening(os.getpid(), port) == {inode(server)}
        assert not tables.listening(os.getpid(), own)


def test_a_datagram_socket_without_a_peer_listens() -> None:
    kind = socket.SOCK_DGRAM
    with socket.socket(type=kind) as server, socket.socket(type=kind) as client:
        server.bind(("127.0.0.1", 0))
        client.connect(server.getsockname())

        tables = Tables()
        found = tables.find(os.getpid(), inode(server))
        other = tables.find(os.getpid(), inode(client))

        assert found is not None
        assert other is not None
        assert (found.protocol, found.standing) == ("udp", LISTENING)
        assert (other.standing, other.remote_port) == (CONNECTED, found.local_port)


def test_a_unix_socket_is_known_by_its_path(tmp_path: Path) -> None:
    path = str(tmp_path / "with space")
    with socket.socket(socket.AF_UNIX) as server, socket.socket(socket.AF_UNIX) as idle:
        server.bind(path)
        server.listen()
        pair = socket.socketpair()

        tables = Tables()
        found = tables.find(os.getpid(), inode(server))
        joined = tables.find(os.getpid(), inode(pair[0]))
        alone = tables.find(os.getpid(), inode(idle))

        assert found == ("unix", LISTENING, path, 0, "", 0)
        assert joined is not None
        assert joined.standing == CONNECTED
        assert alone is not None
        assert alone.standing == OTHER
        for one in pair:
            one.close()


def test_what_is_no_socket_is_not_found() -> None:
    assert Tables().find(os.getpid(), "1") is None
    assert Tables().find(2**22 + 1, "1") is None
    assert Tables().listening(2**22 + 1, 80) == frozenset()


@pytest.mark.skipif(os.getuid() != 0, reason="needs the right to make a namespace")
def test_each_process_is_shown_its_own_network() -> None:
    with subprocess.Popen(
        [sys.executable, "-c", APART], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as apart:
        assert apart.stdin is not None
        assert apart.stdout is not None
        number = apart.stdout.readline().decode().strip()
        if not number:
            pytest.skip("this machine makes no network namespaces")

        tables = Tables()
        found = tables.find(apart.pid, number)

        assert found is not None
        assert (found.standing, found.local_port) == (LISTENING, 4321)
        assert tables.find(os.getpid(), number) is None
        apart.communicate(b"\n")


def test_everything_that_listens_in_a_network_is_found() -> None:
    with socket.socket() as server, socket.socket() as other:
        server.bind(("127.0.0.1", 0))
        server.listen()
        other.bind(("127.0.0.1", 0))

        found = Tables().all_listening(os.getpid())

        ports = {one.local_port for one in found if one.protocol == "tcp"}
        assert server.getsockname()[1] in ports
        assert other.getsockname()[1] not in ports
        assert {one.standing for one in found} == {LISTENING}
