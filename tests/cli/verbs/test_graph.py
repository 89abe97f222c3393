import json
import os
import socket

import pytest
from tests.cli.support.fakes import FakeKeeper, FakeSession
from tests.cli.support.kernel import graph, process

from holdfast.cli.main import main
from holdfast.model.errors import NotAllowed
from holdfast.model.ids import ActorId
from holdfast.wire.graphs import Listener

Capture = pytest.CaptureFixture[str]


def test_graph_shows_a_tree(web: FakeSession, capsys: Capture) -> None:
    web.operating.kernel.graphs = [
        [graph(process(7, command="bash"), more=True), graph(process(8, 7, "cat\x1b"))]
    ]

    assert main(["graph", "web"]) == 0

    assert capsys.readouterr().out.splitlines() == [
        "7 bash  sleeping  3M  cpu 1.5s  1m",
        "└─ 8 cat\\x1b  sleeping  3M  cpu 1.5s  1m",
    ]


def test_graph_is_there_for_programs_too(web: FakeSession, capsys: Capture) -> None:
    listener = Listener(7, "::1", 80, "tcp6")
    web.operating.kernel.graphs = [[graph(process(7), listeners=(listener,))]]

    assert main(["graph", "web", "--json"]) == 0

    said = json.loads(capsys.readouterr().out)
    assert said["session"] == web.id
    assert said["processes"][0]["started_ticks"] == 70
    assert said["listeners"] == [
        {"pid": 7, "address": "::1", "port": 80, "protocol": "tcp6"}
    ]


def test_all_shows_each_session_and_names_those_that_cannot_be_asked(
    keeper: FakeKeeper, capsys: Capture
) -> None:
    one, two = keeper.has("one", "two")
    one.operating.kernel.graphs = [[graph(process(7))]]
    two.operating.refusal = NotAllowed(ActorId("a_" + "a" * 32), "observe")

    assert main(["graph", "--all"]) == 0

    said = capsys.readouterr()
    assert said.out.startswith(f"one ({one.id})\n7 it")
    assert said.err.startswith("holdfast: two: ")


@pytest.mark.parametrize(
    "words", [[], ["web", "--all"], ["--port", "0"], ["--port", "65536"]]
)
def test_what_makes_no_sense_is_refused(web: FakeSession, words: list[str]) -> None:
    assert main(["graph", *words]) == 64
    assert not web.operating.requested


def test_who_listens_is_answered_with_session_and_process(
    web: FakeSession, capsys: Capture
) -> None:
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        server.listen()
        port = server.getsockname()[1]
        listener = Listener(os.getpid(), "127.0.0.1", port, "tcp")
        found = graph(process(os.getpid(), command="serve"), listeners=(listener,))
        web.operating.kernel.graphs = [[found]]

        assert main(["graph", "--port", str(port)]) == 0
        assert f"web ({web.id}): {os.getpid()} serve" in capsys.readouterr().out
        assert main(["graph", "--port", str(port), "--json"]) == 0
        said = json.loads(capsys.readouterr().out)
        assert said["listeners"][0]["address"] == f"tcp 127.0.0.1:{port}"
        assert said["others"] == []


def test_whoever_listens_and_is_of_no_session_is_named(
    web: FakeSession, capsys: Capture
) -> None:
    web.operating.kernel.graphs = [[graph(process(7))]]
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        server.listen()
        port = server.getsockname()[1]

        assert main(["graph", "--port", str(port)]) == 1
        said = capsys.readouterr().out
        assert f"no session listens on port {port}" in said
        assert f"({os.getpid()})" in said


def test_where_nobody_listens_no_session_is_asked(web: FakeSession) -> None:
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))

        assert main(["graph", "--port", str(bound.getsockname()[1])]) == 1
        assert not web.operating.requested
