import os
from pathlib import Path

import pytest

from holdfast.linux.stored import places
from holdfast.model.errors import PlaceNotOurs, SocketPathTooLong
from holdfast.model.ids import SessionId


@pytest.fixture
def chosen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "run"
    monkeypatch.setenv("HOLDFAST_RUNTIME_DIR", str(folder))
    return folder


def test_the_runtime_folder_is_made_for_us_alone(chosen: Path) -> None:
    assert places.runtime_dir() == chosen
    assert chosen.stat().st_mode & 0o777 == 0o700


@pytest.mark.parametrize("mode", [0o777, 0o770, 0o702, 0o720])
def test_a_folder_that_others_may_write_to_is_refused(chosen: Path, mode: int) -> None:
    chosen.mkdir()
    chosen.chmod(mode)

    with pytest.raises(PlaceNotOurs, match="others may write"):
        places.runtime_dir()
    assert chosen.stat().st_mode & 0o777 == mode


@pytest.mark.parametrize("mode", [0o755, 0o750, 0o701, 0o710])
def test_a_folder_of_ours_that_others_may_only_enter_is_closed_and_used(
    chosen: Path, mode: int, capfd: pytest.CaptureFixture[str]
) -> None:
    chosen.mkdir()
    chosen.chmod(mode)

    assert places.runtime_dir() == chosen
    assert chosen.stat().st_mode & 0o777 == 0o700
    assert "they no longer can" in capfd.readouterr().err

    places.runtime_dir()
    assert capfd.readouterr().err == ""


def test_a_link_to_a_folder_is_refused(chosen: Path, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir(mode=0o700)
    chosen.symlink_to(elsewhere)

    with pytest.raises(PlaceNotOurs, match="not a folder"):
        places.runtime_dir()


def test_a_file_in_the_place_of_the_folder_is_refused(chosen: Path) -> None:
    chosen.write_text("")

    with pytest.raises(PlaceNotOurs):
        places.runtime_dir()


def test_a_path_the_kernel_would_cut_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOLDFAST_RUNTIME_DIR", str(tmp_path / ("x" * 100)))

    with pytest.raises(SocketPathTooLong):
        places.session_socket(SessionId("s_" + "a" * 16))


def test_without_a_choice_the_systems_runtime_folder_is_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("HOLDFAST_RUNTIME_DIR", raising=False)
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    assert places.runtime_dir() == tmp_path / "holdfast"

    monkeypatch.delenv("XDG_RUNTIME_DIR")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert places.runtime_dir() == tmp_path / ".local/state/holdfast/run"


def test_the_state_folder_can_be_made_after_the_runtime_folder_below_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("HOLDFAST_RUNTIME_DIR", "HOLDFAST_STATE_DIR", "XDG_RUNTIME_DIR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.delenv("XDG_STATE_HOME", raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    before = os.umask(0o022)
    try:
        places.runtime_dir()
        places.log_dir()
    finally:
        os.umask(before)

    state = tmp_path / ".local" / "state" / "holdfast"
    assert state.stat().st_mode & 0o077 == 0
