"""What the pages about agent programs have people write, as far as it goes without
those programs: each hook is run with what its program gives it."""

import json
import os
import re
import shlex
import subprocess
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.scenarios.support import Machine, eventually, machine

from holdfast.cli.main import VERBS
from holdfast.model.ids import SessionId

ROOT = Path(__file__).parents[2]
CLAUDE = (ROOT / "docs/howto/claude-code.md").read_text()
CODEX = (ROOT / "docs/howto/codex.md").read_text()
HOOKS, BELL = map(json.loads, re.findall(r"```json\n(.*?)```", CLAUDE, re.DOTALL))
(CONFIG,) = map(tomllib.loads, re.findall(r"```toml\n(.*?)```", CODEX, re.DOTALL))

NOTIFIED = {"hook_event_name": "Notification", "message": "may I use Bash?"}
STOPPED = {"hook_event_name": "Stop", "last_assistant_message": "it is done"}
TURN = {"type": "agent-turn-complete", "last-assistant-message": "it is done"}


@pytest.fixture
def here() -> Iterator[Machine]:
    with machine() as made:
        yield made


def in_session(session: SessionId) -> dict[str, str]:
    """Return the variables of a program that runs in a session."""
    binaries = ROOT / ".venv/bin"
    path = f"{binaries}:{os.environ['PATH']}"
    return {**os.environ, "PATH": path, "HOLDFAST_SESSION": session}


def text(here: Machine, session: SessionId) -> str:
    facts = here.facts(session)
    assert facts is not None
    found: Any = facts["attention"]
    return str(found["text"]) if found else ""


@pytest.mark.parametrize(
    ("event", "told", "shown"),
    [
        ("Notification", NOTIFIED, "may I use Bash?"),
        ("Stop", STOPPED, "it is done"),
    ],
)
def test_each_hook_of_claude_code_calls(
    here: Machine, event: str, told: dict[str, str], shown: str
) -> None:
    session = here.new("sleep", "600")
    ((hook,),) = (one["hooks"] for one in HOOKS["hooks"][event])

    subprocess.run(
        ["/bin/sh", "-c", hook["command"]],
        input=json.dumps(told).encode(),
        env=in_session(session),
        check=True,
    )

    assert hook["type"] == "command"
    assert eventually("it calls", lambda: text(here, session)) == shown


def test_the_notify_program_of_codex_calls(here: Machine) -> None:
    session = here.new("sleep", "600")

    words = [*CONFIG["notify"], json.dumps(TURN)]
    subprocess.run(words, env=in_session(session), check=True)

    assert eventually("it calls", lambda: text(here, session)) == "it is done"


def test_what_else_is_written_makes_them_ring_or_notify() -> None:
    assert BELL == {"preferredNotifChannel": "terminal_bell"}
    assert CONFIG["tui"] == {
        "notifications": True,
        "notification_method": "osc9",
        "notification_condition": "always",
    }


@pytest.mark.parametrize("page", [CLAUDE, CODEX])
def test_each_command_of_ours_is_one(page: str) -> None:
    lines = re.findall(r"^holdfast .*$", page, re.MULTILINE)

    assert len(lines) >= 3
    assert {shlex.split(line)[1] for line in lines} <= {*VERBS}
