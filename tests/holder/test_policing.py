from pathlib import Path

import pytest

from holdfast.holder.policing import Policing
from holdfast.linux import places

RULE = '[[rule]]\nname = "{}"\nverdict = "deny"\n'


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOLDFAST_CONFIG_DIR", str(tmp_path))
    return places.policy_file()


def named(policing: Policing) -> list[str]:
    return [rule.name for rule in policing.policy.rules]


def test_what_was_just_looked_at_is_not_looked_at_again(file: Path) -> None:
    policing = Policing(print)
    file.write_text(RULE.format("one"))

    with policing.looked_at():
        policing.look()
        assert named(policing) == []
        policing.look()
        assert named(policing) == ["one"]


def test_what_was_looked_at_for_one_input_is_old_for_the_next(file: Path) -> None:
    policing = Policing(print)
    with policing.looked_at():
        pass
    file.write_text(RULE.format("one"))

    policing.look()

    assert named(policing) == ["one"]


def test_a_file_that_makes_no_sense_leaves_the_policy_as_it_was(file: Path) -> None:
    told: list[str] = []
    file.write_text(RULE.format("one"))
    policing = Policing(told.append)

    file.write_text("nonsense")
    policing.refresh()

    assert named(policing) == ["one"]
    assert "left as it was" in told[0]


def test_without_a_file_nothing_is_ruled(file: Path) -> None:
    file.write_text(RULE.format("one"))
    policing = Policing(print)

    file.unlink()
    policing.refresh()

    assert policing.is_plain()
