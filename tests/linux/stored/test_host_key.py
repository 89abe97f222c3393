from pathlib import Path

import pytest

from holdfast.linux.stored.host_key import SEED, host_seed


@pytest.fixture(autouse=True)
def config(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOLDFAST_CONFIG_DIR", str(tmp_path / "config"))
    return tmp_path / "config"


def test_the_key_is_made_once() -> None:
    made = host_seed()

    assert len(made) == SEED
    assert host_seed() == made


def test_t44_nobody_else_can_read_it(config: Path) -> None:
    host_seed()

    assert [path.name for path in config.iterdir()] == ["host.key"]
    assert (config / "host.key").stat().st_mode & 0o077 == 0


def test_a_link_in_its_place_is_not_followed(config: Path, tmp_path: Path) -> None:
    host_seed()
    (tmp_path / "other").write_bytes(b"x" * SEED)
    (config / "host.key").unlink()
    (config / "host.key").symlink_to(tmp_path / "other")

    with pytest.raises(OSError, match="symbolic link"):
        host_seed()
