import json
import threading

import msgspec
import pytest
from tests.cli.support.fakes import FakeSession
from tests.cli.support.kernel import evidence, graph, process

from holdfast.cli.main import main
from holdfast.wire.graphs import Listener

Capture = pytest.CaptureFixture[str]


@pytest.mark.parametrize(
    "text", ["port:0", "port:65536", "pid:0", "(", "port:", "pid:x", "port:80x"]
)
def test_no_such_port_process_or_pattern_is_refused(
    web: FakeSession, text: str
) -> None:
    assert main(["wait", web.id, "--for", text]) == 64


def test_a_port_that_is_none_is_refused_with_what_would_be_right(
    web: FakeSession, capsys: Capture
) -> None:
    assert main(["wait", web.id, "--for", "port:abc"]) == 64

    said = capsys.readouterr().err
    assert "'port:abc' is not a port such as port:3000" in said
    assert "as a pattern, write [p]ort:abc" in said


@pytest.mark.parametrize("text", ["[p]ort:80", "[p]ort:http", "a port:80"])
def test_what_only_looks_like_a_port_is_a_pattern(web: FakeSession, text: str) -> None:
    web.stream = b"a port:80 port:http"

    assert main(["wait", web.id, "--for", text, "--timeout", "9"]) == 0


@pytest.mark.parametrize(
    ("what", "state"),
    [
        ("prompt", "at-prompt"),
        ("input", "waiting-for-input"),
        ("input", "waiting-for-secret"),
        ("secret", "waiting-for-secret"),
    ],
)
def test_a_state_is_waited_for(
    web: FakeSession, capsys: Capture, what: str, state: str
) -> None:
    web.operating.kernel.states = [evidence("running"), evidence(state)]

    assert main(["wait", "web", "--for", what, "--json", "--timeout", "9"]) == 0
    assert json.loads(capsys.readouterr().out)["state"] == state


def test_a_state_may_not_come_in_time(web: FakeSession) -> None:
    web.operating.kernel.states = [evidence("waiting-for-input")]

    assert main(["wait", "web", "--for", "prompt", "--timeout", "0.05"]) == 75


@pytest.mark.parametrize("what", ["prompt", "port:80"])
def test_a_session_that_ends_first_will_never_come_to_it(
    web: FakeSession, what: str
) -> None:
    web.operating.kernel.states = [evidence("exited")]
    web.operating.kernel.graphs = [[graph()]]

    assert main(["wait", "web", "--for", what, "--timeout", "9"]) == 64


def test_a_port_is_waited_for(web: FakeSession, capsys: Capture) -> None:
    there = graph(process(7), listeners=(Listener(7, "::", 80, "tcp6"),))
    web.operating.kernel.graphs = [[graph(process(7))], [there]]

    assert main(["wait", "web", "--for", "port:80", "--json", "--timeout", "9"]) == 0
    said = json.loads(capsys.readouterr().out)
    assert (said["port"], said["pid"], said["address"]) == (80, 7, "::")


def test_a_process_is_waited_for_even_if_its_number_goes_on(
    web: FakeSession, capsys: Capture
) -> None:
    first = process(7)
    later = msgspec.structs.replace(first, started_ticks=71)
    web.operating.kernel.graphs = [[graph(first)], [graph(first)], [graph(later)]]

    assert main(["wait", "web", "--for", "pid:7", "--json", "--timeout", "9"]) == 0
    assert json.loads(capsys.readouterr().out)["was_seen"]


def test_a_process_that_is_not_there_is_not_waited_for(
    web: FakeSession, capsys: Capture
) -> None:
    web.operating.kernel.graphs = [[graph(process(7))]]

    assert main(["wait", "web", "--for", "pid:8", "--json", "--timeout", "9"]) == 0
    assert not json.loads(capsys.readouterr().out)["was_seen"]


def test_a_holder_that_dies_is_asked_again(web: FakeSession) -> None:
    web.operating.kernel.states = [evidence("running")]

    def replace() -> None:
        web.wait_until(lambda: bool(web.operating.requested))
        web.die()
        web.operating.kernel.states = [evidence("at-prompt")]
        web.revive()

    replacing = threading.Thread(target=replace)
    replacing.start()

    assert main(["wait", "web", "--for", "prompt", "--timeout", "9"]) == 0
    replacing.join()
