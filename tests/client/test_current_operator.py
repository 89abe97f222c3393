import os
import subprocess
import sys
from pathlib import Path

import pytest

from holdfast.client import current_operator, own_name
from holdfast.crypto.keys import SigningKey
from holdfast.linux.stored import operators
from holdfast.model.actors import ActorKind
from holdfast.model.errors import MalformedName


@pytest.fixture(autouse=True)
def config(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOLDFAST_CONFIG_DIR", str(tmp_path / "config"))
    monkeypatch.delenv(own_name.VARIABLE, raising=False)
    return tmp_path / "config"


def test_the_login_user_is_a_human_and_made_on_first_use() -> None:
    ourselves = current_operator.ourselves()

    assert ourselves.actor.name == own_name.login_name()
    assert ourselves.actor.kind is ActorKind.HUMAN
    assert current_operator.ourselves() == ourselves


def test_anybody_else_is_an_agent(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(own_name.VARIABLE, "builder")

    assert current_operator.ourselves().actor.kind is ActorKind.AGENT


def test_the_key_belongs_to_the_id() -> None:
    ourselves = current_operator.ourselves()

    assert SigningKey.from_seed(ourselves.seed()).public == ourselves.public_key


def test_a_name_that_is_none_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(own_name.VARIABLE, "../../x")

    with pytest.raises(MalformedName):
        current_operator.ourselves()


def test_many_who_come_first_at_once_are_one_operator() -> None:
    words = [sys.executable, "-c"]
    said = (
        "from holdfast.client import current_operator as one;"
        "print(one.ourselves().actor.id)"
    )
    crowd = [
        subprocess.Popen([*words, said], stdout=subprocess.PIPE, env=os.environ)
        for _ in range(4)
    ]

    ids = {one.communicate()[0].decode().strip() for one in crowd}

    assert ids == {current_operator.ourselves().actor.id}
    assert len(operators.enrolled()) == 1
