import json
import os
from pathlib import Path

import pytest

from holdfast.crypto.identity import Identity
from holdfast.crypto.rotation import accepted_rotation, rotate
from holdfast.linux.stored import operators
from holdfast.model.actors import ActorKind
from holdfast.model.envelopes import Envelope, Right
from holdfast.model.errors import OperatorTaken, RotationRefused, UnknownOperator
from holdfast.model.ids import actor_id

SEEDS = [bytes(range(n, n + 32)) for n in range(4)]
KEYS = [Identity.from_seed(seed) for seed in SEEDS]
TOKEN = b"t" * 32


@pytest.fixture(autouse=True)
def config(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOLDFAST_CONFIG_DIR", str(tmp_path / "config"))
    return tmp_path / "config"


def enrol(seed: bytes | None = SEEDS[0]) -> operators.Enrolled:
    return operators.enrol("anna", ActorKind.HUMAN, KEYS[0].public, seed, TOKEN)


def turned(known: operators.Enrolled, number: int) -> operators.Enrolled:
    made = rotate(KEYS[number - 1], KEYS[number]).to_bytes()
    found = accepted_rotation(made, known.public_key)
    seed = SEEDS[number] if known.is_at_home else None
    return operators.rotate(known, found.new, made, seed)


def test_a_rotated_operator_is_the_same_one_with_another_key() -> None:
    known = enrol()

    found = turned(known, 1)

    assert found.actor == known.actor
    assert found.actor.id == actor_id(KEYS[0].public)
    assert (found.public_key, found.seed()) == (KEYS[1].public, SEEDS[1])
    assert found.token() == TOKEN
    assert operators.by_name("anna") == operators.by_actor(known.actor.id) == found
    assert operators.by_key(KEYS[1].public) == found
    assert operators.by_key(KEYS[0].public) is None


def test_a_key_can_give_way_again_and_again_and_no_old_one_is_kept() -> None:
    known = enrol()
    for number in (1, 2, 3):
        known = turned(known, number)

    assert known.rotations == 3
    assert known.seed() == SEEDS[3]
    assert known.actor.id == actor_id(KEYS[0].public)
    held = {path.name: path.read_bytes() for path in Path(known.folder).iterdir()}
    assert not set(SEEDS[:3]) & set(held.values())
    assert {"rotation-1", "rotation-2", "rotation-3"} <= set(held)


def test_an_operator_that_is_at_home_elsewhere_rotates_without_a_seed() -> None:
    found = turned(enrol(seed=None), 1)

    assert not found.is_at_home
    with pytest.raises(UnknownOperator):
        found.seed()


def test_what_an_invitation_promised_stays_promised() -> None:
    envelope = Envelope(frozenset({Right.OBSERVE}), None, None)
    known = operators.enrol(
        "bert",
        ActorKind.AGENT,
        KEYS[0].public,
        None,
        TOKEN,
        operators.Terms("ab", envelope),
    )

    assert turned(known, 1).promised == envelope


def test_a_rotation_that_was_taken_is_not_taken_again() -> None:
    found = turned(enrol(), 1)

    with pytest.raises(RotationRefused):
        accepted_rotation(rotate(KEYS[0], KEYS[1]).to_bytes(), found.public_key)


def test_a_key_that_somebody_has_is_taken_by_nobody_else() -> None:
    known = enrol()
    operators.enrol("bert", ActorKind.AGENT, KEYS[1].public, None, TOKEN)

    with pytest.raises(OperatorTaken):
        turned(known, 1)
    assert operators.by_name("anna") == known


@pytest.mark.parametrize("done", [1, 2, 3])
def test_whoever_is_killed_in_a_rotation_leaves_the_old_key_in_force(done: int) -> None:
    known = enrol()
    left = ["rotation-1", "key-1", "operator.json.next"][:done]
    for name in left:
        Path(known.folder, name).write_bytes(b"half of")

    assert operators.by_name("anna") == known
    assert known.seed() == SEEDS[0]
    assert turned(known, 1).seed() == SEEDS[1]


def test_whoever_is_killed_after_the_commit_leaves_the_new_key_in_force() -> None:
    known = enrol()
    found = turned(known, 1)
    Path(known.folder, "key").write_bytes(SEEDS[0])

    assert operators.by_name("anna") == found
    assert found.seed() == SEEDS[1]


def test_nothing_that_a_rotation_writes_can_be_read_by_others() -> None:
    folder = Path(turned(enrol(), 1).folder)

    assert not any(path.stat().st_mode & 0o077 for path in folder.iterdir())


def test_a_first_key_that_is_not_the_operators_damages_the_folder() -> None:
    found = turned(enrol(), 1)
    path = Path(found.folder, "operator.json")
    facts = json.loads(path.read_text())
    path.write_text(json.dumps(facts | {"first_key": KEYS[2].public.hex()}))
    os.chmod(path, 0o600)  # noqa: PTH101  # as it was

    assert operators.enrolled() == []
