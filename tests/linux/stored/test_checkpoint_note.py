import os
import signal
from pathlib import Path

import pytest

from holdfast.linux.stored import checkpoint_note, recovery_places
from holdfast.linux.stored.checkpoint_note import Note
from holdfast.model.errors import CheckpointUnderWay
from holdfast.model.ids import SessionId

SESSION = SessionId("s_" + "a" * 16)
NOTE = Note(3, frozenset({(12, 100), (13, 101)}))


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOLDFAST_STATE_DIR", str(tmp_path))


def path() -> Path:
    return Path(recovery_places.path_of(SESSION, recovery_places.PORTING))


def test_what_was_written_is_read_by_who_comes_after() -> None:
    with checkpoint_note.make(SESSION) as ours:
        ours.write(Note(1, frozenset({(7, 7)})))
        ours.write(NOTE)
        assert checkpoint_note.peek(SESSION) == NOTE

    left = checkpoint_note.found(SESSION)

    assert left is not None
    with left:
        assert left.read() == NOTE


def test_nobody_has_a_note_that_somebody_else_has() -> None:
    with checkpoint_note.make(SESSION):
        assert checkpoint_note.found(SESSION) is None
        with pytest.raises(CheckpointUnderWay):
            checkpoint_note.make(SESSION)


def test_a_note_is_there_until_it_is_removed() -> None:
    assert not checkpoint_note.is_there(SESSION)
    assert checkpoint_note.found(SESSION) is None
    with checkpoint_note.make(SESSION) as ours:
        assert checkpoint_note.is_there(SESSION)
        ours.remove()
        assert not checkpoint_note.is_there(SESSION)


def test_a_child_that_inherits_the_lock_keeps_it_when_we_are_gone() -> None:
    ours = checkpoint_note.make(SESSION)
    child = os.fork()
    if child == 0:
        signal.pause()
        os._exit(0)
    ours.close()

    assert checkpoint_note.found(SESSION) is None
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    left = checkpoint_note.found(SESSION)
    assert left is not None
    left.close()


@pytest.mark.parametrize(
    "raw",
    [b"", b"{", b"[]", b"7", b'{"image": 3}', b'{"image": 3, "spared": [1]}'],
)
def test_a_note_that_is_none_says_nothing(raw: bytes) -> None:
    path().write_bytes(raw)

    assert checkpoint_note.peek(SESSION) == Note(0)


def test_without_a_note_nothing_is_said() -> None:
    assert checkpoint_note.peek(SESSION) == Note(0)


def test_a_link_in_its_place_is_not_followed(tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.write_bytes(b"precious")
    path().symlink_to(other)

    with pytest.raises(OSError, match="symbolic"):
        checkpoint_note.make(SESSION)
    assert other.read_bytes() == b"precious"


def test_the_end_of_a_session_removes_its_note() -> None:
    checkpoint_note.make(SESSION).close()
    recovery_places.remove(SESSION)
    assert not checkpoint_note.is_there(SESSION)
