import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.cli.support.fakes import FakeKeeper, FakeSession
from tests.cli.support.operating import be_known
from tests.cli.support.past import Reviver, reviving


@pytest.fixture
def keeper(monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeKeeper]:
    # Not tmp_path: a socket's path may be 107 bytes long and no longer.
    with tempfile.TemporaryDirectory(prefix="hf") as folder:
        be_known(Path(folder), monkeypatch)
        fake = FakeKeeper(Path(folder))
        yield fake
        fake.close()


@pytest.fixture
def web(keeper: FakeKeeper) -> FakeSession:
    (session,) = keeper.has("web")
    return session


@pytest.fixture
def reviver(monkeypatch: pytest.MonkeyPatch) -> Iterator[Reviver]:
    with reviving(monkeypatch) as fake:
        yield fake
