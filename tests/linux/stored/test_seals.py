from pathlib import Path

import pytest

from holdfast.linux.stored import seals


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    tmp_path.chmod(0o700)
    monkeypatch.setenv("HOLDFAST_CONFIG_DIR", str(tmp_path))
    return tmp_path


FACTS: dict[str, object] = {"name": "anna", "kind": "agent", "rights": ["observe"]}


def test_what_was_sealed_is_known_again_whatever_its_order() -> None:
    sealed = seals.sealed(FACTS, "operators/anna")

    assert seals.is_sealed(sealed, "operators/anna", seals.key())
    turned = dict(reversed(sealed.items()))
    assert seals.is_sealed(turned, "operators/anna", seals.key())
    assert seals.sealed(sealed, "operators/anna") == sealed


@pytest.mark.parametrize(
    "change",
    [
        {"kind": "human"},
        {"more": True},
        {"rights": ["observe", "grant"]},
        {"seal": ""},
        {"seal": "é"},
        {"seal": None},
    ],
)
def test_what_was_changed_is_not(change: dict[str, object]) -> None:
    sealed = {**seals.sealed(FACTS, "operators/anna"), **change}

    assert not seals.is_sealed(sealed, "operators/anna", seals.key())


def test_a_seal_is_about_one_thing_and_of_one_host(place: Path) -> None:
    sealed = seals.sealed(FACTS, "operators/anna")
    assert not seals.is_sealed(sealed, "operators/bert", seals.key())
    assert not seals.is_sealed(FACTS, "operators/anna", seals.key())

    (place / "host.key").unlink()

    assert not seals.is_sealed(sealed, "operators/anna", seals.key())
