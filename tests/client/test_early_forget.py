import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.cli.support.fakes import FakeKeeper
from tests.cli.support.operating import be_known

from holdfast.client import proven_requests
from holdfast.client.current_operator import ourselves
from holdfast.client.early_forget import forget
from holdfast.crypto.proof import proven_change
from holdfast.model.session_requests import Forget, packet_of
from holdfast.wire.first_messages import NotOneOfThese


@pytest.fixture
def keeper(monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeKeeper]:
    # Not tmp_path: a socket's path may be 107 bytes long and no longer.
    with tempfile.TemporaryDirectory(prefix="hf") as folder:
        be_known(Path(folder), monkeypatch)
        fake = FakeKeeper(Path(folder))
        yield fake
        fake.close()


def test_it_asks_what_the_ordinary_way_asks(keeper: FakeKeeper) -> None:
    us, (web,) = ourselves(), keeper.has("web")

    forget(web.id, us.actor.id, us.token())

    assert keeper.sessions == []
    (asked,) = [one for one in keeper.asked if one["do"] == "forget"]
    usual = proven_requests.change_proven_by_us(Forget(web.id))
    assert asked.keys() == packet_of(usual).keys()
    then = usual._replace(asked_ms=asked["asked_ms"], proof="")
    assert asked["proof"] == proven_change(then, us.token()).proof


def test_what_a_keeper_refuses_is_left(keeper: FakeKeeper) -> None:
    keeper.answer = b'{"ok": false, "code": "not-allowed", "text": "no", "facts": {}}'
    us = ourselves()

    with pytest.raises(NotOneOfThese):
        forget("s_aaaaaaaaaaaaaaaa", us.actor.id, us.token())
