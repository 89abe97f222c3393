"""The host's process: what it tells its keeper, what it answers, and how it ends."""

import os
import signal
import socket
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tests.scenarios.support import eventually

from holdfast.host import loop
from holdfast.host.loop import MAX_LINKS
from holdfast.linux import packets, process_start
from holdfast.linux.stored import places, relays
from holdfast.version import __version__

NOWHERE = "http://127.0.0.1:1"
PATIENCE = 10.0


class Hosted:
    """A host in a process of its own, and the keeper that it finds."""

    def __init__(self) -> None:
        self._keeper = packets.listen(places.keeper_socket())
        self._keeper.settimeout(PATIENCE)
        self._links: list[socket.socket] = []
        self.pid = 0

    def begin(self) -> None:
        """Start the host."""
        self.pid = os.fork()
        if self.pid == 0:
            quiet = os.open(os.devnull, os.O_RDWR)
            for fd in (0, 1, 2):
                os.dup2(quiet, fd)
            os._exit(0 if loop.serve() else 7)

    def found(self) -> socket.socket:
        """Return the keeper's end of the next link on which the host says something."""
        while True:
            link, _ = self._keeper.accept()
            link.settimeout(PATIENCE)
            self._links.append(link)
            if packets.process_of(link) == self.pid and link.recv(1, socket.MSG_PEEK):
                return link

    def link(self) -> socket.socket:
        """Return a link to the host."""
        made = eventually(
            "a host", lambda: packets.connect(places.host_socket(), PATIENCE)
        )
        self._links.append(made)
        return made

    def ask(self, **packet: object) -> packets.Packet:
        """Ask the host something."""
        return asked(self.link(), **packet)

    def status(self) -> int:
        """Return what the host ended with."""
        _, status = os.waitpid(self.pid, 0)
        self.pid = 0
        return os.waitstatus_to_exitcode(status)

    def close(self) -> None:
        """Leave nothing."""
        if self.pid:
            os.kill(self.pid, signal.SIGKILL)
            os.waitpid(self.pid, 0)
        for link in (self._keeper, *self._links):
            link.close()


def asked(link: socket.socket, **packet: object) -> packets.Packet:
    packets.send(link, packet)
    heard = packets.receive(link)
    assert heard is not None
    return heard[0]


def said(link: socket.socket) -> packets.Packet | None:
    heard = packets.receive(link)
    return None if heard is None else heard[0]


@pytest.fixture
def hosted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Hosted]:
    for name in ("RUNTIME", "CONFIG", "STATE"):
        monkeypatch.setenv(f"HOLDFAST_{name}_DIR", str(tmp_path / name.lower()))
    monkeypatch.delenv(process_start.HOST_IS_KEPT, raising=False)
    relays.add(NOWHERE)  # Else it would start a relay of its own.
    made = Hosted()
    yield made
    made.close()


def test_a_host_says_how_it_runs_and_that_it_leaves(hosted: Hosted) -> None:
    hosted.begin()
    keeper = hosted.found()

    assert said(keeper) == {"do": "host", "runs": "supervised"}
    status = hosted.ask(do="status")
    assert (status["ok"], status["pid"]) == (True, hosted.pid)
    assert (status["version"], status["keeper"]) == (__version__, True)
    assert status["cleared"] == 0
    assert 0 <= float(str(status["uptime"])) < 60
    assert hosted.ask(do="end") == {"ok": True}
    assert said(keeper) == {"do": "host", "runs": "leaving"}
    assert hosted.status() == 0
    assert not places.host_socket().exists()


