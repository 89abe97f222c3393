import socket
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from holdfast.keeper import session_probe
from holdfast.linux.stored.session_names import DOZING
from holdfast.model.ids import SessionId

ALIVE, DEAD = SessionId("s_aaaaaaaaaaaaaaaa"), SessionId("s_bbbbbbbbbbbbbbbb")


@pytest.fixture
def folder() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="hf") as made:
        yield Path(made)


def bound(path: Path) -> socket.socket:
    made = socket.socket(socket.AF_UNIX)
    made.bind(str(path))
    return made


def test_it_is_found_who_is_there_and_who_is_gone(folder: Path) -> None:
    with bound(folder / f"{ALIVE}.sock") as alive, bound(folder / f"{DEAD}.sock"):
        alive.listen(1)

        assert session_probe.knock(folder) == ({ALIVE}, {DEAD})


def test_whoever_has_a_full_queue_is_there(folder: Path) -> None:
    with bound(folder / f"{ALIVE}.sock") as alive:
        alive.listen(0)
        session_probe.knock(folder)
        session_probe.knock(folder)

        assert session_probe.knock(folder) == ({ALIVE}, set())


def test_what_is_no_socket_is_left_alone(folder: Path) -> None:
    (folder / f"{ALIVE}.sock").write_text("")
    (folder / f"{DEAD}.sock").mkdir()
    (folder / "s_cccccccccccccccc.sock").symlink_to("/dev/null")

    assert session_probe.knock(folder) == (set(), set())
    session_probe.remove(folder, ALIVE)
    assert (folder / f"{ALIVE}.sock").exists()


def test_only_a_socket_nobody_listens_at_is_removed(folder: Path) -> None:
    with bound(folder / f"{ALIVE}.sock") as alive, bound(folder / f"{DEAD}.sock"):
        alive.listen(1)

        session_probe.remove(folder, ALIVE)
        session_probe.remove(folder, DEAD)
        session_probe.remove(folder, SessionId("s_none"))

    assert [path.name for path in folder.iterdir()] == [f"{ALIVE}.sock"]


def test_nobody_knocks_at_a_session_that_dozes(folder: Path) -> None:
    with bound(folder / f"{ALIVE}.sock") as alive:
        alive.listen(1)
        alive.settimeout(0)
        (folder / f"{ALIVE}.sock").chmod(DOZING)

        assert session_probe.knock(folder) == ({ALIVE}, {ALIVE})
        with pytest.raises(BlockingIOError):
            alive.accept()


def test_a_socket_of_a_session_that_dozed_is_removed_if_nobody_has_it(
    folder: Path,
) -> None:
    with bound(folder / f"{DEAD}.sock"):
        (folder / f"{DEAD}.sock").chmod(DOZING)

    session_probe.remove(folder, DEAD)

    assert [*folder.iterdir()] == []


def test_a_knock_reaches_whoever_listens_and_needs_nobody(folder: Path) -> None:
    session_probe.knock_at(folder / "dozer.sock")
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as dozer:
        dozer.bind(str(folder / "dozer.sock"))
        dozer.listen(1)
        dozer.settimeout(5)

        session_probe.knock_at(folder / "dozer.sock")

        dozer.accept()[0].close()
