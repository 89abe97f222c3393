"""Changing our key: once it is written down, and only by what we wrote."""

import json
from pathlib import Path

import pytest

from holdfast.client import current_operator, hosts
from holdfast.client.hosts import KnownHost
from holdfast.client.key_rotation import _drafted, rotate_us
from holdfast.crypto.identity import Identity
from holdfast.linux.stored import operators
from holdfast.linux.stored.operators import Enrolled
from holdfast.model.actors import ActorKind
from holdfast.model.errors import HoldfastError


@pytest.fixture
def us(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Enrolled:
    for name in ("RUNTIME", "CONFIG", "STATE"):
        monkeypatch.setenv(f"HOLDFAST_{name}_DIR", str(tmp_path / name.lower()))
    return current_operator.ourselves()


def draft_of(operator: Enrolled) -> Path:
    return Path(operator.folder) / "key.next"


def test_who_rotates_is_the_same_with_another_key(us: Enrolled) -> None:
    rotated, untold = rotate_us(force=False)

    assert untold == {}
    assert rotated.actor == us.actor
    assert rotated.public_key != us.public_key
    assert Identity.from_seed(rotated.seed()).public == rotated.public_key
    assert current_operator.ourselves().public_key == rotated.public_key
    assert not draft_of(us).exists()


def test_a_key_that_was_written_down_before_is_taken(us: Enrolled) -> None:
    seed = _drafted(draft_of(us))

    assert _drafted(draft_of(us)) == seed
    assert draft_of(us).stat().st_mode & 0o077 == 0
    rotated, _ = rotate_us(force=False)
    assert rotated.seed() == seed


def test_a_key_of_somebody_else_s_is_not_taken(us: Enrolled) -> None:
    other = current_operator.enrol("bert", ActorKind.HUMAN)
    theirs = _drafted(draft_of(other))
    draft_of(us).write_bytes(draft_of(other).read_bytes())
    assert _drafted(draft_of(us)) != theirs

    ours = _drafted(draft_of(us))
    found = json.loads(draft_of(us).read_bytes())
    for written in ({**found, "seed": theirs.hex()}, [found], "no draft"):
        draft_of(us).write_text(json.dumps(written))
        assert _drafted(draft_of(us)) not in {ours, theirs}


def test_nothing_is_done_while_a_host_cannot_be_told_unless_it_is_forced(
    us: Enrolled,
) -> None:
    nowhere = "http://127.0.0.1:1"
    key = Identity.from_seed(b"h" * 32).public
    hosts.save(KnownHost("far", key, key, (nowhere,)))

    with pytest.raises(HoldfastError):
        rotate_us(force=False)
    known = operators.by_actor(us.actor.id)
    assert known is not None
    assert known.public_key == us.public_key

    rotated, untold = rotate_us(force=True)
    assert [*untold] == ["far"]
    assert untold["far"]
    assert rotated.public_key != us.public_key
