import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.scenarios.canaries import (
    canary,
    files_of,
    found_in,
    memory_of,
    spellings,
    tapped,
)
from tests.scenarios.elsewhere import Place, RelayPlace, places, relay

pytestmark = pytest.mark.skipif(os.getuid() != 0, reason="only root may listen")


@pytest.fixture
def around() -> Iterator[tuple[RelayPlace, Place, Place]]:
    with relay() as between, places() as (home, away):
        home.up(between.url)
        yield between, home, away


def test_t01_no_word_of_a_session_is_in_memory_store_log_or_traffic_of_a_relay(
    around: tuple[RelayPlace, Place, Place],
) -> None:
    between, home, away = around
    words = {
        place: canary()
        for place in ("operator", "session", "typed", "printed", "title", "new")
    }
    title = f"printf '\\033]0;{words['title']}\\007'; echo {words['printed']}; cat"
    with tapped("lo") as tap:
        link = home.invite("--as", words["operator"])
        away.do("join", "-", "--name", "box", said=link)
        home.new("sh", "-c", title, name=words["session"])
        address = f"box/{words['session']}"
        away.do("send", address, "--enter", words["typed"])
        away.do("wait", address, "--for", words["typed"], "--timeout", "20")
        shown = away.do("read", address)
        away.do("rename", address, words["new"])
        away.run("attach", f"box/{words['session']}")
        memory = memory_of(between.process.pid)
    secret = link.partition("#")[2]

    assert words["typed"] in shown
    assert words["printed"] in shown
    told = {
        "memory": memory,
        "files": files_of(Path(between.folder)),
        "traffic": bytes(tap.seen),
    }
    for place, text in told.items():
        assert found_in(text, [*words.values(), secret]) == [], place
    # What we look with does find what a relay may know: whom it has joined.
    host = home.status()["host"].encode()
    assert host in told["memory"]
    assert len(told["traffic"]) > 10_000
    assert spellings("x" * 20)[0] in b"x" * 20
