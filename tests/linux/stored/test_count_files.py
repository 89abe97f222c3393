"""Where sessions are counted: holders write, others read, and nothing counts twice."""

import json
import os
from pathlib import Path

import pytest

from holdfast.core.telemetry.session_counts import LAYOUT, LAYOUT_NAME, SessionCounts
from holdfast.linux.stored import count_files, folders, places
from holdfast.linux.stored.count_files import CountFile, add_ended, add_own, totals
from holdfast.model.ids import SessionId

ONE, TWO = SessionId("s_" + "a" * 16), SessionId("s_" + "b" * 16)
FROZEN = "holdfast_freezes_total", ()


@pytest.fixture(autouse=True)
def own_folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOLDFAST_RUNTIME_DIR", str(tmp_path))


def freeze(session: SessionId, count: int) -> None:
    file = CountFile(session)
    counts = SessionCounts.from_bytes(file.read())
    counts.add("holdfast_freezes_total", amount=count)
    file.write(counts.to_bytes())
    file.close()
    file.close()


def files() -> set[str]:
    return {one.name for one in Path(count_files.folder()).glob("s_*")}


def test_the_numbers_of_all_sessions_are_added_up() -> None:
    assert totals().values() == {}
    freeze(ONE, 2)
    freeze(TWO, 3)
    freeze(TWO, 1)

    assert totals().values() == {FROZEN: 6}


def test_sessions_that_are_gone_count_on_and_leave_no_file() -> None:
    freeze(ONE, 2)
    freeze(TWO, 3)

    assert add_ended({TWO}) == 1
    assert totals().values() == {FROZEN: 5}
    assert add_ended({TWO}) == 0
    assert files() == {f"{TWO}.{LAYOUT_NAME}"}
    freeze(ONE, 4)  # It was restored.
    assert totals().values() == {FROZEN: 9}
    assert add_ended(()) == 2
    assert totals().values() == {FROZEN: 9}


def test_a_session_with_a_socket_is_not_gone() -> None:
    freeze(ONE, 2)
    places.session_socket(ONE).touch()

    assert add_ended(()) == 0
    assert len(files()) == 1


def test_a_kill_between_adding_up_and_removing_counts_nothing_twice(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    freeze(ONE, 2)
    with monkeypatch.context() as patched:

        def killed(*_: object) -> None:
            raise KeyboardInterrupt

        patched.setattr(os, "unlink", killed)
        with pytest.raises(KeyboardInterrupt):
            add_ended(())

    assert len(files()) == 1
    assert totals().values() == {FROZEN: 2}
    assert add_ended(()) == 0
    assert files() == set()
    assert totals().values() == {FROZEN: 2}


def test_a_session_that_came_back_meanwhile_keeps_its_new_file() -> None:
    freeze(ONE, 2)
    place, name = Path(count_files.folder()), f"{ONE}.{LAYOUT_NAME}"
    inode = (place / name).stat().st_ino
    ended = {"numbers": {"holdfast_freezes_total": 2}, "added": {name: inode + 1}}
    (place / "ended").write_text(json.dumps(ended))

    assert totals().values() == {FROZEN: 4}
    add_ended({ONE})
    assert totals().values() == {FROZEN: 4}


def test_a_file_of_another_version_counts_by_its_own_layout() -> None:
    freeze(ONE, 2)
    place = Path(count_files.folder())
    (place / "0123abc.layout").write_text(
        "holdfast_new_total x\nholdfast_freezes_total\n"
    )
    (place / f"{TWO}.0123abc").write_bytes((7).to_bytes(8, "little") * 2)
    (place / f"{TWO}.9999").write_bytes(b"\1" * 16)

    found = totals()

    assert found.values() == {FROZEN: 9}
    assert found.by_series["holdfast_new_total", ("x",)] == 7
    assert add_ended(()) == 2
    assert totals().values() == {FROZEN: 9}


@pytest.mark.parametrize("raw", [b"junk", b"[]", b"{}", b'{"numbers": {"x": "y"}}'])
def test_sums_that_were_damaged_count_as_none(raw: bytes) -> None:
    freeze(ONE, 2)
    (Path(count_files.folder()) / "ended").write_bytes(raw)

    assert totals().values() == {FROZEN: 2}
    assert add_ended(()) == 1
    assert totals().values() == {FROZEN: 2}


def test_files_of_others_in_the_folder_are_left_alone() -> None:
    freeze(ONE, 1)
    place = Path(count_files.folder())
    (place / "s_notes").touch()
    (place / f"{TWO}.x.y").touch()
    (place / f"{LAYOUT_NAME}.layout").write_bytes(b"\xff")

    assert totals().values() == {}
    add_ended(())
    assert {one.name for one in place.glob("s_*")} == {"s_notes", f"{TWO}.x.y"}


def test_the_folder_is_ours_alone() -> None:
    freeze(ONE, 1)
    path = Path(folders.runtime_path()) / "counts"

    assert path.stat().st_mode & 0o077 == 0
    assert (path / f"{ONE}.{LAYOUT_NAME}").stat().st_mode & 0o077 == 0
    assert (path / f"{ONE}.{LAYOUT_NAME}").stat().st_size == 8 * len(LAYOUT)


def test_a_session_that_ends_adds_its_own_and_no_other() -> None:
    freeze(ONE, 2)
    freeze(TWO, 3)

    add_own(ONE)

    assert files() == {f"{TWO}.{LAYOUT_NAME}"}
    assert totals().values() == {FROZEN: 5}
