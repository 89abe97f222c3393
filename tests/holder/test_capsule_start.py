import os
import sys
from pathlib import Path

import pytest

import holdfast
from holdfast.holder.capsule_start import (
    links_to,
    our_folders,
    our_program,
    second_names,
)
from holdfast.model.errors import NoCapsule


def test_every_link_on_the_way_is_told(tmp_path: Path) -> None:
    real = tmp_path / "real/deep"
    real.mkdir(parents=True)
    (tmp_path / "first").symlink_to("second/../second")
    (tmp_path / "second").symlink_to(tmp_path / "real")

    found = list(links_to(f"{tmp_path}/./first//deep"))

    assert found[-3:] == [f"{tmp_path}/first", *[f"{tmp_path}/second"] * 2]
    assert not [one for one in links_to(str(real)) if one.startswith(str(real.parent))]


def test_a_folder_of_ours_behind_a_link_that_could_be_changed_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = tmp_path / "real"
    real.mkdir(mode=0o700)
    (tmp_path / "config").symlink_to(real)
    monkeypatch.setenv("HOLDFAST_RUNTIME_DIR", str(tmp_path / "run"))
    monkeypatch.setenv("HOLDFAST_CONFIG_DIR", str(tmp_path / "config/holdfast"))

    with pytest.raises(NoCapsule) as caught:
        our_folders()

    assert f"{tmp_path}/config is a link" in str(caught.value)
    monkeypatch.setenv("HOLDFAST_CONFIG_DIR", str(real / "holdfast"))
    assert str(real / "holdfast") in our_folders()


def test_our_program_is_our_package_and_the_environment_it_is_installed_in() -> None:
    found = our_program()
    own = [Path(holdfast.__file__).parent]
    own += [] if sys.prefix == sys.base_prefix else [Path(sys.prefix)]

    for one in own:
        assert any(one.resolve().is_relative_to(folder) for folder in found)
    assert os.path.realpath(sys.base_prefix) not in found


def test_a_file_with_a_name_outside_is_found(tmp_path: Path) -> None:
    ours, elsewhere = tmp_path / "ours", tmp_path / "elsewhere"
    (ours / "operators").mkdir(parents=True)
    (ours / "operators/token").write_text("x")
    (ours / "policy").write_text("x")
    (ours / "link").symlink_to("policy")
    elsewhere.hardlink_to(ours / "operators/token")

    assert [*second_names((str(ours),))] == [str(ours / "operators/token")]


def test_a_file_whose_names_are_all_covered_is_no_harm(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "a/draft").write_text("x")
    (tmp_path / "key").hardlink_to(tmp_path / "a/draft")

    assert not [*second_names((str(tmp_path), str(tmp_path / "a")))]
