import os
import resource
import socket
import subprocess
import sys
import tempfile
from pathlib import Path

from holdfast.linux import descriptors

PROGRAM = """
import os, resource, subprocess, sys
from holdfast.linux import descriptors
resource.setrlimit(resource.RLIMIT_NOFILE, (200, 300))
descriptors.raise_limit()
descriptors.raise_limit()
print(descriptors.limit(), os.environ[descriptors.USUAL])
wait = [sys.executable, "-S", "-c", "input()"]
with subprocess.Popen(wait, stdin=subprocess.PIPE) as child:
    descriptors.give_usual(child.pid)
    print(resource.prlimit(child.pid, resource.RLIMIT_NOFILE))
    child.communicate(b"x")
"""


def test_we_get_all_and_our_children_what_we_were_started_with() -> None:
    env = {key: value for key, value in os.environ.items() if "HOLDFAST" not in key}

    said = subprocess.check_output([sys.executable, "-c", PROGRAM], env=env)

    assert said.split(b"\n")[:2] == [b"300 200", b"(200, 300)"]


def test_whoever_connects_is_hung_up_on_when_no_descriptor_is_left() -> None:
    with (
        tempfile.TemporaryDirectory(prefix="hf") as folder,
        socket.socket(socket.AF_UNIX) as listener,
        socket.socket(socket.AF_UNIX) as first,
        socket.socket(socket.AF_UNIX) as second,
    ):
        path = str(Path(folder) / "x.sock")
        listener.bind(path)
        listener.listen()
        spare = descriptors.Spare()
        for link in (first, second):
            link.connect(path)

        spare.hang_up(listener)
        spare.hang_up(listener)

        assert (first.recv(1), second.recv(1)) == (b"", b"")
        listener.settimeout(0)
        spare.hang_up(listener)  # Nobody is there, and nobody is waited for.


def test_the_limit_is_what_the_kernel_says() -> None:
    assert descriptors.limit() == resource.getrlimit(resource.RLIMIT_NOFILE)[0]
