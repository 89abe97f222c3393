"""What a trustee hears of its keeper, and how it finds the next one."""

import os
import signal
import socket
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.keeper.dozing_world import PATIENCE, Asleep, Keeper
from tests.keeper.keeper_world import ONE, TWO
from tests.scenarios.leftovers import end_everything
from tests.scenarios.support import eventually

from holdfast.keeper import trustee
from holdfast.keeper.trustee import HeirSearch, Trust, become
from holdfast.linux import packets, process_start
from holdfast.linux.processes import die_with_parent
from holdfast.linux.stored import places


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    found = tmp_path / "runtime"
    found.mkdir(mode=0o700)
    monkeypatch.setenv("HOLDFAST_RUNTIME_DIR", str(found))
    for name in ("CONFIG", "STATE"):
        monkeypatch.setenv(f"HOLDFAST_{name}_DIR", str(tmp_path / name.lower()))
    yield found
    end_everything(str(found))


@pytest.fixture
def claim() -> Iterator[int]:
    found = process_start.claim_start()
    assert found is not None
    yield found
    os.close(found)


def answers() -> bool:
    """Tell whether there is a keeper."""
    packets.connect(places.keeper_socket(), PATIENCE).close()
    return True


def nobody(_link: socket.socket) -> None:
    raise AssertionError("there is no keeper to give anything to")


def test_a_keeper_that_is_there_is_given_everything_and_none_is_started(
    folder: Path,
) -> None:
    heir, given = Keeper(), []
    search = HeirSearch(lambda link: given.append(link.getpeername()))

    search.attempt()
    search.attempt()

    assert given == 2 * [str(places.keeper_socket())]
    assert not (folder / "claim.lock").exists()
    heir.close()


def test_where_there_is_no_keeper_one_is_started() -> None:
    search = HeirSearch(nobody)

    search.attempt()

    assert process_start.claim_start() is None  # It is ours to start one.
    eventually("a keeper", answers)


def test_a_keeper_that_does_not_take_it_is_tried_again(folder: Path) -> None:
    heir, tries = Keeper(), []

    def give(link: socket.socket) -> None:
        tries.append(link)
        raise ConnectionResetError

    search = HeirSearch(give)

    search.attempt()
    search.attempt()

    assert len(tries) == 2
    assert (folder / "claim.lock").exists()
    heir.close()


class Starts:
    """Keepers that end at once, and how many there were."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        python, self._told = folder / "python", folder / "told"
        python.write_text(f'#!/bin/sh\necho "$*" >> {self._told}\n')
        python.chmod(0o700)
        monkeypatch.setattr(sys, "executable", str(python))

    def reach(self, count: int) -> bool:
        """Wait until so many were started; return whether there are no more."""
        eventually("so many starts", lambda: self._count() >= count)
        return self._count() == count

    def _count(self) -> int:
        said = self._told.read_text() if self._told.exists() else ""
        return said.count("-m holdfast.keeper\n")


def test_a_start_that_somebody_else_has_claimed_is_left_to_them_for_a_while(
    claim: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    del claim
    starts, search = Starts(tmp_path, monkeypatch), HeirSearch(nobody)

    for _ in range(trustee.CLAIM_PATIENCE + trustee.START_EVERY):
        search.attempt()
    assert starts.reach(0)
    search.attempt()

    assert starts.reach(1)


def test_a_keeper_is_not_started_at_each_attempt(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    starts, search = Starts(tmp_path, monkeypatch), HeirSearch(nobody)

    for _ in range(2 * trustee.START_EVERY + 1):
        search.attempt()

    assert starts.reach(3)


def test_a_trustee_keeps_what_it_is_told_until_the_next_keeper_has_it() -> None:
    one, two, heir = Asleep("one"), Asleep("two"), Keeper()
    near, far = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    near.settimeout(PATIENCE)
    pid = os.fork()
    if pid == 0:
        near.close()
        become(far, Trust({ONE: one.entrusted()}))
        is_usual = signal.getsignal(signal.SIGCHLD) is signal.SIG_DFL
        os._exit(0 if is_usual else 1)
    far.close()
    packet = {"do": "keep", "id": TWO, "facts": two.facts, "exit": 7}

    packets.send(near, {"do": "pong"})
    packets.send(near, {**packet}, two.fds)
    packets.send(near, {"do": "ping"})
    heard = packets.receive(near)
    near.close()
    given = heir.given(2)

    assert heard == ({"do": "pong"}, [])
    assert [(one["id"], one["exit"], one["fds"]) for one in given] == [
        (ONE, None, 4),
        (TWO, 7, 4),
    ]
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
    heir.close()
    packets.close([*one.fds, *two.fds, one.slave, two.slave])


def test_a_trustee_kills_a_keeper_that_hangs_and_waits_for_the_next(
    folder: Path,
) -> None:
    one = Asleep("one")
    near, far = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    ready, is_ready = os.pipe()
    us = os.getpid()
    keeper = os.fork()
    if keeper == 0:
        die_with_parent(us)
        if os.fork() == 0:
            near.close()
            become(far, Trust({ONE: one.entrusted()}))
            os._exit(0)
        far.close()
        os.write(is_ready, b"!")
        signal.pause()
        os._exit(1)
    for end in (near, far):
        end.close()
    heir = Keeper()
    os.read(ready, 1)

    os.kill(keeper, signal.SIGSTOP)

    assert os.waitpid(keeper, 0)[1] == signal.SIGKILL
    (given,) = heir.given(1)
    assert (given["id"], given["fds"]) == (ONE, 4)
    assert (folder / "keeper.replaced").exists()
    heir.close()
    packets.close([*one.fds, one.slave, ready, is_ready])
