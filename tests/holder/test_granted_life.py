"""The next life of a movable session is its relay's to grant."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

import pytest
from tests.linux.stored.test_recovery_files import FACTS

from holdfast.holder.granted_life import granted_life
from holdfast.holder.recovered_session import NextLife
from holdfast.linux import packets
from holdfast.linux.stored import places
from holdfast.model.errors import LeaseHeld, LeaseLost, LeaseNeeded
from holdfast.model.ids import HostId, Incarnation
from holdfast.model.session_requests import Creation
from holdfast.wire.host_requests import refusal

pytestmark = pytest.mark.usefixtures("own_folders")

FIXED = NextLife(replace(FACTS, incarnation=Incarnation(1)), None, Incarnation(2))
MOVABLE = FIXED._replace(facts=replace(FIXED.facts, authority="https://relay"))


@contextmanager
def host(answer: packets.Packet) -> Iterator[list[packets.Packet]]:
    """Be the host of this machine, for one question."""
    heard: list[packets.Packet] = []
    listener = packets.listen(places.host_socket())

    def serve() -> None:
        link, _ = listener.accept()
        with link:
            got = packets.receive(link)
            assert got is not None
            heard.append(got[0])
            packets.send(link, answer)

    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    yield heard
    thread.join(10)
    listener.close()


def test_what_is_not_movable_asks_nobody() -> None:
    assert granted_life(FIXED, Creation()) == (FIXED, Creation())


def test_what_is_movable_begins_as_what_was_granted() -> None:
    with host({"ok": True, "incarnation": 5, "expires_ms": 7000}) as heard:
        life, asked = granted_life(MOVABLE, Creation())

    assert life.incarnation == asked.incarnation == 5
    assert asked.expires_ms == 7000
    assert not life.is_moved
    [question] = heard
    assert (question["do"], question["seen"], question["dead"]) == ("claim", 1, 1)
    assert question["relay"] == "https://relay"


def test_what_another_host_has_does_not_begin() -> None:
    with (
        host(refusal(LeaseHeld(HostId("h_other"), Incarnation(2), 900))),
        pytest.raises(LeaseHeld, match="h_other"),
    ):
        granted_life(MOVABLE, Creation())


def test_without_a_host_nobody_could_grant_it() -> None:
    with pytest.raises(LeaseNeeded, match="no host runs here"):
        granted_life(MOVABLE, Creation())


def test_what_was_granted_already_is_not_asked_for_again() -> None:
    asked = Creation(incarnation=3, origin="h_other")

    life, same = granted_life(MOVABLE, asked)

    assert (life.incarnation, life.is_moved) == (3, True)
    assert same == asked


def test_a_grant_of_the_past_is_worth_nothing() -> None:
    with pytest.raises(LeaseLost):
        granted_life(MOVABLE, Creation(incarnation=1))
