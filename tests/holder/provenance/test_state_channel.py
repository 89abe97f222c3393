import os
import stat
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from holdfast.core.shell.shell_state import ShellState
from holdfast.core.shell.state_messages import UNKNOWN
from holdfast.holder.provenance.state_channel import StateChannel, make_pipe
from holdfast.linux.shells import key_of
from holdfast.linux.stored import places
from holdfast.model.ids import SessionId

SESSION = SessionId("s_aaaaaaaaaaaaaaaa")


@pytest.fixture
def pipe(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="hf") as folder:
        monkeypatch.setenv("HOLDFAST_RUNTIME_DIR", folder)
        monkeypatch.setenv("HOLDFAST_CONFIG_DIR", f"{folder}/config")
        yield places.session_pipe(SESSION)


@pytest.fixture
def channel(pipe: Path) -> Iterator[StateChannel]:
    assert make_pipe(SESSION) == str(pipe)
    made = StateChannel(SESSION, "bash", key_of(SESSION))
    yield made
    assert made.fd is not None
    os.close(made.fd)


def say(pipe: Path, said: bytes) -> None:
    fd = os.open(pipe, os.O_RDWR)
    os.write(fd, said)
    os.close(fd)


def message(number: int, said: bytes = b"oposix\0") -> bytes:
    key = key_of(SESSION)
    begin = b"holdfast-state 1 %s %d\0" % (key, number)
    return begin + said + b"end %s %d\0" % (key, said.count(b"\0"))


def mode(pipe: Path) -> int:
    return stat.S_IMODE(pipe.stat().st_mode)


def test_a_pipe_is_for_its_user_only_and_asks_for_everything(
    channel: StateChannel, pipe: Path
) -> None:
    assert pipe.is_fifo()
    assert mode(pipe) == 0o700
    assert channel.fd is not None
    assert not os.get_inheritable(channel.fd)


def test_once_everything_was_told_only_changes_are(
    channel: StateChannel, pipe: Path
) -> None:
    say(pipe, message(1))

    assert isinstance(channel.take(1), ShellState)
    assert mode(pipe) == 0o600
    assert channel.take(1) is None


def test_after_a_loss_everything_is_asked_for_again(
    channel: StateChannel, pipe: Path
) -> None:
    say(pipe, message(1))
    channel.take(1)
    say(pipe, message(2, b"garbage\0"))

    assert channel.take(2) is UNKNOWN
    assert mode(pipe) == 0o700


def test_a_successor_asks_for_everything(channel: StateChannel, pipe: Path) -> None:
    say(pipe, message(1))
    channel.take(1)
    heir = StateChannel(SESSION, "fish", key_of(SESSION))

    assert mode(pipe) == 0o700
    assert heir.take(1) is UNKNOWN
    assert heir.fd is not None
    os.close(heir.fd)


def test_what_is_no_pipe_is_not_read(pipe: Path, tmp_path: Path) -> None:
    assert StateChannel(SESSION, "bash", key_of(SESSION)).take(1) is UNKNOWN
    pipe.write_bytes(message(1))

    assert StateChannel(SESSION, "bash", key_of(SESSION)).take(1) is UNKNOWN
    pipe.unlink()
    os.mkfifo(tmp_path / "other")
    pipe.symlink_to(tmp_path / "other")
    assert StateChannel(SESSION, "bash", key_of(SESSION)).fd is None
