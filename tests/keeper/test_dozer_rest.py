"""A dozer without a keeper: whom it gives its sessions, and how they wake."""

import selectors  # noqa: TC003  # an annotation people read
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.keeper.dozing_world import Asleep, Background, Keeper, left
from tests.keeper.keeper_world import ONE, TWO
from tests.scenarios.support import eventually

from holdfast.keeper import dozer_rest, session_probe, trustee
from holdfast.keeper.dozer_rest import Alone
from holdfast.keeper.trustee import Trust
from holdfast.linux import packets, process_start
from holdfast.linux.stored import places


class Left:
    """A dozer that was left alone with two sessions."""

    def __init__(self) -> None:
        self.one, self.two = Asleep("one"), Asleep("two")
        self.trust = Trust({ONE: self.one.entrusted(), TWO: self.two.entrusted()})
        self._running: Background | None = None
        self._selector: selectors.BaseSelector | None = None

    def begin(self, *, is_resting: bool, is_awaited: bool = True) -> None:
        """Have it go on by itself, and wait until it listens."""
        alone = Alone(self.trust, is_resting=is_resting)
        self._selector = alone._watch.selector  # noqa: SLF001  # to be closed
        self._running = Background(alone.run)
        if is_resting and is_awaited:
            eventually("it listens", places.dozer_socket().is_socket)

    def is_over(self) -> bool:
        return self._running is not None and self._running.is_over()

    def close(self) -> None:
        assert self.is_over()
        assert self._selector is not None
        for key in [*self._selector.get_map().values()]:
            if isinstance(key.fileobj, socket.socket):
                key.fileobj.close()  # A process that ends does not have to.
        self._selector.close()
        left(self.trust)
        packets.close([self.one.slave, self.two.slave])


@pytest.fixture
def alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Left]:
    for name in ("RUNTIME", "CONFIG", "STATE"):
        monkeypatch.setenv(f"HOLDFAST_{name}_DIR", str(tmp_path / name.lower()))
    # Somebody else is about to start a keeper, for as long as it takes.
    claim = process_start.claim_start()
    assert claim is not None
    monkeypatch.setattr(trustee, "CLAIM_PATIENCE", 10**9)
    made = Left()
    yield made
    made.close()
    packets.close([claim])


@pytest.fixture
def heir(alone: Left) -> Iterator[Keeper]:
    del alone  # Its folder.
    made = Keeper()
    yield made
    made.close()


def ids(given: list[packets.Packet]) -> list[object]:
    assert {one["do"] for one in given} == {"inherit"}
    assert {one["fds"] for one in given} == {4}
    return [one["id"] for one in given]


@pytest.mark.parametrize("is_resting", [True, False])
def test_a_keeper_that_is_there_gets_everything(
    alone: Left, heir: Keeper, *, is_resting: bool
) -> None:
    alone.begin(is_resting=is_resting, is_awaited=False)

    assert ids(heir.given(2)) == [ONE, TWO]
    assert alone.is_over()
    assert not alone.trust.copies
    assert not places.dozer_socket().exists()


def test_a_dozer_that_was_left_looks_for_a_keeper_until_there_is_one(
    alone: Left,
) -> None:
    alone.begin(is_resting=False)

    heir = Keeper()

    assert ids(heir.given(2)) == [ONE, TWO]  # It looks for one all the time.
    assert alone.is_over()
    heir.close()


def test_a_keeper_that_knocks_gets_everything(alone: Left) -> None:
    alone.begin(is_resting=True)
    heir = Keeper()

    session_probe.knock_at(places.dozer_socket())

    assert ids(heir.given(2)) == [ONE, TWO]
    assert alone.is_over()
    assert not places.dozer_socket().exists()
    heir.close()


def test_a_knock_without_a_keeper_changes_nothing(alone: Left) -> None:
    alone.begin(is_resting=True)
    session_probe.knock_at(places.dozer_socket())
    heir = Keeper()

    session_probe.knock_at(places.dozer_socket())

    assert ids(heir.given(2)) == [ONE, TWO]
    assert alone.is_over()
    heir.close()


def test_what_happens_while_it_rests_is_told_to_a_keeper_if_there_is_one(
    alone: Left,
) -> None:
    alone.begin(is_resting=True)
    heir = Keeper()

    alone.one.stir()

    assert ids(heir.given(2)) == [ONE, TWO]
    assert alone.is_over()
    heir.close()


def test_what_a_keeper_did_not_take_is_watched_further(alone: Left) -> None:
    alone.begin(is_resting=True)
    heir = Keeper()
    session_probe.knock_at(places.dozer_socket())
    heir.given(1, answers=False)

    alone.two.stir()

    assert ids(heir.given(2)) == [ONE, TWO]
    assert alone.is_over()
    heir.close()


def test_without_a_keeper_a_resting_dozer_wakes_a_session_at_once(
    alone: Left, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dozer_rest, "ALONE", 10.0**6)
    alone.begin(is_resting=True)

    alone.one.stir()

    eventually("it is woken", lambda: ONE not in alone.trust.copies)
    assert [*alone.trust.copies] == [TWO]
    alone.two.stir()
    assert alone.is_over()  # Nothing is left to keep.
    assert not alone.trust.copies
    assert not places.dozer_socket().exists()


def test_without_a_keeper_a_dozer_that_waits_for_one_wakes_a_session_in_the_end(
    alone: Left, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dozer_rest, "ALONE", 0.2)
    alone.begin(is_resting=False)
    assert not places.dozer_socket().exists()

    alone.one.stir()
    alone.two.stir()

    assert alone.is_over()
    assert not alone.trust.copies


def test_a_keeper_that_comes_soon_wakes_it_instead(
    alone: Left, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dozer_rest, "ALONE", 10.0**6)
    alone.begin(is_resting=False)
    alone.one.stir()

    heir = Keeper()

    assert ids(heir.given(2)) == [ONE, TWO]
    assert alone.is_over()
    heir.close()
