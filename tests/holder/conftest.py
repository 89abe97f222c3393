"""What the tests of a holder's parts share."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.holder.input_world import World, world


@pytest.fixture
def own_folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep what a holder writes apart from everybody else's."""
    for name in ("RUNTIME", "CONFIG", "STATE"):
        monkeypatch.setenv(f"HOLDFAST_{name}_DIR", str(tmp_path / name.lower()))


@pytest.fixture
def here(own_folders: None) -> Iterator[World]:
    """A handler with a real terminal."""
    del own_folders
    with world() as made:
        yield made
