"""Whatever a session's record has, everyone who is told of sessions is told."""

import json
import re
from pathlib import Path

import pytest
from tests.scenarios.support import machine

from holdfast.cli.main import main
from holdfast.client import keeper
from holdfast.host import overview
from holdfast.keeper.vault import Deposit
from holdfast.mcp.tool_output import info_facts
from holdfast.model.ids import SessionId
from holdfast.model.session_record import (
    Attention,
    Cells,
    ParentRecord,
    SessionRecord,
)
from holdfast.sdk.values import SessionInfo

RECORD = SessionRecord(
    id=SessionId("s_" + "a" * 16),
    name="web",
    pid=7,
    state="frozen",
    exit=3,
    command=("sh", "-c"),
    cwd="/srv",
    created_ms=5000,
    size=Cells(80, 24),
    keep=True,
    dozing=True,
    idle_ms=7000,
    doing="at-prompt",
    turn_of="anna",
    attached=("anna", "bot"),
    output_ms=8000,
    attention=Attention("message", "come", 6000, "program"),
    incarnation=2,
    recovered_ms=9000,
    runtime="capsule",
    authority="https://relay.example",
    fenced="its lease ran out",
    reaps_ms=11000,
    imaged_ms=12000,
    memory=2**30,
    millicpus=1500,
    pids=500,
    host="box",
    parent=ParentRecord("s_" + "b" * 16, 2, 1, 40),
    no_capsule="the kernel forbids it",
)
FIELDS = [name for name in SessionRecord._fields if name != "host"]
PAGE = Path(__file__).parents[2] / "web/src/protocol/session-record.ts"

AGENTS = {
    "name": "session",
    "state": "life",
    "doing": "state",
    "exit": "exit_status",
    "created_ms": "created",
}
"""What agents are told some of them by."""


def test_every_field_here_has_a_value_of_its_own() -> None:
    empty = SessionRecord(SessionId(""))

    assert not [
        name for name in FIELDS if getattr(RECORD, name) == getattr(empty, name)
    ]


@pytest.mark.parametrize("field", FIELDS)
def test_a_keeper_reads_it_and_tells_it(field: str) -> None:
    kept = Deposit(json.loads(json.dumps(RECORD.facts())), [], 0)

    if field != "id":  # By which the vault knows it.
        assert getattr(kept.record, field) == getattr(RECORD, field)
    (told,) = keeper.sessions_in({"sessions": [kept.facts]}, "box")
    assert told == RECORD._replace(state="exited")


def test_ls_tells_every_one_to_programs(capsys: pytest.CaptureFixture[str]) -> None:
    with machine() as here:
        session = here.new("sleep", "600")

        assert main(["ls", "--json"]) == 0

    (told,) = json.loads(capsys.readouterr().out)["sessions"]
    assert list(told) == FIELDS
    assert (told["id"], told["command"]) == (session, ["sleep", "600"])


@pytest.mark.parametrize("field", FIELDS)
def test_the_sdk_and_agents_are_told_it(field: str) -> None:
    info = SessionInfo(*RECORD)

    assert hasattr(info, field)
    assert AGENTS.get(field, field) in info_facts(info)


@pytest.mark.parametrize("field", FIELDS)
def test_the_page_is_told_it(field: str) -> None:
    assert field in overview._known(RECORD)  # noqa: SLF001  # as it goes out
    assert re.search(rf'\(told, "{field}"\)', PAGE.read_text("utf-8"))
