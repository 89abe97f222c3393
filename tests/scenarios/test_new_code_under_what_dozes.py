"""An upgrade leaves sessions asleep, and they wake under the new code."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.scenarios.copies import (
    PRESENT,
    copy,
    finish,
    folders,
    machine_running,
    start_upgrade,
)
from tests.scenarios.dozing import SOON, dozes, fall_asleep, set_to, typed
from tests.scenarios.support import Machine, eventually

from holdfast.model.ids import SessionId
from holdfast.version import __version__


@pytest.fixture
def copies() -> Iterator[tuple[Path, Path]]:
    with folders() as made:
        yield made


@pytest.fixture
def old(copies: tuple[Path, Path]) -> Iterator[Machine]:
    with set_to(f"{SOON}"), machine_running(copy(copies[0], "0.0.1")) as made:
        yield made


def asleep(here: Machine, count: int) -> list[SessionId]:
    made = [here.new("bash", "--norc", "--noprofile") for _ in range(count)]
    for number, session in enumerate(made):
        typed(here, session, b"X=%d\r" % number, b"X=%d" % number)
    fall_asleep(here, *made)
    return made


def assert_alive(here: Machine, made: list[SessionId], leaders: list[int]) -> None:
    for number, session in enumerate(made):
        typed(here, session, b"echo it-is-$X.\r", b"it-is-%d." % number)
    assert [here.pid("leader", session) for session in made] == leaders


def holders(here: Machine, made: list[SessionId]) -> list[int]:
    return [here.pid("holder", session) for session in made]


def test_one_is_woken_as_the_proof_and_the_others_sleep_on(old: Machine) -> None:
    made = asleep(old, 3)
    leaders = [old.pid("leader", session) for session in made]
    before = holders(old, made)

    said = finish(start_upgrade(PRESENT))

    assert said["after"] == {"version": __version__, "root": str(PRESENT)}
    moved = [
        one for one, was in zip(holders(old, made), before, strict=True) if one != was
    ]
    assert len(moved) == 1
    fall_asleep(old, *made)
    assert_alive(old, made, leaders)
    facts = [old.facts(session) or {} for session in made]
    assert {one["version"] for one in facts} == {__version__}


def test_code_that_does_not_know_of_dozing_is_given_all_of_them_awake(
    old: Machine, copies: tuple[Path, Path]
) -> None:
    made = asleep(old, 3)
    leaders = [old.pid("leader", session) for session in made]
    unknowing = copy(copies[1], "0.0.0")
    nursery = unknowing / "holdfast" / "holder" / "nursery.py"
    nursery.write_text(nursery.read_text().replace('"dozes": True', '"dozed": True'))

    said = finish(start_upgrade(unknowing))

    assert said["sessions"] == 3
    assert_alive(old, made, leaders)


def test_new_code_that_cannot_take_up_what_dozes_is_undone(
    old: Machine, copies: tuple[Path, Path]
) -> None:
    made = asleep(old, 2)
    leaders = [old.pid("leader", session) for session in made]
    broken = copy(copies[1], "9.9.9")
    with (broken / "holdfast" / "holder" / "birth.py").open("a") as file:
        file.write("\n\ndef hold(packet, fds):\n    raise RuntimeError\n")

    said = finish(start_upgrade(broken))

    assert "upgrade-failed" in str(said)
    assert_alive(old, made, leaders)
    assert old.ask(do="status")["version"] == "0.0.1"
    eventually("they doze again", lambda: all(dozes(old, one) for one in made))
