import socket
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from holdfast.keeper import knocking
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

        assert knocking.knock(folder) == ({ALIVE}, {DEAD})


def test_whoever_has_a_full_queue_is_there(folder: Path) -> None:
    with bound(folder / f"{ALIVE}.sock") as alive:
        alive.listen(0)
        knocking.knock(folder)
        knocking.knock(folder)

        assert knocking.knock(folder) == ({ALIVE}, set())


def test_what_is_no_socket_is_left_alone(folder: Path) -> None:
    (folder / f"{ALIVE}.sock").write_text("")
    (folder / f"{DEAD}.sock").mkdir()
    (folder / "s_cccccccccccccccc.sock").symlink_to("/dev/null")

    assert knocking.knock(folder) == (set(), set())
    knocking.remove(folder, ALIVE)
    assert (folder / f"{ALIVE}.sock").exists()


def test_only_a_socket_nobody_listens_at_is_removed(folder: Path) -> None:
    with bound(folder / f"{ALIVE}.sock") as alive, bound(folder / f"{DEAD}.sock"):
        alive.listen(1)

        knocking.remove(folder, ALIVE)
        knocking.remove(folder, DEAD)
        knocking.remove(folder, SessionId("s_none"))

    assert [path.name for path in folder.iterdir()] == [f"{ALIVE}.sock"]
