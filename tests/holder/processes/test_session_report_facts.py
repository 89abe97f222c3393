"""What is told of one process, one descriptor and one terminal, field by field."""

import contextlib
import os
import pty
from collections.abc import Iterator

import pytest
from tests.holder.processes.test_session_report import (
    MANY,
    Asker,
    gathered,
    nobody,
    node,
    opened,
)
from tests.linux.trees import leader

from holdfast.core.session.session_state import Evidence
from holdfast.holder.processes import session_report
from holdfast.holder.processes.session_report import SessionReport, parts, told
from holdfast.holder.timers import Timers
from holdfast.linux.graph import Node, Open
from holdfast.linux.procfs import TICKS
from holdfast.linux.sockets import CONNECTED, Socket
from holdfast.model.ids import ActorId, SessionId
from holdfast.wire import graphs
from holdfast.wire import messages as wire
from holdfast.wire.evidence import Evidence as Told
from holdfast.wire.graphs import GraphRequest


@pytest.fixture
def asker() -> Iterator[Asker]:
    made = Asker()
    yield made
    made.close()


def sent(one: Node, *, actors: dict[int, ActorId] | None = None) -> graphs.Graph:
    (found,) = parts([one], actors or {}, descriptors=True)
    return found


def test_a_process_is_told_with_its_times_in_thousandths_of_a_second() -> None:
    stat = node().stat._replace(parent=7, cpu_ticks=3 * TICKS, rss=4096)
    (found,) = sent(Node(stat, "it", 1.5, (), 0)).processes

    assert (found.pid, found.parent, found.started_ticks) == (
        stat.pid,
        7,
        stat.started,
    )
    assert (found.cpu_ms, found.age_ms, found.rss) == (3000, 1500, 4096)
    assert (found.command, found.actor) == ("it", "")


@pytest.mark.parametrize(("parent", "shown"), [(-1, 0), (0, 0), (1, 1)])
def test_a_parent_that_is_not_seen_from_here_is_none(parent: int, shown: int) -> None:
    stat = node().stat._replace(parent=parent)

    assert sent(Node(stat, "it", 0.0, (), 0)).processes[0].parent == shown


def test_a_process_is_told_with_who_started_it() -> None:
    one = node()
    actors = {one.stat.pid: ActorId("a_anna"), one.stat.pid + 1: ActorId("a_bert")}

    assert sent(one, actors=actors).processes[0].actor == "a_anna"


@pytest.mark.parametrize(
    ("offset", "shown"), [(0, 0), (12, 12), (wire.MAX_NUMBER + 1, wire.MAX_NUMBER)]
)
def test_a_descriptor_is_told_as_it_is(offset: int, shown: int) -> None:
    one = Open(5, "file", "/x", offset, "write", "shared", None)

    (found,) = sent(node(one)).descriptors

    assert found == graphs.Descriptor(
        pid=os.getpid(),
        number=5,
        kind="file",
        name="/x",
        offset=shown,
        access="write",
        lock="shared",
    )


def test_of_a_long_path_the_end_is_told() -> None:
    name = "/" + "a" * graphs.MAX_PATH + "/end"

    (found,) = sent(node(opened(1, name=name))).descriptors

    assert found.name == name[-graphs.MAX_PATH :]


def test_a_connection_is_told_with_both_of_its_ends() -> None:
    socket = Socket("tcp", CONNECTED, "10.0.0.1", 22, "10.0.0.2", 4000)
    one = Open(5, "socket", "", 0, "write", "none", socket)

    assert sent(node(one)).connections == (
        graphs.Connection(
            pid=os.getpid(),
            protocol="tcp",
            address="10.0.0.1",
            port=22,
            peer="10.0.0.2",
            peer_port=4000,
        ),
    )


@pytest.mark.parametrize(
    ("per_part", "count"),
    [(graphs.MAX_DESCRIPTORS, 1), (graphs.MAX_DESCRIPTORS + 1, 2)],
)
def test_a_part_holds_as_many_descriptors_as_fit(per_part: int, count: int) -> None:
    found = parts([node(*map(opened, range(per_part)))], {}, descriptors=True)

    assert len(found) == count
    assert [one.number for part in found for one in part.descriptors] == [
        *range(per_part)
    ]


def test_a_graph_of_too_many_parts_is_refused_and_one_of_just_so_many_is_not(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def asked(tree: int, session: str) -> list[object]:
        with contextlib.closing(Asker()) as asker:
            timers = Timers()
            report = SessionReport(
                SessionId(session), tree, -1, timers, has_exited=False, starters=nobody
            )
            report.ask_graph(asker.connection, GraphRequest(descriptors=True))
            gathered(timers)
            asker.connection.pump()
            return [*asker.hear()]

    with leader(MANY) as tree:
        tree.pids()
        count = len(asked(tree.pid, tree.tree.session))
        assert count > 1
        monkeypatch.setattr(session_report, "MAX_PARTS", count)
        assert len(asked(tree.pid, tree.tree.session)) == count
        monkeypatch.setattr(session_report, "MAX_PARTS", count - 1)

        (said,) = asked(tree.pid, tree.tree.session)

    assert isinstance(said, wire.Refuse)
    assert said.code == "graph-unavailable"


def test_the_state_of_a_session_that_runs_is_looked_up(asker: Asker) -> None:
    master, slave = pty.openpty()
    os.write(master, b"typed\n")
    report = SessionReport(
        SessionId("s_x"),
        os.getpid(),
        master,
        Timers(),
        has_exited=False,
        starters=nobody,
    )

    report.tell_state(asker.connection, is_frozen=False, has_exited=False)

    (said,) = asker.hear()
    assert isinstance(said, Told)
    assert said.state not in {"frozen", "exited"}
    assert (said.echo, said.canonical) == (True, True)
    for fd in (master, slave):
        os.close(fd)


@pytest.mark.parametrize(("seen", "shown"), [(None, 0), (7, 7)])
def test_a_terminal_without_a_foreground_is_told_with_none(
    seen: int | None, shown: int
) -> None:
    assert told(Evidence(seen)).foreground == shown
