import shutil
import subprocess
from pathlib import Path

import pytest

from holdfast.linux import systemd


def test_stopping_the_unit_ends_no_session() -> None:
    assert "\nKillMode=process\n" in systemd.unit_text()
    assert "\nRestart=on-failure\n" in systemd.unit_text()


def test_the_unit_uses_the_same_code_and_folder(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("HOLDFAST_RUNTIME_DIR", '/a %h "b')
    monkeypatch.delenv("PYTHONPATH", raising=False)

    text = systemd.unit_text()

    assert '\nEnvironment="HOLDFAST_RUNTIME_DIR=/a %%h \\"b"\n' in text
    assert "PYTHONPATH" not in text


@pytest.mark.skipif(not shutil.which("systemd-analyze"), reason="no systemd-analyze")
def test_systemd_finds_nothing_wrong_with_the_unit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOLDFAST_RUNTIME_DIR", "/a folder")
    unit = tmp_path / systemd.UNIT
    unit.write_text(systemd.unit_text())

    done = subprocess.run(
        ["systemd-analyze", "verify", "--user", "--man=no", str(unit)],  # noqa: S607  # whichever there is
        capture_output=True,
        check=False,
        text=True,
        env={"XDG_RUNTIME_DIR": str(tmp_path), "HOME": str(tmp_path)},
        timeout=30,
    )

    said = [line for line in done.stderr.splitlines() if systemd.UNIT in line]
    assert said == [], done.stderr


def test_the_unit_goes_where_units_of_a_user_belong(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))

    assert systemd.unit_path() == tmp_path / "systemd/user/holdfast.service"
