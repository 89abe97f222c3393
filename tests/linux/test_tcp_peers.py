import os
import socket
import subprocess
import sys

import pytest

from holdfast.linux import tcp_peers
from holdfast.linux.tcp_peers import Peer, has_socket, peer_of

DIAL = """
import os, socket, sys
os.setuid(int(sys.argv[1]))
link = socket.socket(int(sys.argv[2]))
link.connect((sys.argv[3], int(sys.argv[4])))
print(os.fstat(link.fileno()).st_ino, flush=True)
input()
"""


@pytest.mark.parametrize(
    ("family", "host"), [(socket.AF_INET, "127.0.0.1"), (socket.AF_INET6, "::1")]
)
@pytest.mark.parametrize(
    "uid", [os.getuid(), 65534] if os.getuid() == 0 else [os.getuid()]
)
def test_the_kernel_says_whose_the_other_end_is(
    family: socket.AddressFamily, host: str, uid: int
) -> None:
    with socket.create_server((host, 0), family=family) as listener:
        port = listener.getsockname()[1]
        words = [str(uid), str(int(family)), host, str(port)]
        dialler = subprocess.Popen(
            [sys.executable, "-c", DIAL, *words],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        link, _ = listener.accept()
        with link:
            assert dialler.stdout is not None
            inode = int(dialler.stdout.readline())

            assert peer_of(link) == Peer(uid, inode)
            assert has_socket(dialler.pid, inode)
            assert not has_socket(os.getpid(), inode)
        dialler.communicate("\n")


def test_of_a_connection_that_is_gone_nobody_can_tell() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        dialled = socket.create_connection(listener.getsockname())
        link, _ = listener.accept()
        with link:
            dialled.close()
            link.shutdown(socket.SHUT_RDWR)

            assert peer_of(link) is None


def test_a_socket_of_another_kind_has_no_tcp_peer() -> None:
    one, other = socket.socketpair()
    with one, other:
        assert peer_of(one) is None


def test_a_process_that_is_gone_has_no_socket() -> None:
    gone = subprocess.Popen(["/bin/true"])
    gone.wait()

    assert not tcp_peers.has_socket(gone.pid, 1)
