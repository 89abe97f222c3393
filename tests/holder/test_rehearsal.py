import os
import signal
import socket
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from holdfast.holder import birth, rehearsal
from holdfast.holder.rehearsal import rehearse
from holdfast.linux import folders, packets

# A holder leaves it to the kernel to close what it has, and so does a rehearsal.
pytestmark = pytest.mark.filterwarnings("ignore::ResourceWarning")


@pytest.fixture(autouse=True)
def runtime(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.delenv("HOLDFAST_STATE_DIR", raising=False)
    with tempfile.TemporaryDirectory(prefix="hf") as name:  # Sockets need it short.
        monkeypatch.setenv("HOLDFAST_RUNTIME_DIR", name)
        yield Path(name)


def _descriptors() -> int:
    return len(list(Path("/proc/self/fd").iterdir()))


def _has_children() -> bool:
    pid = os.getpid()
    return bool(Path(f"/proc/{pid}/task/{pid}/children").read_text())


def test_a_whole_session_is_lived_through_and_nothing_of_it_stays(
    runtime: Path,
) -> None:
    ended: list[str] = []
    before = _descriptors()

    def hold(packet: packets.Packet, fds: list[int]) -> None:
        birth.hold(packet, fds)
        ended.append(Path(folders.keeper_address()).parent.name)

    rehearse(hold)

    assert ended == [rehearsal.FOLDER] * rehearsal.AGAIN
    assert list(runtime.iterdir()) == []
    assert _descriptors() == before
    assert not _has_children()


def test_a_rehearsal_that_fails_is_broken_off_and_hurts_nobody(runtime: Path) -> None:
    held = 0

    def hold(packet: packets.Packet, fds: list[int]) -> None:
        nonlocal held
        held += 1
        raise MemoryError(packet, fds)

    rehearse(hold)

    assert held == 1
    assert list(runtime.iterdir()) == []
    assert not _has_children()
    assert os.environ["HOLDFAST_RUNTIME_DIR"] == str(runtime)
    assert "HOLDFAST_STATE_DIR" not in os.environ


def test_a_rehearsal_that_does_not_end_is_ended(runtime: Path) -> None:
    def hold(packet: packets.Packet, fds: list[int]) -> None:
        del packet, fds
        ours, _theirs = socket.socketpair()
        ours.recv(1)

    rehearse(hold, longest=0.05)

    assert list(runtime.iterdir()) == []
    assert not _has_children()
    assert signal.getitimer(signal.ITIMER_REAL) == (0.0, 0.0)


def test_what_a_killed_predecessor_left_is_removed(runtime: Path) -> None:
    left = runtime / rehearsal.FOLDER / "s"
    left.mkdir(parents=True)
    (left / "s_left.sock").write_text("")

    found: list[bool] = []

    rehearse(lambda *_: found.append((left / "s_left.sock").exists()))

    assert found == [False] * rehearsal.AGAIN
    assert list(runtime.iterdir()) == []


def test_without_a_folder_of_ours_there_is_no_rehearsal(runtime: Path) -> None:
    runtime.chmod(0o777)
    held: list[object] = []

    rehearse(lambda *given: held.append(given))

    assert held == []
