import signal
import subprocess
from pathlib import Path

import pytest

from holdfast.linux.replacements import MAX_WHY, Replacement, kill_keeper, take_word


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOLDFAST_RUNTIME_DIR", str(tmp_path))
    return tmp_path


def killed() -> int:
    """Kill a process in the place of a keeper; return which."""
    with subprocess.Popen(["sleep", "60"]) as keeper:  # noqa: S607  # whichever there is
        kill_keeper(keeper.pid, "it was stopped")
        assert keeper.wait(5) == -signal.SIGKILL
        return keeper.pid


def test_who_kills_a_keeper_leaves_word_for_the_next(
    capsys: pytest.CaptureFixture[str],
) -> None:
    pid = killed()

    found = take_word()
    assert found is not None
    assert found == Replacement("keeper", pid, "it was stopped", found.at_ms)
    assert take_word() is None
    line = f"process.replaced the keeper (pid {pid}): it was stopped\n"
    assert capsys.readouterr().err == line


@pytest.mark.parametrize(
    "word", [b"", b"{", b"[]", b"\xff", b'{"pid": "7"}', b"[" * 5000, b"7"]
)
def test_what_is_no_word_is_passed_over(folder: Path, word: bytes) -> None:
    (folder / "keeper.replaced").write_bytes(word)

    assert take_word() is None


def test_a_reason_of_any_length_is_cut(folder: Path) -> None:
    word = '{"pid": 7, "why": "%s", "at_ms": 1}' % ("x" * 1000)
    (folder / "keeper.replaced").write_text(word)

    assert take_word() == Replacement("keeper", 7, "x" * MAX_WHY, 1)


def test_a_folder_that_takes_nothing_keeps_nobody_from_acting(folder: Path) -> None:
    (folder / "keeper.replaced").symlink_to(folder / "elsewhere")
    killed()

    assert take_word() is None
    assert not (folder / "elsewhere").exists()
