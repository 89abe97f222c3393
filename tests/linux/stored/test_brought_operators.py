"""Whoever comes with a session is known by key, and takes nobody's name."""

from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest

from holdfast.linux.stored import operators, service_operators
from holdfast.linux.stored.brought_operators import enrol_brought
from holdfast.linux.stored.parcels import Brought, Parcel
from holdfast.model.actors import ActorKind
from holdfast.model.envelopes import Right
from holdfast.model.ids import SessionId, actor_id

SESSION = SessionId("s_" + "a" * 16)
KEY = b"k" * 32


@pytest.fixture(autouse=True)
def folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("RUNTIME", "CONFIG", "STATE"):
        monkeypatch.setenv(f"HOLDFAST_{name}_DIR", str(tmp_path / name.lower()))


def brought(name: str, key: bytes = KEY, kind: str = "agent") -> Brought:
    return Brought(actor_id(key), name, kind, key, ("observe", "input"))


def enrol(*people: Brought) -> int:
    """Enrol who comes with a session; only papers and session are looked at."""
    papers = SimpleNamespace(operators=people)
    manifest = SimpleNamespace(session=SESSION)
    return enrol_brought(
        cast("Parcel", SimpleNamespace(papers=papers, manifest=manifest)), "a_host"
    )


def test_who_comes_along_has_rights_over_that_session_alone() -> None:
    assert enrol(brought("bot")) == 1

    known = operators.by_key(KEY)
    assert known is not None
    assert known.actor.name == "bot"
    assert known.brought_with(SESSION) == {Right.OBSERVE, Right.INPUT}
    assert known.brought_with(SessionId("s_" + "b" * 16)) == frozenset()
    assert not known.may_on_host(Right.OBSERVE)


def test_a_name_that_is_taken_gets_a_number() -> None:
    operators.enrol("bot", ActorKind.AGENT, b"o" * 32, None, b"t" * 32)

    enrol(brought("bot"))

    known = operators.by_key(KEY)
    assert known is not None
    assert known.actor.name == "bot-2"


@pytest.mark.parametrize("name", sorted(service_operators.NAMES))
def test_nobody_is_called_like_a_service_of_the_host(name: str) -> None:
    enrol(brought(name))

    known = operators.by_key(KEY)
    assert known is not None
    assert known.actor.name == f"{name}-2"
    assert service_operators.service(name, Right.OBSERVE).actor.name == name


def test_who_makes_no_sense_stays_unknown_and_the_others_come() -> None:
    odd = brought("odd", b"z" * 32, kind="ghost")
    other = brought("stolen")._replace(actor=actor_id(b"x" * 32))

    assert enrol(odd, other, brought("bot", b"y" * 32)) == 1
    assert operators.by_key(KEY) is None


def test_who_is_known_already_keeps_the_name_and_gets_the_session() -> None:
    enrol(brought("bot"))

    assert enrol(brought("other")) == 1

    known = operators.by_key(KEY)
    assert known is not None
    assert known.actor.name == "bot"
