import os
import socket
import threading
from collections.abc import Iterator

import pytest

from holdfast.keeper.trustee import Trust
from holdfast.linux import packets

Pair = tuple[socket.socket, socket.socket]


@pytest.fixture
def pair() -> Iterator[Pair]:
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    yield ours, theirs
    ours.close()
    theirs.close()


def opened() -> int:
    return os.open(os.devnull, os.O_RDONLY)


def is_open(fd: int) -> bool:
    try:
        os.fstat(fd)
    except OSError:
        return False
    return True


def told(trust: Trust, name: str, *fds: int, status: int | None = None) -> None:
    facts = {"name": name}
    trust.take({"do": "keep", "id": "s_1", "facts": facts, "exit": status}, list(fds))


def test_what_changes_keeps_its_descriptors() -> None:
    trust, fd = Trust(), opened()
    told(trust, "one", fd)

    told(trust, "two", status=7)

    copy = trust.copies["s_1"]
    assert (copy.facts, copy.fds, copy.exit) == ({"name": "two"}, [fd], 7)
    assert is_open(fd)
    trust.drop("s_1")


def test_descriptors_that_come_anew_replace_the_others() -> None:
    trust, first, second = Trust(), opened(), opened()
    told(trust, "one", first)

    told(trust, "one", second)

    assert not is_open(first)
    assert trust.copies["s_1"].fds == [second]
    trust.drop("s_1")


def test_what_is_dropped_is_closed() -> None:
    trust, fd = Trust(), opened()
    told(trust, "one", fd)

    trust.take({"do": "drop", "id": "s_1"}, [])
    trust.take({"do": "drop", "id": "s_2"}, [])

    assert not is_open(fd)
    assert not trust.copies


def test_everything_is_handed_over_and_let_go_of(pair: Pair) -> None:
    trust, fd = Trust(), opened()
    told(trust, "one", fd, status=3)
    heard: list[object] = []

    def keeper() -> None:
        received = packets.receive(pair[1])
        assert received is not None
        packet, fds = received
        heard.extend((packet, len(fds)))
        os.close(fds[0])
        packets.send(pair[1], {"ok": True})

    answering = threading.Thread(target=keeper)
    answering.start()
    trust.hand_over(pair[0])
    answering.join()

    facts = {"name": "one"}
    assert heard == [{"do": "inherit", "id": "s_1", "facts": facts, "exit": 3}, 1]
    assert not trust.copies
    assert not is_open(fd)


def test_what_a_keeper_did_not_answer_is_kept_for_the_next(pair: Pair) -> None:
    trust, fd = Trust(), opened()
    told(trust, "one", fd)
    pair[1].close()

    with pytest.raises(OSError, match=r"pipe|gone"):
        trust.hand_over(pair[0])

    assert trust.copies["s_1"].fds == [fd]
    trust.drop("s_1")
