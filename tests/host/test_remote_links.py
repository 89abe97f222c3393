import asyncio
from pathlib import Path

import pytest

from holdfast.aio.relay_client import Knocked
from holdfast.crypto.keys import SigningKey
from holdfast.host.embedded import _chosen_port, _free_port
from holdfast.host.remote_links import MAX_BRIDGES_EACH, MAX_UNPROVEN, Links
from holdfast.linux.stored import relays
from holdfast.model.ids import ActorId, actor_id
from holdfast.model.process_status import HostStatus

NOWHERE = "http://127.0.0.1:1"
SOMEBODY = actor_id(b"somebody")


@pytest.fixture(autouse=True)
def folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("RUNTIME", "CONFIG", "STATE"):
        monkeypatch.setenv(f"HOLDFAST_{name}_DIR", str(tmp_path / name.lower()))


def knock(actor: ActorId = SOMEBODY) -> Knocked:
    us = SigningKey.from_seed(b"u" * 32)
    return Knocked(actor, "host", b"", b"t" * 16, NOWHERE, us, None)


def test_t13_a_relay_that_knocks_and_knocks_is_answered_a_few_times() -> None:
    relays.add(NOWHERE)

    async def flooded() -> tuple[int, HostStatus]:
        links = Links()
        async with asyncio.TaskGroup() as group:
            running = group.create_task(links.run())
            await asyncio.sleep(0)
            for _ in range(10_000):
                links._came(knock())  # noqa: SLF001  # what an uplink calls
            most, status = len(links._bridges), links.status()  # noqa: SLF001  # ditto
            running.cancel()
        return most, status

    most, status = asyncio.run(flooded())

    assert most == MAX_UNPROVEN
    assert status.traffic.turned_away == 10_000 - MAX_UNPROVEN


def test_one_operator_has_so_many_channels_and_others_have_theirs() -> None:
    relays.add(NOWHERE)
    crowd, other = SigningKey.from_seed(b"c" * 32), SigningKey.from_seed(b"o" * 32)

    async def crowded() -> list[int]:
        links = Links()
        async with asyncio.TaskGroup() as group:
            running = group.create_task(links.run())
            await asyncio.sleep(0)
            counts: list[int] = []
            for key, times in ((crowd, MAX_BRIDGES_EACH + 1), (other, 1)):
                for _ in range(times):
                    links._came(knock(actor_id(key.public)))  # noqa: SLF001  # what an uplink calls
                    for bridge in links._bridges:  # noqa: SLF001  # ditto
                        bridge.public_key = bridge.public_key or key.public
                counts.append(len(links._bridges))  # noqa: SLF001  # ditto
            running.cancel()
        return counts

    assert asyncio.run(crowded()) == [MAX_BRIDGES_EACH, MAX_BRIDGES_EACH + 1]


def test_the_port_of_our_own_relay_is_chosen_once() -> None:
    first = _chosen_port()

    assert _chosen_port() == first
    assert _free_port(first) == first
    assert _free_port(70_000) == 0


def test_relays_are_written_down_once_and_in_order() -> None:
    relays.add("https://b.example")
    relays.add("https://a.example")
    relays.add("https://b.example")

    assert relays.written_down() == ["https://b.example", "https://a.example"]


def test_what_is_for_people_in_the_file_is_no_relay(tmp_path: Path) -> None:
    relays.add("https://a.example")
    file = tmp_path / "config" / "relays"
    file.write_text("# mine\n\n https://b.example  # the other\nhttps://a.example")

    relays.add("https://c.example")

    assert relays.written_down() == [
        "https://b.example",
        "https://a.example",
        "https://c.example",
    ]
    assert file.stat().st_mode & 0o077 == 0
