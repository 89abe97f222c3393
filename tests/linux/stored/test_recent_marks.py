import os
from pathlib import Path

import pytest

from holdfast.linux.stored import recent_marks as module
from holdfast.linux.stored.recent_marks import recent_marks

NAME = "marks"


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    tmp_path.chmod(0o700)
    monkeypatch.setenv("HOLDFAST_RUNTIME_DIR", str(tmp_path))
    return tmp_path / NAME


def untils(of: bytes | None, now_ms: int) -> list[int]:
    with recent_marks(NAME, now_ms) as marks:
        return marks.untils(of)


def add(of: bytes, until_ms: int, now_ms: int = 0) -> None:
    with recent_marks(NAME, now_ms) as marks:
        marks.add(of, until_ms)


def test_a_mark_counts_until_its_time_is_over(place: Path) -> None:
    add(b"a", 10)
    add(b"b", 20)
    add(b"a", 30)

    assert untils(b"a", 0) == [10, 30]
    assert untils(None, 0) == [10, 20, 30]
    assert untils(b"a", 10) == [30]
    assert untils(b"c", 10) == []
    assert untils(None, 30) == []
    assert place.stat().st_size == 0


def test_what_a_crash_left_unfinished_is_cut_off(place: Path) -> None:
    add(b"a", 10)
    with place.open("ab") as file:
        file.write(b"half a mark")

    add(b"b", 20)

    assert untils(None, 0) == [10, 20]


def test_two_that_look_at_once_do_not_both_find_nothing() -> None:
    children = []
    for _ in range(8):
        pid = os.fork()
        if pid == 0:
            with recent_marks(NAME, 0) as marks:
                is_first = not marks.untils(b"once")
                marks.add(b"once", 10)
            os._exit(0 if is_first else 1)
        children.append(pid)

    ended = [os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) for pid in children]

    assert sorted(ended) == [0] + [1] * 7


def test_a_file_does_not_grow_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MAX_MARKS", 2)
    add(b"a", 10)
    add(b"b", 10)

    with pytest.raises(OSError, match="more than 2"):
        add(b"c", 10)
    add(b"c", 20, now_ms=10)


def test_a_link_in_its_place_is_not_followed(place: Path, tmp_path: Path) -> None:
    place.symlink_to(tmp_path / "elsewhere")

    with pytest.raises(OSError, match="symbolic"):
        add(b"a", 10)
