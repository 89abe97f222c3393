import sys
import tempfile
from pathlib import Path

import pytest

from holdfast.core.session.abilities import can_work, judge
from holdfast.linux.probes import probe


def test_a_machine_that_runs_these_tests_can_work(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # Not tmp_path: a socket's path may be 107 bytes long and no longer.
    with tempfile.TemporaryDirectory(prefix="hf") as folder:
        monkeypatch.setenv("HOLDFAST_RUNTIME_DIR", folder)

        found = probe()

    assert found.python == sys.version_info[:2]
    assert found.kernel > (4, 0)
    assert found.terminals_max > found.terminals_used
    assert found.place.filesystem != "unknown"
    assert can_work(judge(found))


def test_a_folder_that_is_not_ours_is_told_and_not_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "open"
    folder.mkdir(mode=0o777)
    folder.chmod(0o777)
    monkeypatch.setenv("HOLDFAST_RUNTIME_DIR", str(folder))

    found = probe()

    assert "others may write" in found.place.problem
    assert found.painter != ""
    assert not can_work(judge(found))
