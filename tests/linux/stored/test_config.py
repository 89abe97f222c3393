import os
from pathlib import Path

import pytest

from holdfast.linux.stored import config, folders


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOLDFAST_CONFIG_DIR", str(tmp_path))
    return tmp_path / "config.toml"


def why() -> list[str]:
    return [str(one) for one in config.examined()[1]]


def test_without_a_file_everything_is_usual(file: Path) -> None:
    assert folders.config_file() == str(file)
    assert config.settings().prefix == 0x1D
    assert not why()
    assert not config.mentions(b"prefix")


def test_the_file_is_in_force(file: Path) -> None:
    file.write_text('prefix = "C-a"\n')

    assert config.settings().prefix == 1
    assert config.mentions(b"keys", b"prefix")
    assert not config.mentions(b"keys")


def test_another_file_can_be_examined(file: Path) -> None:
    other = file.parent / "other.toml"
    other.write_text('prefix = "C-b"\nfly = 1\n')

    settings, problems = config.examined(str(other))

    assert settings.prefix == 2
    assert [one.line for one in problems] == [2]


def test_a_file_that_others_may_write_is_not_used(file: Path) -> None:
    file.write_text('prefix = "C-a"\n')
    file.chmod(0o620)

    assert config.settings().prefix == 0x1D
    assert why() == ["others may write it"]
    assert not config.mentions(b"prefix")


def test_what_is_no_file_is_not_waited_for(file: Path) -> None:
    os.mkfifo(file, 0o600)
    assert why() == ["it is not a file"]

    file.unlink()
    file.mkdir()
    assert why() == ["it is not a file"]


def test_a_link_that_leads_nowhere_is_no_file(file: Path) -> None:
    file.symlink_to("config.toml")
    assert why() == ["Too many levels of symbolic links"]

    file.unlink()
    file.symlink_to("/dev/null/x")
    assert not why()


@pytest.mark.skipif(os.getuid() != 0, reason="only root may give files away")
def test_a_file_of_somebody_else_is_not_used(file: Path) -> None:
    file.write_text('prefix = "C-a"\n')
    os.chown(file, 12345, -1)

    assert why() == ["it belongs to another user"]
