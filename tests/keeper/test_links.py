import json
import selectors
import socket
from collections.abc import Iterator

import pytest

from holdfast.keeper.links import MAX_WAITING, Links
from holdfast.linux import packets


class Ears:
    """What was heard, and who is gone."""

    def __init__(self) -> None:
        self.selector = selectors.DefaultSelector()
        self.heard: list[packets.Packet] = []
        self.gone: list[socket.socket] = []
        self.links = Links(self.selector, self.hear, self.gone.append)

    def hear(self, _: socket.socket, packet: packets.Packet, __: list[int]) -> None:
        self.heard.append(packet)

    def turn(self) -> None:
        for key, events in self.selector.select(0):
            key.data(key.fileobj, events)


@pytest.fixture
def ears() -> Iterator[Ears]:
    made = Ears()
    yield made
    for link in made.links:
        made.links.close(link)
    made.selector.close()


def linked(ears: Ears) -> tuple[socket.socket, socket.socket]:
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    ears.links.add(ours)
    theirs.settimeout(5)
    return ours, theirs


def test_what_is_said_is_heard_and_answered(ears: Ears) -> None:
    ours, theirs = linked(ears)
    packets.send(theirs, {"do": "x"})
    ears.turn()
    ears.links.send(ours, {"ok": True})

    assert ears.heard == [{"do": "x"}]
    assert packets.receive(theirs) == ({"ok": True}, [])
    theirs.close()


def test_a_slow_reader_gets_everything_in_order_and_later(ears: Ears) -> None:
    ours, theirs = linked(ears)
    sent = [{"number": number, "text": "x" * 10_000} for number in range(200)]
    for packet in sent:
        ears.links.send(ours, dict(packet))
    assert not ears.links.is_silent

    got: list[object] = []
    while len(got) < len(sent):
        got.append(json.loads(theirs.recv(1 << 20)))
        ears.turn()

    assert got == sent
    assert ears.links.is_silent
    theirs.close()


def test_a_reader_that_takes_nothing_is_hung_up_on_at_the_bound(ears: Ears) -> None:
    ours, theirs = linked(ears)
    for _ in range(2 * MAX_WAITING // 50_000):
        ears.links.send(ours, {"text": "x" * 50_000})

    assert ears.gone == [ours]
    assert ours not in ears.links
    theirs.close()


@pytest.mark.parametrize("rubbish", [b"[]", b"\xff", b"{"])
def test_whoever_speaks_nonsense_is_hung_up_on(ears: Ears, rubbish: bytes) -> None:
    ours, theirs = linked(ears)
    theirs.send(rubbish)
    ears.turn()

    assert ears.gone == [ours]
    theirs.close()


def test_nobody_is_spoken_to_after_the_end(ears: Ears) -> None:
    ours, theirs = linked(ears)
    theirs.close()
    ears.links.send(ours, {"ok": True})
    ears.turn()
    ears.links.send(ours, {"ok": True})
    ears.links.close(ours)

    assert ears.gone == [ours]
