from pathlib import Path

import pytest

from holdfast.cli.new_request import NewOptions, asked
from holdfast.linux.stored import places, relays
from holdfast.model.errors import MalformedArgument


@pytest.fixture(autouse=True)
def folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("RUNTIME", "CONFIG", "STATE"):
        monkeypatch.setenv(f"HOLDFAST_{name}_DIR", str(tmp_path / name.lower()))


def wanted(**chosen: object) -> tuple[object, object]:
    options = NewOptions([])
    for name, value in chosen.items():
        setattr(options, name, value)
    found = asked(options)
    return found.get("runtime"), found.get("movable")


def test_what_is_movable_is_a_capsule() -> None:
    assert wanted() == (None, None)
    assert wanted(capsule=True) == ("capsule", None)
    assert wanted(movable=True) == ("capsule", True)


def test_what_is_plain_cannot_be_movable() -> None:
    with pytest.raises(MalformedArgument, match="--movable"):
        wanted(movable=True, plain=True)


def test_a_setting_makes_sessions_movable_where_a_relay_is_named() -> None:
    (places.config_dir() / "config.toml").write_text('runtime = "movable"\n')

    assert wanted() == ("capsule", None)
    relays.add("https://relay.example")
    assert wanted() == ("capsule", True)
    assert wanted(capsule=True) == ("capsule", None)
    assert wanted(plain=True) == ("plain", None)
