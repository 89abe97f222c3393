import json

import pytest
from tests.cli.support.fakes import OTHER, US, FakeSession
from tests.cli.support.operating import robo, waiting

from holdfast.cli.main import main

Capture = pytest.CaptureFixture[str]


def test_who_says_that_nobody_is_here(web: FakeSession, capsys: Capture) -> None:
    assert main(["who", "web"]) == 0

    said = capsys.readouterr().out
    assert said == "nobody is attached\nthe turn is free (epoch 0)\n"
    assert web.attaches == []


def test_who_shows_operators_and_what_waits_between_them(
    web: FakeSession, capsys: Capture
) -> None:
    web.company = (robo("ro\x1bbo"),)
    web.passes_turn(OTHER)
    web.operating.waiting = [US]
    web.operating.frozen = True
    web.operating.pending = [waiting(b"rm -rf \xff\\\x1b[2J\r")]

    assert main(["who", "web"]) == 0

    said = capsys.readouterr().out
    lines = said.splitlines()
    assert lines[0].split() == ["OPERATOR", "PROGRAM", "MODE", "SINCE"]
    assert lines[1].startswith("ro\\x1bbo (agent, ")
    assert lines[1].split()[-3:] == ["cli", "operate", "1m"]
    assert lines[2].endswith(" has the turn (epoch 1)")
    assert lines[3:6] == [
        "waiting for it: you",
        "the session is frozen",
        "waiting for approval:",
    ]
    assert '"rm -rf \\xff\\\\\\x1b[2J\\x0d"' in said
    assert "rule  remove-trees" in said
    assert all(line.isprintable() for line in lines)


def test_who_is_there_for_programs_too(web: FakeSession, capsys: Capture) -> None:
    web.company = (robo(),)
    web.passes_turn(OTHER)
    web.operating.pending = [waiting()]

    assert main(["who", "web", "--json"]) == 0

    said = json.loads(capsys.readouterr().out)
    assert (said["session"], said["holder"], said["epoch"]) == (web.id, OTHER, 1)
    assert said["present"][0]["name"] == "robo"
    assert said["pending"][0]["ticket"] == 3
    assert said["rights"] == ["observe", "seize"]
