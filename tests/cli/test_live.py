"""The command line with a real keeper and real holders, once through everything."""

import contextlib
import os
import signal
import socket
import struct
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.cli.support.pty_user import User

from holdfast.cli.main import main
from holdfast.client import keeper as keeper_client
from holdfast.model.session_requests import Status

BASH = ["bash", "--norc", "--noprofile"]


@pytest.fixture
def place(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="hf") as folder:
        monkeypatch.setenv("HOLDFAST_RUNTIME_DIR", folder)
        monkeypatch.setenv("HOLDFAST_CONFIG_DIR", f"{folder}/config")
        monkeypatch.delenv("HOLDFAST_SESSION", raising=False)
        yield Path(folder)
        for session in keeper_client.sessions():
            main(["end", session.id, "--signal", "KILL"])
        status = keeper_client.request(Status())
        for name in ("pid", "nursery"):
            with contextlib.suppress(ProcessLookupError):
                os.kill(int(str(status[name])), signal.SIGKILL)


def listener_of(place: Path) -> int:
    (path,) = (place / "s").glob("*.sock")
    with socket.socket(socket.AF_UNIX) as link:
        link.connect(str(path))
        raw = link.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12)
    return int(struct.unpack("3i", raw)[0])


def test_a_session_lives_through_its_holder_and_gives_its_status(place: Path) -> None:
    user = User("new", "--name", "live", "--", *BASH, size=(90, 20))
    user.sees(b"[holdfast] live: only you")
    user.sees(b"$ " if os.getuid() else b"# ")
    user.types(b"stty size\r")
    user.sees(b"20 90")

    os.kill(listener_of(place), signal.SIGKILL)
    user.types(b"echo after-$((1+1))\r")
    user.sees(b"after-2")
    user.types(b"\x1dd")
    user.sees(b"`holdfast attach live` reattaches")
    assert user.left() == 0
    assert user.modes() == user.before

    again = User("attach", "live")
    again.types(b"exit 5\r")
    assert again.left() == 5
    assert again.modes() == again.before
    assert keeper_client.sessions() == []
    user.close()
    again.close()


def test_a_session_is_driven_without_a_terminal(
    place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert place.exists()
    assert main(["new", "--detach", "--name", "job", "--", *BASH]) == 0
    assert main(["resize", "job", "100x30"]) == 0
    assert main(["send", "job", "--enter", "stty size"]) == 0
    assert main(["wait", "job", "--for", "30 100", "--timeout", "9"]) == 0
    assert main(["send", "job", "--enter", "echo go-$((1+1)); sleep 99"]) == 0
    assert main(["wait", "job", "--for", "go-2", "--timeout", "9"]) == 0
    assert main(["keys", "job", "C-c"]) == 0
    assert main(["send", "job", "--enter", "exit 7"]) == 0
    capsys.readouterr()
    assert main(["wait", "job", "--for", "exit", "--timeout", "9", "--json"]) == 0
    assert '"exit": 7' in capsys.readouterr().out
    assert main(["ls"]) == 0
    assert "exited 7" in capsys.readouterr().out
    assert main(["end", "job"]) == 0


def test_several_sessions_are_ended_once_all_of_them_are_known(
    place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert place.exists()
    for name in ("one", "two"):
        assert main(["new", "--detach", "--name", name, "--", "sleep", "600"]) == 0

    assert main(["end", "one", "tow"]) != 0
    assert len(keeper_client.sessions()) == 2

    capsys.readouterr()
    assert main(["end", "one", "two", "one"]) == 0
    assert capsys.readouterr().out == "one has ended\ntwo has ended\n"
    assert keeper_client.sessions() == []


def test_a_command_that_does_not_exist_is_said(place: Path) -> None:
    run = subprocess.run(
        [sys.executable, "-m", "holdfast", "new", "--detach", "--", "no-such-command"],
        capture_output=True,
        text=True,
        check=False,
    )

    assert run.returncode == 64
    assert "no-such-command" in run.stderr
    assert place.exists()
    assert keeper_client.sessions() == []
