import json
from dataclasses import replace
from pathlib import Path

import pytest

from holdfast.client import hosts
from holdfast.client.hosts import KnownHost
from holdfast.model.errors import HostNotKnown, HostTaken, MalformedName
from holdfast.model.ids import ActorId

RELAY = "wss://relay.example"
US, THERE = ActorId("a_" + "a" * 32), ActorId("a_" + "b" * 32)
OTHER = ActorId("a_" + "c" * 32)


@pytest.fixture(autouse=True)
def config(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOLDFAST_CONFIG_DIR", str(tmp_path / "config"))
    return tmp_path / "config"


def known(name: str = "box", key: bytes = b"k" * 32) -> KnownHost:
    return KnownHost(name, key, b"s" * 32, (RELAY,), "anna")


def test_no_host_is_known_at_first() -> None:
    assert hosts.known() == []
    with pytest.raises(HostNotKnown):
        hosts.by_name("box")


def test_what_is_saved_is_found_whatever_the_case() -> None:
    hosts.save(known())

    assert hosts.by_name("BOX") == known()
    assert hosts.known() == [known()]


def test_t47_nobody_else_can_read_the_file(config: Path) -> None:
    hosts.save(known())

    assert (config / "hosts" / "box.json").stat().st_mode & 0o077 == 0


def test_t36_another_key_under_a_known_name_is_refused() -> None:
    hosts.save(known())

    with pytest.raises(HostTaken):
        hosts.save(known("Box", b"o" * 32))
    assert hosts.by_name("box").public_key == b"k" * 32


def test_a_known_host_keeps_its_name_and_gets_new_relays() -> None:
    hosts.save(known())

    kept = hosts.save(KnownHost("other", b"k" * 32, b"s" * 32, ("wss://b.example",)))

    assert kept.name == "box"
    assert hosts.known() == [kept]
    assert kept.relays == ("wss://b.example",)


def test_a_host_can_be_renamed_and_forgotten() -> None:
    hosts.save(known())
    hosts.save(known("den", b"d" * 32))

    hosts.rename("box", "shed")

    assert [one.name for one in hosts.known()] == ["den", "shed"]
    with pytest.raises(HostTaken):
        hosts.rename("den", "shed")
    hosts.forget("shed")
    assert [one.name for one in hosts.known()] == ["den"]


def test_renaming_to_the_same_name_keeps_the_host() -> None:
    hosts.save(known())

    hosts.rename("box", "box")
    hosts.rename("box", "Box")

    assert [one.name for one in hosts.known()] == ["Box"]


@pytest.mark.parametrize("name", ["", "a/b", "../x", "h_abc", ".x"])
def test_a_name_that_cannot_be_one_writes_nothing(name: str, config: Path) -> None:
    with pytest.raises(MalformedName):
        hosts.save(known(name))
    assert list((config / "hosts").iterdir()) == []


@pytest.mark.parametrize(
    "damage",
    [
        {"public_key": "00" * 32},
        {"public_key": "zz"},
        {"static_key": "00"},
        {"relays": 7},
        {"host": "h_" + "a" * 32},
    ],
)
def test_a_damaged_file_is_no_host(damage: dict[str, object], config: Path) -> None:
    hosts.save(known())
    path = config / "hosts" / "box.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | damage))

    assert hosts.known() == []
    with pytest.raises(HostNotKnown):
        hosts.by_name("box")
    hosts.forget("box")
    assert not path.exists()


def test_who_we_are_at_a_host_is_kept_when_it_is_joined_again() -> None:
    first = hosts.save(replace(known(), actors={US: THERE}))
    assert first == replace(known(), actors={US: THERE})

    hosts.save(replace(known(), actors={OTHER: THERE}))

    found = hosts.by_name("box")
    assert found.actors == {US: THERE, OTHER: THERE}
    assert (found.actor_of(US), found.actor_of(THERE)) == (THERE, THERE)


def test_a_file_of_an_older_version_says_less_and_is_a_host(config: Path) -> None:
    assert hosts.save(known()) == known()
    path = config / "hosts" / "box.json"
    facts = json.loads(path.read_text())
    del facts["actors"], facts["operator"]
    path.write_text(json.dumps(facts))

    assert hosts.by_name("box") == replace(known(), operator="")


def test_so_many_relays_of_a_host_are_kept() -> None:
    relays = tuple(f"wss://r{n}.example" for n in range(hosts.MAX_RELAYS + 1))

    hosts.save(replace(known(), relays=relays))

    assert hosts.by_name("box").relays == relays[: hosts.MAX_RELAYS]


def test_a_host_that_is_not_known_cannot_be_forgotten_or_renamed() -> None:
    hosts.save(known())

    with pytest.raises(HostNotKnown):
        hosts.forget("den")
    with pytest.raises(HostNotKnown):
        hosts.rename("den", "shed")
    hosts.forget("BOX")
    assert hosts.known() == []
