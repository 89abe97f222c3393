"""When a holder asks for leave to doze, when it does not, and what it leaves."""

import os
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.holder.input_world import SESSION, World, world
from tests.holder.keeper_world import PATIENCE, TAKEN, Keeper

from holdfast.core.input import turn
from holdfast.core.session.left_behind import LeftBehind, read_left
from holdfast.core.session.stream import StreamWindow
from holdfast.holder import doze
from holdfast.holder.doze import Dozing
from holdfast.holder.links.keeper_link import KeeperLink
from holdfast.holder.moment import now
from holdfast.holder.output.display import Display
from holdfast.holder.processes.leader import Leader
from holdfast.holder.record.note_memory import AREA
from holdfast.linux import shared_memory
from holdfast.linux.stored import folders

AFTER = 5.0


class Drowsy:
    """A holder's rooms, as far as they decide whether its session dozes."""

    def __init__(self, made: World, keeper: Keeper) -> None:
        context, session = made.context, made.session
        window = StreamWindow.open(shared_memory.view(made.descriptors.memory)[AREA:])
        self.world = made
        self.keeper = keeper
        self._later = 0.0
        self.link = KeeperLink(
            context.descriptors, context.poll, context.timers, context.clients
        )
        brought = keeper.expect(TAKEN)
        self.link.begin("", None)
        brought.result(PATIENCE)
        self.display = Display(context, window, session)
        self.leader = Leader(context, session.driver, session.freezer, None)
        self.dozing = Dozing(context, session, self.display, self.leader, self.link)

    def asks(self, *, leave: bool = True) -> bool:
        """Let time pass in which nothing happens; tell whether it asks to doze."""
        self.keeper.say(do="doze", ok=leave)
        return any(self.passes() for _ in range(3))

    def passes(self) -> bool:
        """Let enough time pass to look once; tell whether it asked."""
        self._later += AFTER + 1
        self.world.turn(self._later)
        return self.is_asked()

    def is_asked(self) -> bool:
        link = self.keeper.link
        assert link is not None
        link.settimeout(0)
        try:
            return self.keeper.heard()["do"] == "doze"
        except BlockingIOError:
            return False
        finally:
            link.settimeout(PATIENCE)

    def left(self) -> LeftBehind:
        """Return what was left with the keeper."""
        memory = self.keeper.fds[-1]
        return read_left(os.pread(memory, 1 << 20, 0))


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[World]:
    for name in ("RUNTIME", "CONFIG", "STATE"):
        monkeypatch.setenv(f"HOLDFAST_{name}_DIR", str(tmp_path / name.lower()))
    monkeypatch.setenv(doze.SETTING, str(AFTER))
    with world() as made:
        yield made


@pytest.fixture
def keeper(here: World) -> Iterator[Keeper]:
    made = Keeper()
    yield made
    made.close()
    while here.context.poll.turn(0):
        pass


@pytest.fixture
def drowsy(here: World, keeper: Keeper) -> Drowsy:
    return Drowsy(here, keeper)


def test_a_session_in_which_nothing_happens_dozes(drowsy: Drowsy) -> None:
    assert drowsy.asks()
    assert not drowsy.link.is_wanted
    left = drowsy.left()
    assert not left.is_staged
    assert left.shell is None
    assert left.nap.patience == AFTER
    assert left.nap.entries == Path(folders.session_log(SESSION)).stat().st_size
    assert left.nap.at - left.nap.since == pytest.approx(AFTER + 1, abs=1)


def test_a_keeper_that_does_not_agree_keeps_the_holder(drowsy: Drowsy) -> None:
    assert drowsy.asks(leave=False)
    assert drowsy.link.is_wanted
    assert drowsy.asks()
    assert not drowsy.link.is_wanted


def test_nothing_is_asked_before_it_has_been_quiet_long_enough(
    drowsy: Drowsy,
) -> None:
    drowsy.keeper.say(do="doze", ok=True)

    assert not drowsy.passes()  # It has only begun to look.
    drowsy.world.turn(AFTER + 2)
    assert not drowsy.is_asked()
    assert drowsy.passes()


def test_while_somebody_is_connected_it_is_not_let_doze(drowsy: Drowsy) -> None:
    anna = drowsy.world.join()
    drowsy.world.session.settle()
    assert not drowsy.asks()
    drowsy.world.leave(anna)
    drowsy.world.session.settle()

    assert drowsy.asks()


def test_while_somebody_has_the_turn_it_is_not_let_doze(drowsy: Drowsy) -> None:
    here = drowsy.world
    anna = here.join()
    assert here.requests.pass_turn(turn.Took(anna.id))
    here.context.clients.connections.remove(anna.connection)
    here.session.settle()

    assert not drowsy.asks()


def test_what_is_frozen_is_not_let_doze(drowsy: Drowsy) -> None:
    drowsy.world.do(drowsy.world.intake.freeze(drowsy.world.join().id, now()))
    drowsy.world.context.clients.connections.clear()
    drowsy.world.session.settle()
    assert drowsy.world.intake.is_frozen

    assert not drowsy.asks()


def test_what_has_not_begun_is_not_let_doze(drowsy: Drowsy) -> None:
    drowsy.world.descriptors.start = [0, 1]

    assert not drowsy.asks()
    drowsy.world.descriptors.start = []


def test_a_terminal_that_ended_before_its_leader_is_not_let_doze(
    drowsy: Drowsy,
) -> None:
    drowsy.display.is_open = False
    assert not drowsy.asks()
    drowsy.leader.exit = 0

    assert drowsy.asks()


def test_what_somebody_waits_for_is_done_first(drowsy: Drowsy) -> None:
    timers = drowsy.world.context.timers
    waiting = timers.add(lambda _: None)
    waiting.set(time.monotonic() + 1000)

    assert not drowsy.asks()
    waiting.set(None)
    assert drowsy.asks()


def test_a_session_that_prints_does_not_doze(drowsy: Drowsy) -> None:
    here = drowsy.world
    drowsy.keeper.say(do="doze", ok=True)
    for _ in range(4):
        os.write(here.slave, b"tick")
        assert here.context.poll.turn(PATIENCE)
        assert not drowsy.passes()


def test_a_session_that_never_dozes_asks_for_nothing(
    here: World, keeper: Keeper, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(doze.SETTING, "never")

    assert not Drowsy(here, keeper).asks()


def test_who_was_woken_knows_what_its_predecessor_did(
    here: World, keeper: Keeper
) -> None:
    first = Drowsy(here, keeper)
    assert first.asks()
    left = first.left()
    here.descriptors.woken = left
    here.context.poll.unwatch(here.descriptors.master)
    again = Drowsy(here, keeper)

    assert again.world.context.shell.line.stands().is_empty
    assert again.asks()
    assert again.left().nap.entries == left.nap.entries


def test_every_part_of_a_book_counts_as_its_size(drowsy: Drowsy) -> None:
    book = Path(folders.session_log(SESSION))
    with book.with_name(f"{book.name}.1").open("wb") as part:
        part.write(b"x" * 100)

    assert drowsy.dozing._book_size() == book.stat().st_size + 100  # noqa: SLF001
