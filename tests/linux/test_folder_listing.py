"""Everything in a folder, and what of it was not looked at."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from holdfast.linux import folder_listing
from holdfast.linux.folder_listing import Found, open_folder, walk


@pytest.fixture
def fd(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[int]:
    monkeypatch.chdir(tmp_path)
    made = open_folder(os.getpid())
    yield made
    os.close(made)


def listed(fd: int) -> dict[str, Found]:
    return {one.path: one for one in walk(fd) if isinstance(one, Found)}


def missing(fd: int) -> list[str]:
    return [one for one in walk(fd) if isinstance(one, str)]


def test_files_folders_and_links_are_listed_and_links_not_followed(
    fd: int, tmp_path: Path
) -> None:
    (tmp_path / "a" / "b").mkdir(parents=True)
    (tmp_path / "a" / "b" / "c").write_text("x")
    (tmp_path / "out").symlink_to("/")

    assert {*listed(fd)} == {"a/", "a/b/", "a/b/c", "out"}
    assert missing(fd) == []


def test_a_changed_file_has_another_stamp_and_its_folder_has_not(
    fd: int, tmp_path: Path
) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "b").write_text("x")
    before = listed(fd)
    (tmp_path / "a" / "b").write_text("longer")
    (tmp_path / "a" / "c").write_text("x")
    after = listed(fd)

    assert before["a/b"] != after["a/b"]
    assert before["a/"] == after["a/"]


def test_the_folder_stays_the_same_although_its_process_moves_on(
    fd: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "x").write_text("")
    monkeypatch.chdir("/")

    assert {*listed(fd)} == {"x"}


def test_a_name_that_is_no_text_is_listed_all_the_same(fd: int, tmp_path: Path) -> None:
    Path(os.fsdecode(os.fsencode(tmp_path) + b"/\xff")).touch()

    assert {*listed(fd)} == {"\\xff"}


def test_too_many_files_are_said_to_be_too_many(
    fd: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(folder_listing, "MAX_ENTRIES", 3)
    for name in "abcd":
        (tmp_path / name).touch()

    assert len(listed(fd)) == 3
    assert missing(fd) == [folder_listing.TOO_MANY]


def test_what_lies_too_deep_is_said_to_be_unseen(fd: int, tmp_path: Path) -> None:
    depth = folder_listing.MAX_DEPTH + 2
    tmp_path.joinpath(*(["d"] * depth)).mkdir(parents=True)

    assert missing(fd) == [folder_listing.UNSEEN]


def test_what_is_on_another_file_system_is_not_looked_into() -> None:
    fd = os.open("/dev", os.O_RDONLY | os.O_DIRECTORY)
    try:
        assert folder_listing.OTHER in missing(fd)
    finally:
        os.close(fd)


def test_a_folder_that_is_gone_while_it_is_listed_is_unseen(
    fd: int, tmp_path: Path
) -> None:
    (tmp_path / "a" / "b").mkdir(parents=True)
    found = walk(fd)
    next(found)
    (tmp_path / "a" / "b").rmdir()
    (tmp_path / "a").rmdir()

    assert [*found] == [folder_listing.UNSEEN]
