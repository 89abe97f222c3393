import contextlib
import os
import socket
import time
from collections.abc import Iterable

import pytest
from tests.linux.trees import leader

from holdfast.core.client.questions import joined_graph
from holdfast.core.provenance.lineage import ProcessStart
from holdfast.core.session.session_state import Evidence, Sleeper, Wait
from holdfast.holder.links.connection import Connection
from holdfast.holder.poll import Poll
from holdfast.holder.processes.session_report import (
    MAX_ASKING,
    SessionReport,
    parts,
    told,
)
from holdfast.holder.timers import Timers
from holdfast.linux.graph import Node, Open
from holdfast.linux.procfs import read_stat
from holdfast.linux.sockets import CONNECTED, LISTENING, OTHER, Socket
from holdfast.model.ids import ActorId, SessionId
from holdfast.wire import messages as wire
from holdfast.wire.codec import Message, decode, encode
from holdfast.wire.evidence import Evidence as Told
from holdfast.wire.frames import FrameReader
from holdfast.wire.graphs import Graph, GraphRequest

MANY = """
import os, time
for _ in range(40):
    if os.fork() == 0:
        time.sleep(99)
print(os.getpid(), flush=True)
time.sleep(99)
"""


class Asker:
    """A client, and the holder's end of its link."""

    def __init__(self) -> None:
        ours, self.link = socket.socketpair()
        self.link.settimeout(0)
        self._poll = Poll()
        self.connection = Connection(ours, self._poll, [])
        self._poll.watch(ours, lambda: None)
        self._reader = FrameReader()
        self.heard: list[Message] = []

    def hear(self) -> list[Message]:
        self.connection.flush()
        with contextlib.suppress(BlockingIOError):
            while raw := self.link.recv(1 << 20):
                self.heard += map(decode, self._reader.feed(raw))
        return self.heard

    def graphs(self) -> list[Graph]:
        return [one for one in self.hear() if isinstance(one, Graph)]

    def close(self) -> None:
        self.link.close()
        self.connection.close()


def nobody(_: Iterable[ProcessStart]) -> dict[int, ActorId]:
    return {}


def node(*opened: Open, left_out: int = 0) -> Node:
    stat = read_stat(os.getpid())
    assert stat is not None
    return Node(stat, "it", 1.5, opened, left_out)


def opened(number: int, standing: str = "", name: str = "/x") -> Open:
    found = Socket("tcp", standing, "::", number, "", 0) if standing else None
    return Open(number, "file", name, 0, "read", "none", found)


def gathered(timers: Timers, *askers: Asker) -> None:
    while timers.first == 0.0:
        timers.tick(time.monotonic())
    for asker in askers:
        give_up_at = time.monotonic() + 10
        while not asker.graphs() or asker.graphs()[-1].more:
            assert time.monotonic() < give_up_at
            asker.connection.pump()


def test_a_graph_arrives_whole_in_parts_that_fit_their_frames() -> None:
    wide = "\udcff" * 4000
    nodes = [node(*(opened(number, LISTENING, wide) for number in range(200)))] * 3

    sent = parts(nodes, {}, descriptors=True)

    assert all(len(encode(part)) <= 262_144 + 5 for part in sent)
    assert [part.more for part in sent] == [True] * (len(sent) - 1) + [False]
    whole = joined_graph(sent)
    assert (len(whole.processes), len(whole.listeners)) == (3, 600)
    assert len(whole.descriptors) == 600


def test_sockets_are_sorted_by_what_they_do() -> None:
    found = node(opened(1, LISTENING), opened(2, CONNECTED), opened(3, OTHER))

    (sent,) = parts([found], {}, descriptors=False)

    assert [one.port for one in sent.listeners] == [1]
    assert [one.port for one in sent.connections] == [2]
    assert sent.descriptors == ()


def test_an_empty_graph_is_one_part() -> None:
    (sent,) = parts([], {}, descriptors=True)

    assert not sent.more


