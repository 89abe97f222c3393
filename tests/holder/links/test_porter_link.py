"""What a holder and its porter say to each other."""

import os
import socket
from collections.abc import Iterator

import pytest
from tests.holder.keeper_world import Keeper
from tests.holder.links.keeper_link_world import SESSION, World

from holdfast.core.book.logbook import Head
from holdfast.core.session.stream import StreamWindow
from holdfast.holder.links.keeper_link import KeeperLink
from holdfast.holder.links.porter_link import Dumped, Failed, Gone, PorterLink, Sealed
from holdfast.holder.provenance.shell_commands import ShellCommands
from holdfast.holder.session_descriptors import SessionDescriptors
from holdfast.linux import packets
from holdfast.model.errors import CriuFailed, NotCheckpointable
from holdfast.wire.checkpoints import Checkpointed, CheckpointRequest
from holdfast.wire.preflights import MAX_CUTS, MAX_WHAT

ASKED = CheckpointRequest(stop=True, label="one", branch=False, key="k")


@pytest.fixture(name="both")
def both_ends(
    here: World, keeper: Keeper, joined: KeeperLink
) -> Iterator[tuple[PorterLink, socket.socket]]:
    here.descriptors.capsule = (os.open("/", os.O_RDONLY), os.open("/", os.O_RDONLY))
    ours = PorterLink(here.descriptors, joined, ASKED)
    while keeper.heard().get("do") != "port":
        pass
    with ours.link, socket.socket(fileno=keeper.fds.pop()) as theirs:
        yield ours, theirs
    packets.close(here.descriptors.capsule)


def shell_of(descriptors: SessionDescriptors) -> ShellCommands:
    memory = bytearray(1 << 20)
    return ShellCommands(descriptors, StreamWindow.create(memoryview(memory)))


Both = tuple[PorterLink, socket.socket]


def test_a_porter_is_told_what_is_wanted_and_gets_what_it_needs(both: Both) -> None:
    _, porter = both

    heard = packets.receive(porter)

    assert heard is not None
    packet, fds = heard
    assert (packet["id"], packet["stop"], packet["label"]) == (SESSION, True, "one")
    assert len(fds) == 2
    packets.close(fds)


def test_what_it_says_is_understood(both: Both) -> None:
    ours, porter = both
    assert ours.hear() is None
    packets.send(porter, {"say": "dumped", "processes": [[9, 1, 77]]})
    assert ours.hear() == Dumped()
    cuts = [[9, "curl", 5, "192.0.2.1:443"]]
    sealed = {"say": "sealed", "number": 3, "size": 9, "still_ms": 5, "cuts": cuts}
    packets.send(porter, sealed)
    said = ours.hear()
    assert isinstance(said, Sealed)
    assert (said.told.image, said.told.stopped) == (f"{SESSION}.3", True)
    assert said.told.cuts[0].peer == "192.0.2.1:443"
    porter.close()
    assert ours.hear() == Gone()


def test_what_went_wrong_is_the_error_that_it_was(both: Both) -> None:
    ours, porter = both
    error = NotCheckpointable("web", "ssh (7): /dev/tty")
    told: packets.Packet = {"say": "failed", "code": error.code, "text": str(error)}
    packets.send(porter, {**told, "facts": error.facts})

    said = ours.hear()

    assert isinstance(said, Failed)
    assert (type(said.error), said.error.facts) == (NotCheckpointable, error.facts)


def test_what_a_program_is_called_cannot_make_an_answer_too_long(both: Both) -> None:
    ours, porter = both
    cuts = [[9, "c" * 300, 5, "p" * 300]] * 50
    packets.send(porter, {"say": "sealed", "number": 1, "cuts": cuts})

    said = ours.hear()

    assert isinstance(said, Sealed)
    assert isinstance(said.told, Checkpointed)
    assert len(said.told.cuts) == MAX_CUTS
    assert len(said.told.cuts[0].program) <= MAX_WHAT


def test_the_book_s_end_and_two_files_are_told(both: Both, here: World) -> None:
    ours, porter = both
    first = packets.receive(porter)
    assert first is not None
    packets.close(first[1])
    leader = here.descriptors.record.pid
    kin = [[leader, 1, 5], [leader + 1, leader, 9]]
    packets.send(porter, {"say": "dumped", "processes": kin})
    ours.hear()

    ours.tell(
        Head(SESSION, 41, b"h" * 32), b"window", b"start", shell_of(here.descriptors)
    )

    heard = packets.receive(porter)
    assert heard is not None
    packet, fds = heard
    creator = here.descriptors.held.begun_by
    assert packet == {
        "index": 41,
        "hash": (b"h" * 32).hex(),
        "phase": "unmarked",
        "command": 0,
        "hands": [],
        "actors": [creator] if creator else [],
        "starters": [[leader, 0]] if creator else [],
    }
    assert [os.pread(fd, 99, 0) for fd in fds] == [b"window", b"start"]
    packets.close(fds)


def test_nothing_happens_to_us_if_it_is_gone(both: Both, here: World) -> None:
    ours, porter = both
    porter.close()

    ours.tell(
        Head(SESSION, 41, b"h" * 32), b"window", b"start", shell_of(here.descriptors)
    )

    assert ours.hear() == Gone()


def test_without_a_keeper_there_is_no_porter(here: World) -> None:
    with pytest.raises(CriuFailed, match="no keeper"):
        PorterLink(here.descriptors, here.link(), ASKED)
