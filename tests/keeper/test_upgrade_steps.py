"""How an upgrade is carried out: nurseries, holders, the check, and what is told."""

import os
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.keeper.keeper_world import ONE, House, Peer, house
from tests.scenarios import witness

from holdfast.keeper.code import Code, present
from holdfast.keeper.upgrade import Side
from holdfast.linux import packets

NOW = present()


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[House]:
    for name in ("RUNTIME", "CONFIG", "STATE"):
        monkeypatch.setenv(f"HOLDFAST_{name}_DIR", str(tmp_path / name.lower()))
    with house(tmp_path) as made:
        yield made


def upgrade(here: House, code: Code = NOW) -> Peer:
    """Return somebody who has asked for an upgrade."""
    asker = here.peer()
    asker.say(do="upgrade", python=code.python, root=code.root)
    return asker


def refusal(told: list[packets.Packet]) -> object:
    (answer,) = told
    assert answer["ok"] is False
    assert answer["code"] == "upgrade-failed"
    return answer["text"]


def end_next(here: House) -> None:
    """End the new nursery, and collect it."""
    nursery = here.keeper_state.next_nursery
    assert nursery is not None
    pid = nursery.pid
    nursery.end()
    os.waitpid(pid, 0)


@pytest.mark.parametrize(
    ("code", "why"),
    [
        (Code("/nowhere/python", NOW.root), "there is no such interpreter"),
        (Code(sys.executable, "/"), "that folder does not contain the package"),
    ],
)
def test_code_that_is_not_there_is_refused_before_anything_is_done(
    here: House, code: Code, why: str
) -> None:
    assert refusal(upgrade(here, code).told()) == why
    assert not here.upgrading.is_on
    assert here.keeper_state.next_nursery is None


def test_one_upgrade_is_under_way_at_a_time(here: House) -> None:
    here.nursery()
    upgrade(here)

    assert here.upgrading.is_on
    assert refusal(upgrade(here).told()) == "another upgrade is under way"
    end_next(here)


def test_an_interpreter_that_cannot_be_started_undoes_the_upgrade(
    here: House, tmp_path: Path
) -> None:
    nursery = here.nursery()
    bad = tmp_path / "python"
    bad.write_text("#!/nowhere\n")
    bad.chmod(0o700)
    told = upgrade(here, Code(str(bad), NOW.root)).told()

    assert "cannot be started" in str(refusal(told))
    assert not here.upgrading.is_on
    assert here.upgrading.next_deadline() is None
    assert here.keeper_state.next_nursery is None
    assert here.keeper_state.nursery is nursery.nursery


def test_new_code_that_dies_undoes_the_upgrade(here: House, tmp_path: Path) -> None:
    nursery = here.nursery()
    (tmp_path / "holdfast").mkdir()
    (tmp_path / "holdfast" / "__init__.py").touch()
    asker = upgrade(here, Code(sys.executable, str(tmp_path)))
    assert here.upgrading.side_of_births is Side.OLD
    here.turn_until(lambda: not here.upgrading.is_on)
    os.wait()

    assert "has died" in str(refusal(asker.told()))
    assert here.keeper_state.next_nursery is None
    assert here.keeper_state.nursery is nursery.nursery
    assert here.keeper_state.side_of(ONE) is Side.OLD


def test_state_that_the_new_code_cannot_read_undoes_the_upgrade(here: House) -> None:
    nursery = here.nursery()
    asker = upgrade(here)
    second = here.keeper_state.next_nursery
    assert second is not None
    here.turn_until(lambda: here.upgrading._checking)  # noqa: SLF001
    assert not any("no state" in one for one in witness.descriptors(os.getpid()))
    checking = here.upgrading._checking  # noqa: SLF001
    here.upgrading.children_ended({4_000_000: 0})
    assert here.upgrading.is_on
    _, status = os.waitpid(checking, 0)
    here.upgrading.children_ended({checking: os.waitstatus_to_exitcode(status)})

    assert "cannot read the keeper's state" in str(refusal(asker.told()))
    assert not here.upgrading.is_on
    assert here.keeper_state.nursery is nursery.nursery
    assert second.link is None
    os.waitpid(second.pid, 0)


def test_a_keeper_that_cannot_become_the_new_code_says_so(here: House) -> None:
    here.nursery()
    asker = upgrade(here)
    second = here.keeper_state.next_nursery
    assert second is not None
    here.turn_until(lambda: here.upgrading._checking)  # noqa: SLF001
    checking = here.upgrading._checking  # noqa: SLF001
    os.waitpid(checking, 0)
    here.upgrading.children_ended({checking: 0})

    assert here.replaced == [NOW]
    assert refusal(asker.told()) == "the keeper cannot start the new code"
    assert not here.upgrading.is_on
    assert here.keeper_state.nursery is second
    assert here.keeper_state.next_nursery is None
    second.end()
    os.waitpid(second.pid, 0)


def test_a_holder_is_asked_to_leave(here: House) -> None:
    here.nursery()
    holder = here.deposit()
    holder.told()
    asker = upgrade(here)
    told: list[list[packets.Packet]] = [[]]

    def is_told() -> bool:
        told.append(holder.told())
        return bool(told[-1])

    here.turn_until(is_told)

    assert told[-1] == [{"do": "leave"}]
    assert not holder_is_replaced(here)
    due = here.upgrading.next_deadline()
    assert due is not None
    assert due > time.monotonic()
    here.upgrading.tick(due)  # It does not come to it.
    assert holder.is_dead()
    here.keeper_state.forget(ONE)  # One that is over holds nothing up.
    here.turn_until(lambda: here.upgrading._checking)  # noqa: SLF001
    os.waitpid(here.upgrading._checking, 0)  # noqa: SLF001
    assert asker.near in here.keeper_state.links
    end_next(here)


def holder_is_replaced(here: House) -> bool:
    return here.kept().replace_at is not None


def test_a_session_without_a_holder_needs_nobody_to_leave(here: House) -> None:
    here.nursery()
    here.deposit().hang_up()
    here.keeper_state.vault.due(time.monotonic())
    upgrade(here)
    assert here.keeper_state.side_of(ONE) is Side.OLD
    here.turn_until(lambda: holder_is_replaced(here))

    assert here.keeper_state.side_of(ONE) is Side.NEW
    end_next(here)