@pytest.mark.parametrize(("left_out", "unlisted"), [(-1, None), (0, 0), (5, 5)])
def test_what_could_not_be_listed_is_said(left_out: int, unlisted: int | None) -> None:
    (sent,) = parts([node(left_out=left_out)], {}, descriptors=False)

    assert sent.processes[0].unlisted == unlisted


def test_evidence_travels_with_its_word() -> None:
    sleeper = Sleeper(7, "a\udcff" * 90, "sleeping", Wait.READING, "reads" * 999)

    said = told(Evidence(7, (sleeper,) * 99, echo=False))

    assert said.state == "waiting-for-secret"
    assert len(said.sleepers) == 16
    assert len(encode(said)) < 262_144


@pytest.mark.parametrize(
    ("frozen", "exited", "word"),
    [(True, False, "frozen"), (False, True, "exited"), (True, True, "exited")],
)
def test_what_stands_still_or_is_over_needs_no_look(
    *, frozen: bool, exited: bool, word: str
) -> None:
    asker = Asker()
    timers = Timers()
    looking = SessionReport(
        SessionId("s_x"), os.getpid(), -1, timers, has_exited=exited, starters=nobody
    )

    looking.tell_state(asker.connection, is_frozen=frozen, has_exited=exited)

    (said,) = asker.hear()
    assert isinstance(said, Told)
    assert said.state == word
    asker.close()


def test_many_who_ask_at_once_are_all_answered() -> None:
    with leader(MANY) as tree:
        tree.pids()
        timers = Timers()
        looking = SessionReport(
            SessionId(tree.tree.session),
            tree.pid,
            -1,
            timers,
            has_exited=False,
            starters=nobody,
        )
        askers = [Asker() for _ in range(3)]
        for number, asker in enumerate(askers):
            looking.ask_graph(asker.connection, GraphRequest(descriptors=number == 0))

        gathered(timers, *askers)

        for asker in askers:
            assert len(joined_graph(asker.graphs()).processes) == 41
            asker.close()


def test_who_asks_twice_at_once_is_refused() -> None:
    asker = Asker()
    timers = Timers()
    looking = SessionReport(
        SessionId("s_x"), os.getpid(), -1, timers, has_exited=False, starters=nobody
    )
    looking.ask_graph(asker.connection, GraphRequest(descriptors=False))

    looking.ask_graph(asker.connection, GraphRequest(descriptors=False))

    (said,) = asker.hear()
    assert isinstance(said, wire.Refuse)
    assert (said.code, said.retryable) == ("graph-unavailable", True)
    asker.close()


def test_more_than_a_crowd_is_told_to_come_later() -> None:
    timers = Timers()
    looking = SessionReport(
        SessionId("s_x"), os.getpid(), -1, timers, has_exited=False, starters=nobody
    )
    askers = [Asker() for _ in range(MAX_ASKING + 1)]

    for asker in askers:
        looking.ask_graph(asker.connection, GraphRequest(descriptors=False))

    assert [bool(asker.hear()) for asker in askers] == [False] * MAX_ASKING + [True]
    for asker in askers:
        asker.close()


def test_a_client_that_left_meanwhile_is_no_trouble() -> None:
    asker = Asker()
    timers = Timers()
    looking = SessionReport(
        SessionId("s_x"), os.getpid(), -1, timers, has_exited=True, starters=nobody
    )
    looking.ask_graph(asker.connection, GraphRequest(descriptors=False))
    asker.connection.is_closed = True

    gathered(timers)

    assert asker.hear() == []
    asker.close()


def test_a_session_that_is_over_has_nothing_of_whoever_got_its_number() -> None:
    asker = Asker()
    with leader(MANY) as stranger:
        stranger.pids()
        timers = Timers()
        looking = SessionReport(
            SessionId("s_x"), stranger.pid, -1, timers, has_exited=True, starters=nobody
        )
        looking.ask_graph(asker.connection, GraphRequest(descriptors=False))

        gathered(timers, asker)

        assert joined_graph(asker.graphs()).processes == ()
    asker.close()