def test_a_host_that_belongs_to_nobody_says_so(
    hosted: Hosted, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(process_start.HOST_IS_KEPT, "1")
    hosted.begin()

    assert said(hosted.found()) == {"do": "host", "runs": "kept"}


def test_a_keeper_that_is_lost_is_found_again(hosted: Hosted) -> None:
    hosted.begin()
    first = hosted.found()
    first.close()
    eventually("it is missed", lambda: not hosted.ask(do="status")["keeper"])

    assert said(hosted.found()) == {"do": "host", "runs": "supervised"}
    eventually("it is found", lambda: hosted.ask(do="status")["keeper"])


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_a_signal_ends_a_host_as_a_request_does(
    hosted: Hosted, number: signal.Signals
) -> None:
    hosted.begin()
    keeper = hosted.found()
    said(keeper)
    os.kill(hosted.pid, number)

    assert said(keeper) == {"do": "host", "runs": "leaving"}
    assert said(keeper) is None
    assert hosted.status() == 0


def test_there_is_one_host_at_a_time(hosted: Hosted) -> None:
    hosted.begin()
    hosted.found()
    first, hosted.pid = hosted.pid, 0
    hosted.begin()

    assert hosted.status() == 7
    hosted.pid = first
    assert hosted.ask(do="status")["pid"] == first


@pytest.mark.parametrize("do", ["list", "dance", None])
def test_what_a_host_is_not_asked_here_is_refused(
    hosted: Hosted, do: str | None
) -> None:
    hosted.begin()
    link = hosted.link()
    refusal = asked(link, do=do)

    assert (refusal["ok"], refusal["code"]) == (False, "unexpected-message")
    assert asked(link, do="look") == {"ok": True}


def test_so_many_may_ask_at_a_time_and_whoever_leaves_makes_room(
    hosted: Hosted,
) -> None:
    hosted.begin()
    links = [hosted.link() for _ in range(MAX_LINKS)]
    for link in links:
        assert asked(link, do="look")["ok"]
    assert said(hosted.link()) is None
    links[0].close()

    def may_ask() -> bool:
        return hosted.ask(do="look") == {"ok": True}

    eventually("there is room again", _patient(may_ask))


def _patient(found: Callable[[], bool]) -> Callable[[], bool]:
    def again() -> bool:
        try:
            return found()
        except AssertionError:  # It was hung up on.
            return False

    return again


@pytest.mark.parametrize("is_kept", [True, False])
def test_other_code_takes_a_host_s_place(
    hosted: Hosted,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    *,
    is_kept: bool,
) -> None:
    if is_kept:
        monkeypatch.setenv(process_start.HOST_IS_KEPT, "1")
    told = tmp_path / "told"
    python = tmp_path / "python"
    python.write_text(
        f'#!/bin/sh\necho "$PYTHONPATH ${process_start.HOST_IS_KEPT} $*" > {told}\n'
        "exit 5\n"
    )
    python.chmod(0o700)
    hosted.begin()
    hosted.found()

    assert hosted.ask(do="replace", python=str(python), root="/new")["ok"]
    assert hosted.status() == 5
    kept = "1" if is_kept else ""
    assert told.read_text() == f"/new {kept} -P -m holdfast up\n"


def test_code_that_is_not_there_ends_the_host_without_another(hosted: Hosted) -> None:
    hosted.begin()
    hosted.found()

    assert hosted.ask(do="replace", python="/nowhere", root=sys.prefix)["ok"]
    assert hosted.status() == 0


def test_a_host_keeps_no_descriptor_that_came_with_a_question(hosted: Hosted) -> None:
    hosted.begin()
    link = hosted.link()
    asked(link, do="look")
    near, far = os.pipe()

    packets.send(link, {"do": "look"}, [far])
    assert said(link) == {"ok": True}
    os.close(far)

    os.set_blocking(near, False)
    assert os.read(near, 1) == b""  # Nobody has the other end.
    os.close(near)


def test_a_host_that_ends_makes_room_for_the_next(
    hosted: Hosted,
) -> None:
    hosted.begin()
    hosted.found()
    link = hosted.link()
    asked(link, do="look")
    hosted.ask(do="end")

    assert said(link) is None
    assert hosted.status() == 0
    hosted.begin()
    assert hosted.ask(do="status")["pid"] == hosted.pid
