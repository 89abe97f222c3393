"""The keeper's process: the code that takes the place of older code."""

import contextlib
import os
import signal
import time
from collections.abc import Iterator
from subprocess import Popen  # noqa: TC003  # an annotation people read

import pytest
from tests.keeper.keeper_process import PATIENCE, Kept, kept, said, until
from tests.keeper.keeper_world import ONE, TWO, descriptors, idle_process
from tests.scenarios.support import eventually

from holdfast.keeper import handed_state
from holdfast.linux import packets
from holdfast.linux.processes import is_alive
from holdfast.linux.stored import places
from holdfast.version import __version__

__all__ = ["kept"]

LONG_AGO = 4_000.0


class Left:
    """What older code leaves to a keeper: links, a nursery, and sessions."""

    def __init__(self, kept: Kept) -> None:
        self._kept = kept
        self._open: list[int] = []
        self._nursery = idle_process()
        self.asker, asker = kept.pair()
        self.host, host = kept.pair()
        self.holder, holder = kept.pair()
        self.waiting, waiting = kept.pair()
        self.nursery, nursery = kept.pair()
        self._doors = [
            packets.listen(path())
            for path in (
                *(places.keeper_socket, places.painter_socket, places.judge_socket),
            )
        ]
        listener, painter, judge = (one.fileno() for one in self._doors)
        self.state = handed_state.State(
            version="0.0.1",
            started_at=time.monotonic() - LONG_AGO,
            lock=self._opened(os.open(os.devnull, os.O_RDWR)),
            listener=listener,
            painter=painter,
            painter_pid=0,
            judge=judge,
            judge_pid=0,
            nursery=nursery,
            nursery_pid=self._nursery.pid,
            nursery_version="0.0.2",
            nursery_waits=True,
            nursery_pings=True,
            nursery_dozes=True,
            asker=asker,
            host=host,
            host_runs="supervised",
            links=[(asker, None), (host, None), (holder, ONE), (waiting, None)],
            waiting={TWO: waiting},
        )

    def session(self, name: str, *, held: bool = True, **facts: object) -> None:
        """Leave a session."""
        fds = descriptors(self._open)
        self._open += fds
        said = {"name": name[2:8], "pid": 4_000_000, "state": "running", **facts}
        self.state.sessions.append(handed_state.Kept(name, said, fds, None, held))

    def begin(self, *, check: bool = False) -> "Popen[str]":
        """Start the new code with all of it."""
        memory = self._opened(handed_state.write(self.state))
        fds = (memory, *self.state.fds())
        word = "--check" if check else "--resume"
        return self._kept.start(word, str(memory), fds=fds)

    def _opened(self, fd: int) -> int:
        self._open.append(fd)
        return fd

    def close(self) -> None:
        """Leave nothing."""
        self._nursery.kill()
        self._nursery.wait()
        packets.close(self._open)
        for one in self._doors:
            one.close()


@pytest.fixture
def left(kept: Kept) -> Iterator[Left]:
    made = Left(kept)
    with contextlib.closing(made):
        yield made


def test_new_code_goes_on_with_everything(kept: Kept, left: Left) -> None:
    left.session(ONE)
    program = left.begin()

    told = said(left.asker)
    assert (told["ok"], told["more"]) == (True, False)
    assert (told["was"], told["now"]) == ("0.0.1", __version__)
    assert said(left.holder) == {"do": "prove"}
    assert until(left.nursery, "ping")["do"] == "ping"
    status = kept.ask(do="status")
    assert status["pid"] == program.pid
    assert LONG_AGO <= float(str(status["uptime"])) < LONG_AGO + 300
    assert status["host"] == os.getpid()  # We are at the other end of its link.
    assert status["nursery"] == left.state.nursery_pid
    assert status["nursery_version"] == "0.0.2"
    assert is_alive(int(str(status["trustee"])))
    assert (status["sessions"], status["dozer"]) == (1, 0)
    sessions = kept.ask(do="list")["sessions"]
    assert isinstance(sessions, list)
    (listed,) = sessions
    assert (listed["id"], listed["held"]) == (ONE, True)


def test_new_code_answers_who_waits_for_a_session(kept: Kept, left: Left) -> None:
    left.begin()
    said(left.asker)
    slaves: list[int] = []
    fds, holder = descriptors(slaves), kept.link()
    facts = {"name": "two", "pid": 4_000_000, "holder": 1, "state": "running"}
    facts |= {"command": ["true"], "size": [80, 24]}
    asked = {"do": "deposit", "id": TWO, "facts": facts, "token": TWO, "exit": None}

    packets.send(holder, {**asked}, fds)

    assert said(holder)["ok"]
    told = said(left.waiting)
    assert (told["ok"], told["id"], told["name"]) == (True, TWO, "two")
    packets.close([*fds, *slaves])


def test_new_code_replaces_a_holder_that_does_not_come(kept: Kept, left: Left) -> None:
    left.session(ONE)
    left.session("s_" + "c" * 16, held=False)
    left.begin()

    asked = until(left.nursery, "adopt")

    assert asked["id"] == "s_" + "c" * 16
    assert kept.ask(do="status")["sessions"] == 2


def test_new_code_lets_sleep_what_dozes(kept: Kept, left: Left) -> None:
    left.session(TWO, held=False, dozing=True, left=0)
    left.session("s_" + "c" * 16, held=False)
    left.begin()

    asked = until(left.nursery, "adopt")  # All that is due is asked for in order.

    assert asked["id"] == "s_" + "c" * 16
    status = kept.ask(do="status")
    assert (status["sessions"], status["dozing"]) == (2, 1)
    assert is_alive(int(str(status["dozer"])))


def test_new_code_watches_the_nursery_s_link(kept: Kept, left: Left) -> None:
    left.begin()
    said(left.asker)

    left.nursery.close()

    eventually(
        "another nursery",
        lambda: kept.ask(do="status")["nursery"] not in (0, left.state.nursery_pid),
    )


def test_new_code_replaces_a_nursery_that_hangs(kept: Kept, left: Left) -> None:
    left.session(ONE)
    left.begin()
    said(left.asker)

    os.kill(left.state.nursery_pid, signal.SIGSTOP)

    eventually("it is killed", lambda: not is_alive(left.state.nursery_pid))
    replaced = kept.ask(do="status")["replaced"]
    assert isinstance(replaced, dict)
    assert str(replaced["last"]).startswith("the nursery")


def test_older_code_had_no_judge_and_nobody_asking(kept: Kept, left: Left) -> None:
    left.state.judge, left.state.host, left.state.asker = None, None, None
    places.judge_socket().unlink()
    left.begin()

    assert kept.ask(do="status")["host"] == 0
    assert places.judge_socket().is_socket()


def test_new_code_that_is_only_tried_reads_it_and_ends(kept: Kept, left: Left) -> None:
    good = left.begin(check=True)
    assert good.wait(PATIENCE) == 0

    memory = os.memfd_create("state")
    with os.fdopen(memory, "w") as file:
        file.write('{"format": 2}')
        file.flush()
        bad = kept.start("--check", str(memory), fds=(memory,))

    _, why = bad.communicate(timeout=PATIENCE)
    assert bad.returncode == 1
    assert "of another layout" in why
