import os
import subprocess

import pytest

from holdfast.holder.processes import leader_exit


@pytest.mark.parametrize(
    ("script", "status"), [("exit 0", 0), ("exit 7", 7), ("kill -9 $$", -9)]
)
def test_how_a_child_of_ours_ended_is_known(script: str, status: int) -> None:
    child = subprocess.Popen(["/bin/sh", "-c", script])
    pidfd = os.pidfd_open(child.pid)
    try:
        assert leader_exit.wait(child.pid, pidfd) == status
    finally:
        child.returncode = status
        os.close(pidfd)


def test_what_cannot_be_known_is_waited_for_a_moment_only(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(leader_exit, "PATIENCE", 0.01)
    pidfd = os.pidfd_open(os.getpid())
    try:
        assert leader_exit.wait(os.getpid(), pidfd) is None
    finally:
        os.close(pidfd)
