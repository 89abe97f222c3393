import os
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from holdfast.linux.roots import Root, root_of


@contextmanager
def running(*command: str) -> Iterator[int]:
    """Run a program that says when it is there."""
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as it:
        assert it.stdout is not None
        if it.stdout.readline() != b"here\n":
            pytest.skip(f"this machine does not let us run {command[0]}")
        yield it.pid
        it.kill()


HERE = ("sh", "-c", "echo here; read x")


def ours() -> Root:
    found = root_of(os.getpid())
    assert found is not None
    return found


def test_processes_among_the_same_files_have_the_same_root() -> None:
    with running(*HERE) as pid:
        assert root_of(pid) == ours()


@pytest.mark.parametrize("how", ["--mount", "--map-root-user --mount"])
def test_who_has_mounts_of_its_own_has_another_root(how: str) -> None:
    with running("unshare", *how.split(), *HERE) as pid:
        found = root_of(pid)

    assert found is not None
    assert found[:3] == ours()[:3]  # The same file, mounted once more.
    assert found != ours()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may change its root")
def test_who_has_changed_its_root_has_another(tmp_path: Path) -> None:
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.chroot(tmp_path)
        os.write(writer, b".")
        signal.pause()
    os.read(reader, 1)
    found = root_of(child)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    os.close(reader)
    os.close(writer)

    assert found is not None
    assert found[0] == tmp_path.stat().st_ino


def test_nobody_has_no_root() -> None:
    assert root_of(2**22 - 1) is None
