from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.linux.criu.porting_world import World


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[World]:
    """Have a place for images, and end the capsules of a test with it."""
    monkeypatch.setenv("HOLDFAST_RUNTIME_DIR", str(tmp_path / "run"))
    monkeypatch.setenv("HOLDFAST_CONFIG_DIR", str(tmp_path / "config"))
    monkeypatch.delenv("HOLDFAST_STATE_DIR", raising=False)
    (tmp_path / "work").mkdir()
    made = World(tmp_path / "work")
    yield made
    made.end_all()
