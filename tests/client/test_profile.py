import os
import subprocess
import sys
from pathlib import Path

import pytest

from holdfast.client import current_operator
from holdfast.client.own_name import VARIABLE, login_name, our_name
from holdfast.client.profile import our_id
from holdfast.linux.stored import operators
from holdfast.model.errors import MalformedName, OperatorFileDamaged


@pytest.fixture(autouse=True)
def config(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOLDFAST_CONFIG_DIR", str(tmp_path / "config"))
    monkeypatch.setenv(VARIABLE, "")
    return tmp_path / "config"


def test_we_are_called_as_the_environment_or_the_login_says(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert our_name() == login_name()
    monkeypatch.setenv(VARIABLE, "bot")
    assert our_name() == "bot"
    monkeypatch.setenv(VARIABLE, "../x")
    with pytest.raises(MalformedName):
        our_name()


def test_the_id_is_that_of_whom_we_act_as(monkeypatch: pytest.MonkeyPatch) -> None:
    first = our_id()
    assert first == our_id() == current_operator.ourselves().actor.id

    monkeypatch.setenv(VARIABLE, "bot")
    assert our_id() == current_operator.ourselves().actor.id != first
    monkeypatch.setenv(VARIABLE, "BOT")
    assert our_id() == current_operator.ourselves().actor.id
    assert len(operators.enrolled()) == 2


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"actor": 3}', "\xff"])
def test_what_is_damaged_is_nobodys_id(text: str, config: Path) -> None:
    our_id()
    (config / "operators" / login_name() / "operator.json").write_text(text)

    with pytest.raises(OperatorFileDamaged):
        our_id()


def unmeasured() -> dict[str, str]:
    # What measures coverage loads modules of its own.
    return {name: v for name, v in os.environ.items() if "COVERAGE" not in name}


def test_knowing_who_we_are_loads_little() -> None:
    expected = our_id()
    program = (
        "import sys; from holdfast.client.profile import our_id; print(our_id());"
        "print({'dataclasses', 'hmac', 'shutil', 'cryptography'} & set(sys.modules))"
    )

    said = subprocess.check_output(
        [sys.executable, "-c", program], text=True, env=unmeasured()
    )

    assert said.splitlines() == [expected, "set()"]
