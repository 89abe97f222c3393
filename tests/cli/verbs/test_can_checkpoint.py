import json

import pytest
from tests.cli.support.fakes import FakeSession

from holdfast.cli.main import main
from holdfast.wire.preflights import Blocker, Cut, Preflight

Capture = pytest.CaptureFixture[str]

YES = Preflight(blockers=(), cuts=(), unlisted=0)
FROZEN = Blocker(
    kind="frozen",
    what="the session is frozen",
    why="it cannot be stopped",
    remedy="thaw it first",
    pid=0,
    program="",
    descriptor=None,
)
HELD = Blocker(
    kind="terminal",
    what="/dev/tty\x1b",
    why="nobody knows whose it is",
    remedy="answer it",
    pid=104,
    program="ssh\x1b",
    descriptor=4,
)
TRACED = Blocker(
    kind="traced",
    what="a process that is traced",
    why="one is enough",
    remedy="end the tracer",
    pid=7,
    program="sh",
    descriptor=None,
)
CUT = Cut(pid=9, program="curl", descriptor=5, peer="192.0.2.1:443")


def test_nothing_in_the_way_is_yes(web: FakeSession, capsys: Capture) -> None:
    web.operating.kernel.preflight = YES
    assert main(["can-checkpoint", "web"]) == 0
    assert capsys.readouterr().out == "yes\n"


def test_a_connection_that_would_be_cut_is_no_no(
    web: FakeSession, capsys: Capture
) -> None:
    web.operating.kernel.preflight = Preflight(blockers=(), cuts=(CUT,), unlisted=0)
    assert main(["can-checkpoint", "web"]) == 0
    assert capsys.readouterr().out.splitlines() == [
        "yes",
        "  curl (9): the connection to 192.0.2.1:443 would be closed",
    ]


def test_everything_in_the_way_is_told_with_what_to_do(
    web: FakeSession, capsys: Capture
) -> None:
    found = Preflight(blockers=(FROZEN, HELD, TRACED), cuts=(), unlisted=3)
    web.operating.kernel.preflight = found

    assert main(["can-checkpoint", "web"]) == 1

    assert capsys.readouterr().out.splitlines() == [
        "no",
        "  the session is frozen",
        "    it cannot be stopped",
        "    what to do: thaw it first",
        "  ssh\\x1b (104), descriptor 4: /dev/tty\\x1b",
        "    nobody knows whose it is",
        "    what to do: answer it",
        "  sh (7): a process that is traced",
        "    one is enough",
        "    what to do: end the tracer",
        "  and 3 more",
    ]


def test_programs_get_all_of_it(web: FakeSession, capsys: Capture) -> None:
    found = Preflight(blockers=(HELD,), cuts=(CUT,), unlisted=0)
    web.operating.kernel.preflight = found

    assert main(["can-checkpoint", "web", "--json"]) == 1

    said = json.loads(capsys.readouterr().out)
    assert (said["session"], said["can"], said["unlisted"]) == (web.id, False, 0)
    assert said["blockers"][0]["kind"] == "terminal"
    assert said["cuts"] == [
        {"pid": 9, "program": "curl", "descriptor": 5, "peer": "192.0.2.1:443"}
    ]
