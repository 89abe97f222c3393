"""What operators sign of their inputs, and what fits none of them."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.holder.desk_world import World, world

from holdfast.core.book.logbook import EntryKind
from holdfast.wire import messages as wire
from holdfast.wire.frames import FrameKind
from holdfast.wire.signatures import STEP, Sign


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[World]:
    for name in ("RUNTIME", "CONFIG", "STATE"):
        monkeypatch.setenv(f"HOLDFAST_{name}_DIR", str(tmp_path / name.lower()))
    with world() as made:
        yield made


def test_a_signature_that_fits_nothing_is_refused_and_on_record(here: World) -> None:
    anna = here.join()
    anna.told()
    client = anna.connection.client
    assert client is not None
    nothing = {"key": bytes(32), "rotations": b"", "signature": bytes(64)}

    here.requests.take(
        anna.connection,
        Sign(client=client, last=1, steps=bytes(STEP), **nothing),
    )
    here.session.settle()

    (said,) = [one for one in anna.told() if isinstance(one, wire.Refuse)]
    assert said.refused == FrameKind.SIGN
    (declined,) = [
        one.fields for one in here.entries() if one.kind is EntryKind.DECLINED
    ]
    assert (declined["actor"], declined["request"]) == (anna.id, "sign")
