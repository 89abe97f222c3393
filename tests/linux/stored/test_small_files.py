import os
from pathlib import Path

import pytest

from holdfast.linux.stored.small_files import read_file, replace_file, write_file


def test_a_file_is_replaced_whole_and_for_us_alone(tmp_path: Path) -> None:
    path = f"{tmp_path}/small"
    write_file(path, b"a longer text")
    replace_file(path, b"text")

    assert read_file(path, 100) == b"text"
    assert read_file(path, 2) == b"te"
    assert Path(path).stat().st_mode & 0o777 == 0o600
    assert os.listdir(tmp_path) == ["small"]  # noqa: PTH208


def test_no_link_is_followed(tmp_path: Path) -> None:
    (tmp_path / "real").write_bytes(b"theirs")
    (tmp_path / "link").symlink_to(tmp_path / "real")

    with pytest.raises(OSError, match="symbolic"):
        read_file(tmp_path / "link", 100)
    with pytest.raises(OSError, match="symbolic"):
        write_file(tmp_path / "link", b"ours")
    assert (tmp_path / "real").read_bytes() == b"theirs"


def test_a_full_disk_is_told() -> None:
    with pytest.raises(OSError, match="No space left"):
        write_file("/dev/full", b"text")
