"""A list of what sessions do now: asked of holders, and of nobody who sleeps."""

import contextlib
import os
import signal
import socket
import time
from collections.abc import Iterator

import pytest
from tests.scenarios.dozing import dozes, dozing_machine, fall_asleep
from tests.scenarios.support import Machine, eventually, machine

from holdfast.keeper.glances import PATIENCE
from holdfast.linux import packets
from holdfast.linux.stored import places
from holdfast.model.ids import SessionId

READS = ("sh", "-c", "echo hi; read x")


@pytest.fixture
def here() -> Iterator[Machine]:
    with machine() as made:
        yield made


def glimpsed(here: Machine) -> dict[object, packets.Packet]:
    sessions = here.ask(do="list", look=True)["sessions"]
    assert isinstance(sessions, list)
    return {one["id"]: one for one in sessions}


def _only(link: socket.socket) -> packets.Packet:
    """Return what a list says of the only session."""
    heard = packets.receive(link)
    assert heard is not None
    sessions = heard[0]["sessions"]
    assert isinstance(sessions, list)
    (told,) = sessions
    assert isinstance(told, dict)
    return told


def doing(here: Machine, session: SessionId) -> object:
    return glimpsed(here)[session]["doing"]


def test_a_list_has_what_each_does_who_has_the_turn_and_who_is_here(
    here: Machine,
) -> None:
    session = here.new("cat")
    before_ms = time.time_ns() // 1_000_000
    client = here.join(session, "bert")
    client.enter(b"x")

    def reads() -> packets.Packet | None:
        told = glimpsed(here)[session]
        return told if told["turn_of"] and told["attached"] else None

    told = eventually("bert has the turn", reads)
    assert told["turn_of"] == "bert"
    assert told["attached"] == ["bert"]
    assert abs(int(str(told["output_ms"])) - before_ms) < 60_000


def test_what_a_session_does_is_the_word_of_state(here: Machine) -> None:
    reads, sleeps = here.new(*READS), here.new("sleep", "600")

    eventually("it reads", lambda: doing(here, reads) == "waiting-for-input")
    eventually("it runs", lambda: doing(here, sleeps) == "running")


def test_who_does_not_want_to_look_makes_nobody_look(here: Machine) -> None:
    session = here.new(*READS)
    eventually("it reads", lambda: doing(here, session) == "waiting-for-input")

    facts = here.facts(session)
    assert facts is not None
    assert (facts["doing"], facts["attached"], facts["output_ms"]) == ("", [], 0)


def test_a_holder_that_hangs_delays_a_list_for_a_moment_only(here: Machine) -> None:
    hangs, lives = here.new(*READS), here.new(*READS)
    eventually("it reads", lambda: doing(here, lives) == "waiting-for-input")
    holder = here.pid("holder", hangs)
    os.kill(holder, signal.SIGSTOP)
    try:
        told = glimpsed(here)
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.kill(holder, signal.SIGCONT)

    assert told[hangs]["doing"] == ""
    assert told[lives]["doing"] == "waiting-for-input"
    assert PATIENCE < 1


def test_two_who_ask_at_once_are_both_answered(here: Machine) -> None:
    session = here.new(*READS)
    eventually("it reads", lambda: doing(here, session) == "waiting-for-input")
    links = [packets.connect(places.keeper_socket(), 20) for _ in range(3)]
    for link in links:
        packets.send(link, {"do": "list", "look": True})
    links.pop().close()  # One does not wait for it.

    for link in links:
        assert _only(link)["doing"] == "waiting-for-input"
        link.close()


def test_nobody_but_its_holder_says_what_a_session_does(here: Machine) -> None:
    session = here.new("sleep", "600")
    eventually("it runs", lambda: doing(here, session) == "running")
    with packets.connect(places.keeper_socket(), 20) as link:
        packets.send(link, {"do": "seen", "id": session, "doing": "forged"})
        packets.send(link, {"do": "list", "look": True})
        assert _only(link)["doing"] == "running"


def test_what_dozes_is_told_of_and_not_woken() -> None:
    with dozing_machine() as here:
        session = here.new(*READS)
        fall_asleep(here, session)

        told = glimpsed(here)[session]

        assert (told["doing"], told["dozing"]) == ("waiting-for-input", True)
        assert int(str(told["output_ms"])) > 0
        assert dozes(here, session)
        assert told["holder"] == (here.facts(session) or {})["holder"]
