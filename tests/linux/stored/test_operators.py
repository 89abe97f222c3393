import json
import os
from pathlib import Path

import pytest

from holdfast.linux.stored import folders, operators
from holdfast.model.actors import ActorKind
from holdfast.model.envelopes import Envelope, Right
from holdfast.model.errors import (
    MalformedName,
    OperatorFileDamaged,
    OperatorTaken,
    PlaceNotOurs,
    UnknownOperator,
)
from holdfast.model.ids import SessionId, actor_id

KEY, SEED, TOKEN = b"k" * 32, b"s" * 32, b"t" * 32


@pytest.fixture(autouse=True)
def config(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOLDFAST_CONFIG_DIR", str(tmp_path / "config"))
    return tmp_path / "config"


def enrol(name: str = "anna", key: bytes = KEY) -> operators.Enrolled:
    return operators.enrol(name, ActorKind.HUMAN, key, SEED, TOKEN)


def test_nobody_is_known_at_first() -> None:
    assert operators.enrolled() == []
    assert operators.by_name("anna") is None
    assert operators.by_actor(actor_id(KEY)) is None


def test_whoever_is_enrolled_is_found_by_name_and_by_key() -> None:
    made = enrol()

    assert operators.by_name("ANNA") == operators.by_actor(actor_id(KEY)) == made
    assert (made.actor.name, made.actor.kind) == ("anna", ActorKind.HUMAN)
    assert (made.token(), made.seed(), made.public_key) == (TOKEN, SEED, KEY)


def test_t44_nothing_of_an_operator_can_be_read_by_others() -> None:
    folder = Path(enrol().folder)

    modes = [path.stat().st_mode & 0o077 for path in (folder, *folder.iterdir())]

    assert len(modes) == 4
    assert not any(modes)


def test_a_name_is_given_once_whatever_its_case() -> None:
    enrol()

    with pytest.raises(OperatorTaken):
        enrol("Anna", b"other" * 8)
    assert [one.actor.name for one in operators.enrolled()] == ["anna"]


@pytest.mark.parametrize(
    "name", ["", "../x", "a/b", ".hidden", "-x", "a\nb", "a_b" * 99]
)
def test_a_name_that_is_none_makes_no_folder(name: str) -> None:
    with pytest.raises(MalformedName):
        enrol(name)

    assert list(Path(folders.operators_folder()).iterdir()) == []


def test_what_was_left_of_an_enrolment_that_died_counts_for_nothing() -> None:
    (Path(folders.operators_folder()) / ".anna.123").mkdir()

    assert operators.enrolled() == []
    assert enrol().actor.name == "anna"


def test_an_operator_that_is_not_at_home_here_has_no_secrets_here() -> None:
    made = operators.enrol("bot", ActorKind.AGENT, KEY, None, TOKEN)

    with pytest.raises(UnknownOperator):
        made.seed()
    (Path(made.folder) / "token").unlink()
    with pytest.raises(UnknownOperator):
        made.token()


@pytest.mark.parametrize(
    "damage",
    [
        {"kind": "king"},
        {"name": "berta"},
        {"name": "\x1b[31manna"},
        {"actor": actor_id(b"x" * 32)},
        {"public_key": "zz"},
        {"public_key": None},
    ],
)
def test_a_damaged_folder_is_nobody(damage: dict[str, object]) -> None:
    folder = Path(enrol().folder)
    facts = json.loads((folder / "operator.json").read_bytes())
    (folder / "operator.json").write_text(json.dumps({**facts, **damage}))

    assert operators.enrolled() == []
    with pytest.raises(OperatorFileDamaged):
        operators.by_name("anna")


def test_a_copied_folder_does_not_make_somebody_else() -> None:
    made = enrol()
    Path(made.folder).rename(Path(made.folder).with_name("berta"))

    assert operators.enrolled() == []


def test_a_link_in_the_place_of_a_secret_is_not_followed(tmp_path: Path) -> None:
    made = enrol()
    (tmp_path / "elsewhere").write_bytes(b"x" * 32)
    (Path(made.folder) / "token").unlink()
    (Path(made.folder) / "token").symlink_to(tmp_path / "elsewhere")

    with pytest.raises(OSError, match="symbolic link"):
        made.token()


def test_whoever_is_forgotten_is_unknown() -> None:
    enrol()
    operators.forget("anna")

    assert operators.by_name("anna") is None
    with pytest.raises(UnknownOperator):
        operators.forget("anna")


def test_t45_a_folder_that_others_may_write_to_is_not_used(config: Path) -> None:
    config.mkdir(mode=0o775)
    os.chmod(config, 0o775)  # noqa: PTH101, S103  # what the test is about

    with pytest.raises(PlaceNotOurs):
        operators.enrolled()


def test_what_an_invitation_promised_is_kept_and_its_guest_is_not_at_home() -> None:
    envelope = Envelope(frozenset({Right.OBSERVE}), SessionId("s_" + "a" * 16), 12.5)
    terms = operators.Terms("ab", envelope)

    made = operators.enrol("guest", ActorKind.DEVICE, KEY, None, TOKEN, terms)

    assert operators.by_name("guest") == made
    assert (made.terms, made.promised, made.is_at_home) == (terms, envelope, False)
    assert (enrol("host", b"h" * 32).is_at_home, enrol("b", b"b" * 32).promised) == (
        True,
        None,
    )


@pytest.mark.parametrize(
    "damage",
    [
        {"rights": ["fly"]},
        {"rights": "observe"},
        {"session": "web"},
        {"expires_ms": "never"},
        {"expires_ms": 1.5},
    ],
)
def test_a_damaged_promise_is_no_operator(damage: dict[str, object]) -> None:
    terms = operators.Terms("ab", Envelope(frozenset({Right.OBSERVE})))
    made = operators.enrol("guest", ActorKind.DEVICE, KEY, None, TOKEN, terms)
    path = Path(made.folder) / "operator.json"
    facts = json.loads(path.read_text())
    path.write_text(json.dumps(facts | {"envelope": facts["envelope"] | damage}))

    assert operators.enrolled() == []
    with pytest.raises(OperatorFileDamaged):
        operators.by_name("guest")
