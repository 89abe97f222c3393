"""The dozer, while there is a keeper: what it hears, and what it says."""

import os
import signal
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.keeper.dozing_world import PATIENCE, Asleep, Background, Keeper, left
from tests.keeper.keeper_world import ONE, TWO
from tests.scenarios.support import eventually

from holdfast.keeper import dozer as dozer_module
from holdfast.keeper.dozer import Dozer, become
from holdfast.keeper.trustee import Trust
from holdfast.linux import packets


class Dozing:
    """A dozer with one session, and the keeper's end of its link."""

    def __init__(self) -> None:
        self.one = Asleep("one")
        self.two = Asleep("two")
        self.trust = Trust({ONE: self.one.entrusted()})
        self.keeper, link = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.keeper.settimeout(PATIENCE)
        self._link = link
        self.dozer = Dozer(link, self.trust)
        self._running = Background(self.dozer.run)

    def say(self, *fds: int, **packet: object) -> None:
        packets.send(self.keeper, packet, [*fds])

    def said(self) -> packets.Packet:
        """Return what it says next."""
        heard = packets.receive(self.keeper)
        assert heard is not None
        return heard[0]

    def is_quiet(self) -> bool:
        """Tell whether it says nothing but that it is there."""
        self.say(do="ping")
        return self.said() == {"do": "pong"}

    def keep(self, session: str, asleep: Asleep, *, fds: bool = False) -> None:
        """Tell it how it is with a session now, as a keeper does."""
        sent = asleep.fds if fds else []
        self.say(*sent, do="keep", id=session, facts=asleep.facts, exit=None)

    def hang_up(self) -> bool:
        """Be gone, as the keeper; return whether the dozer has noticed."""
        self.keeper.close()
        return self._running.is_over()

    def close(self) -> None:
        assert self.hang_up()
        self._link.close()
        left(self.trust)
        packets.close([*self.two.fds, self.one.slave, self.two.slave])


@pytest.fixture
def dozing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Dozing]:
    for name in ("RUNTIME", "CONFIG", "STATE"):
        monkeypatch.setenv(f"HOLDFAST_{name}_DIR", str(tmp_path / name.lower()))
    made = Dozing()
    yield made
    made.close()


def test_a_dozer_says_that_it_is_there_and_nothing_else(dozing: Dozing) -> None:
    dozing.say(do="pong")

    assert dozing.is_quiet()
    assert dozing.is_quiet()


def test_a_session_in_which_something_happens_is_told_once(dozing: Dozing) -> None:
    dozing.one.stir()

    assert dozing.said() == {"do": "woke", "id": ONE}
    dozing.one.stir()
    assert dozing.is_quiet()


def test_what_falls_asleep_later_is_watched_too(dozing: Dozing) -> None:
    dozing.keep(TWO, dozing.two, fds=True)
    assert dozing.is_quiet()

    dozing.two.stir()

    assert dozing.said() == {"do": "woke", "id": TWO}


def test_what_is_dropped_is_watched_no_more(dozing: Dozing) -> None:
    master = os.dup(dozing.one.fds[0])  # As the keeper has it, and the trustee.
    dozing.say(do="drop", id=ONE)
    assert dozing.is_quiet()
    assert not dozing.trust.copies

    dozing.one.stir()

    assert dozing.is_quiet()
    os.close(master)


def test_what_has_changed_is_watched_anew(dozing: Dozing) -> None:
    dozing.one.facts["name"] = "other"
    dozing.keep(ONE, dozing.one)
    assert dozing.is_quiet()
    assert dozing.trust.copies[ONE].facts["name"] == "other"

    dozing.one.stir()

    assert dozing.said() == {"do": "woke", "id": ONE}


def test_a_keeper_that_wakes_nobody_is_not_waited_for(
    dozing: Dozing, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dozer_module, "SILENCE", 0.05)
    dozing.one.stir()
    assert dozing.said() == {"do": "woke", "id": ONE}

    # Its holder is forked by a nursery of the dozer's own, and has all of it.
    eventually("it is woken", lambda: ONE not in dozing.trust.copies)
    assert dozing.is_quiet()


def test_what_the_keeper_wakes_the_dozer_does_not(
    dozing: Dozing, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dozer_module, "SILENCE", 10.0**6)
    dozing.one.stir()
    dozing.said()
    assert dozing.is_quiet()  # It has done all that follows from what it said.
    assert ONE in dozing.dozer._wakes  # noqa: SLF001  # nobody else can see it

    dozing.say(do="drop", id=ONE)

    assert dozing.is_quiet()
    assert ONE not in dozing.dozer._wakes  # noqa: SLF001


@pytest.mark.parametrize("is_told", [True, False])
def test_a_dozer_rests_only_if_it_is_told_to(dozing: Dozing, *, is_told: bool) -> None:
    if is_told:
        dozing.say(do="rest")
    assert dozing.is_quiet()

    assert dozing.hang_up()

    assert dozing.dozer.is_resting == is_told


def test_a_dozer_whose_keeper_is_gone_gives_the_next_one_everything(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOLDFAST_RUNTIME_DIR", str(tmp_path))
    one, heir = Asleep("one"), Keeper()
    near, far = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    pid = os.fork()
    if pid == 0:
        near.close()
        become(far, Trust({ONE: one.entrusted()}))
        os._exit(0 if signal.getsignal(signal.SIGCHLD) is signal.SIG_IGN else 1)
    far.close()
    near.close()

    (given,) = heir.given(1)

    assert (given["do"], given["id"], given["fds"]) == ("inherit", ONE, 4)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
    heir.close()
    packets.close([*one.fds, one.slave])
