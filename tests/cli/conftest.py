import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.cli.support.fakes import FakeKeeper, FakeSession


@pytest.fixture
def keeper(monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeKeeper]:
    # Not tmp_path: a socket's path may be 107 bytes long and no longer.
    with tempfile.TemporaryDirectory(prefix="hf") as folder:
        monkeypatch.setenv("HOLDFAST_RUNTIME_DIR", folder)
        monkeypatch.delenv("HOLDFAST_SESSION", raising=False)
        fake = FakeKeeper(Path(folder))
        yield fake
        fake.close()


@pytest.fixture
def web(keeper: FakeKeeper) -> FakeSession:
    (session,) = keeper.has("web")
    return session
