import os
import socket

import pytest

from holdfast.keeper import checks
from holdfast.linux import packets
from holdfast.model.errors import (
    MalformedMessage,
    MalformedName,
    RequestTooLarge,
)
from holdfast.model.keeper_messages import Changed
from holdfast.model.session_requests import Keep, Rename

ID = "s_aaaaaaaaaaaaaaaa"
FACTS: dict[str, object] = {
    "name": "web",
    "pid": 1,
    "holder": 2,
    "state": "running",
    "command": ["sh"],
    "size": [80, 24],
}


def test_a_change_to_a_state_that_there_is_not_is_refused() -> None:
    with pytest.raises(MalformedMessage):
        checks.changes(Changed(ID, state="asleep"))


def test_a_change_to_a_name_that_cannot_be_is_refused() -> None:
    for asked in (Rename(ID, "../x"), Rename(ID), Changed(ID, name="../x")):
        with pytest.raises(MalformedName):
            checks.changes(asked)


def test_of_a_change_there_is_what_was_said() -> None:
    assert checks.changes(Keep(ID, keep=False)) == {"keep": False}
    assert checks.changes(Rename(ID, "web")) == {"name": "web"}
    assert checks.changes(Changed(ID, state="frozen", exit=3)) == {"state": "frozen"}


@pytest.mark.parametrize(
    "packet",
    [
        {"command": []},
    ],
)
def test_a_creation_without_words_is_refused(packet: dict[str, object]) -> None:
    with pytest.raises(MalformedMessage):
        checks.creation(packet)


def test_a_creation_that_grows_too_large_on_its_way_is_refused() -> None:
    checks.creation({"command": ["x" * 60_000]})

    with pytest.raises(RequestTooLarge):
        checks.creation({"command": ["x" * packets.MAX_PACKET]})
    with pytest.raises(RequestTooLarge):
        checks.creation({"command": ["\u00e9" * 20_000]})  # Six letters each.


@pytest.mark.parametrize("name", FACTS)
def test_a_deposit_without_one_of_its_facts_is_refused(name: str) -> None:
    facts = {key: value for key, value in FACTS.items() if key != name}

    with pytest.raises(MalformedMessage):
        checks.deposit(facts, [])


def test_a_deposit_is_a_terminal_a_memory_a_socket_and_one_more() -> None:
    master, slave = os.openpty()
    memory = os.memfd_create("test")
    with socket.socket(socket.AF_UNIX) as listener:
        right = [master, memory, listener.fileno(), os.pidfd_open(os.getpid())]

        assert checks.deposit(FACTS, right) == FACTS
        for wrong in ([], right[:3], right[::-1], [*right, slave]):
            with pytest.raises(MalformedMessage):
                checks.deposit(FACTS, wrong)

    for fd in (master, slave, memory, right[3]):
        os.close(fd)


def test_a_deposit_is_of_the_same_session_by_its_memory_and_its_socket() -> None:
    memories = [os.memfd_create("test") for _ in range(2)]
    with socket.socket(socket.AF_UNIX) as one, socket.socket(socket.AF_UNIX) as other:
        kept = [memories[0], memories[0], one.fileno()]
        again = [memories[1], os.dup(memories[0]), os.dup(one.fileno())]

        assert checks.is_same(kept, again)
        assert not checks.is_same(kept, [memories[0], memories[1], one.fileno()])
        assert not checks.is_same(kept, [memories[0], memories[0], other.fileno()])

    for fd in (*memories, *again[1:]):
        os.close(fd)


def test_every_page_of_a_list_fits_a_packet_and_none_is_lost() -> None:
    found: list[checks.Facts] = [
        {"id": number, "command": ["x" * size]}
        for number, size in enumerate([10, 60_000, 10, 30_000, 30_000] * 4)
    ]

    pages = checks.pages(found)

    assert [facts for page in pages for facts in page] == found
    assert all(len(str(page)) < packets.MAX_PACKET for page in pages)
    assert checks.pages([]) == [[]]


@pytest.mark.parametrize(
    ("said", "meant"),
    [("3", 3), ("0", 0), ("", checks.MAX_SESSIONS), ("many", checks.MAX_SESSIONS)],
)
def test_how_many_sessions_are_kept_can_be_said(said: str, meant: int) -> None:
    assert checks.most_sessions({checks.LIMIT: said}) == meant
    assert checks.most_sessions({}) == checks.MAX_SESSIONS


def test_what_a_holder_leaves_is_a_memory_and_perhaps_a_pipe() -> None:
    memory = os.memfd_create("left")
    pipe, other = os.pipe()
    try:
        assert checks.left([memory]) == [memory]
        assert checks.left([memory, pipe]) == [memory, pipe]
        for wrong in (
            [],
            [pipe],
            [pipe, memory],
            [memory, memory],
            [memory, pipe, pipe],
        ):
            with pytest.raises(MalformedMessage):
                checks.left(wrong)
    finally:
        for fd in (memory, pipe, other):
            os.close(fd)
