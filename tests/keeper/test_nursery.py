"""One nursery, as the keeper sees it: asked, heard, and ended."""

import selectors
import socket
from collections.abc import Iterator

import pytest
from tests.keeper.keeper_world import idle_process

from holdfast.keeper.code import present
from holdfast.keeper.nursery import Nursery
from holdfast.linux import packets


class Forked:
    """A nursery whose process does nothing, and what was heard of it."""

    def __init__(self) -> None:
        self.selector = selectors.DefaultSelector()
        self.heard: list[packets.Packet] = []
        self.ended: list[Nursery] = []
        self.nursery = Nursery(present(), self.selector, self._hear, self.ended.append)
        near, self.far = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.far.settimeout(10)
        self.process = idle_process()
        self._near = near

    def _hear(self, _: Nursery, packet: packets.Packet, __: list[int]) -> None:
        self.heard.append(packet)

    def begin(self) -> None:
        self.nursery.take_up(self._near, self.process.pid)

    def turn(self) -> None:
        for key, events in self.selector.select(10):
            key.data(key.fileobj, events)

    def close(self) -> None:
        self.nursery.end()
        for link in (self._near, self.far):
            link.close()
        self.process.kill()
        self.process.wait()
        self.selector.close()


@pytest.fixture
def forked() -> Iterator[Forked]:
    made = Forked()
    yield made
    made.close()


def test_what_is_asked_is_heard_there_and_what_it_says_here(forked: Forked) -> None:
    forked.begin()

    assert forked.nursery.ask({"do": "adopt"}, [])
    assert packets.receive(forked.far) == ({"do": "adopt"}, [])
    packets.send(forked.far, {"do": "ready"})
    forked.turn()
    assert forked.heard == [{"do": "ready"}]
    assert forked.ended == []


def test_one_that_is_not_there_or_no_longer_cannot_be_asked(forked: Forked) -> None:
    assert not forked.nursery.ask({"do": "adopt"}, [])
    forked.begin()
    forked.far.close()

    assert not forked.nursery.ask({"do": "adopt"}, [])
    forked.turn()
    assert forked.ended == [forked.nursery]
    assert forked.nursery.link is None


def test_only_one_that_knows_the_word_is_asked_whether_it_is_there(
    forked: Forked,
) -> None:
    forked.begin()
    forked.nursery.ping()
    forked.nursery.pings = True
    forked.nursery.ping()
    forked.nursery.ask({"do": "last"}, [])

    assert packets.receive(forked.far) == ({"do": "ping", "pongs": True}, [])
    assert packets.receive(forked.far) == ({"do": "last"}, [])


def test_one_that_is_ended_is_gone_and_nobody_is_told(forked: Forked) -> None:
    forked.begin()
    forked.nursery.end()
    forked.nursery.end()

    assert forked.process.wait(10) == -15
    assert forked.ended == []
    assert not forked.selector.get_map()
