import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from holdfast.linux.stored import folders, places
from holdfast.model.errors import InsideCapsule, PlaceNotOurs
from holdfast.model.ids import SessionId

SESSION = SessionId("s_" + "a" * 16)

CHOICES = (
    *("HOLDFAST_RUNTIME_DIR", "HOLDFAST_STATE_DIR", "HOLDFAST_CONFIG_DIR"),
    *("XDG_RUNTIME_DIR", "XDG_STATE_HOME", "XDG_CONFIG_HOME"),
)


@pytest.fixture(autouse=True)
def home(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    for name in CHOICES:
        monkeypatch.delenv(name, raising=False)
    with tempfile.TemporaryDirectory(prefix="hf") as short:  # Sockets need that.
        monkeypatch.setenv("HOME", short)
        yield Path(short)


@pytest.mark.parametrize("chosen", [*CHOICES, "HOME"])
def test_both_spellings_of_a_place_name_the_same(
    chosen: str, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(chosen, str(home / "x"))

    assert folders.runtime_path() == str(places.runtime_path())
    assert folders.keeper_address() == str(places.keeper_socket())
    assert folders.session_address(SESSION) == str(places.session_socket(SESSION))
    assert folders.session_log(SESSION) == str(places.session_log(SESSION))
    assert folders.policy_file() == str(places.policy_file())


def test_a_slash_behind_it_does_not_hide_a_link(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "elsewhere").mkdir(mode=0o700)
    (tmp_path / "link").symlink_to(tmp_path / "elsewhere")
    monkeypatch.setenv("HOLDFAST_RUNTIME_DIR", f"{tmp_path}/link/")

    with pytest.raises(PlaceNotOurs, match="not a folder"):
        folders.keeper_address()


def test_a_folder_is_made_where_we_stand(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)

    assert folders.owned("here") == "here"
    assert (tmp_path / "here").stat().st_mode & 0o777 == 0o700


def test_a_file_above_a_folder_is_said_to_be_in_the_way(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")

    with pytest.raises(PlaceNotOurs, match="Not a directory"):
        folders.owned(f"{tmp_path}/file/below")


def test_a_folder_of_ours_is_made_whatever_the_umask(tmp_path: Path) -> None:
    before = os.umask(0o777)
    try:
        folders.owned(f"{tmp_path}/a")
        folders.owned(f"{tmp_path}/a/b/c")
    finally:
        os.umask(before)

    assert (tmp_path / "a" / "b" / "c").stat().st_mode & 0o777 == 0o700


def test_somebody_whose_home_nobody_knows_is_told_so(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("HOME", "~")

    with pytest.raises(PlaceNotOurs, match="home"):
        folders.state_path()


def test_a_folder_that_a_capsule_covers_is_known(home: Path) -> None:
    covered = home / "covered"
    covered.mkdir()
    covered.chmod(folders.COVER)

    with pytest.raises(InsideCapsule):
        folders.owned(str(covered))
