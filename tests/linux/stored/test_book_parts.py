"""A book in parts, read as one."""

from pathlib import Path

import pytest

from holdfast.linux.stored import book_parts
from holdfast.linux.stored.book_parts import BookParts, part_path, sync_folder


def test_parts_are_read_as_one(tmp_path: Path) -> None:
    path = tmp_path / "book.log"
    for number, text in enumerate([b"first\n", b"second\n", b""]):
        Path(part_path(str(path), number)).write_bytes(text)
    book = BookParts(path)

    assert book.length() == 13
    assert book.read(100, 0) == b"first\n"
    assert book.read(100, 6) == b"second\n"
    assert book.read(3, 8) == b"con"
    assert book.read(100, 13) == b""
    assert book.last_start() == 13
    assert not book.is_gone()
    book.close()


def test_a_part_that_comes_later_is_found(tmp_path: Path) -> None:
    path = tmp_path / "book.log"
    path.write_bytes(b"first\n")
    book = BookParts(path)
    assert book.read(100, 0) == b"first\n"

    with path.open("ab") as file:
        file.write(b"more\n")
    Path(part_path(str(path), 1)).write_bytes(b"next\n")

    assert book.read(100, 6) == b"more\n"
    assert book.read(100, 11) == b"next\n"
    assert book.number == 1
    assert book.read(2, 0) == b"fi"
    path.unlink()
    assert book.is_gone()
    book.close()


def test_a_link_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "other").write_bytes(b"secret\n")
    (tmp_path / "book.log").symlink_to(tmp_path / "other")

    with pytest.raises(OSError, match=r"symbolic links|Too many levels"):
        BookParts(tmp_path / "book.log")


def test_a_folder_can_be_synced(tmp_path: Path) -> None:
    sync_folder(str(tmp_path / "book.log"))

    assert book_parts.is_part(str(tmp_path), 0)
