"""Whoever changes what it executes after it was asked executes nothing."""

import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.linux.kernels import can_hold_execs
from tests.scenarios.gated import agent, execs, gated, run, write_policy
from tests.scenarios.support import Client, Machine, machine

pytestmark = pytest.mark.skipif(
    not can_hold_execs(), reason="this kernel cannot hold an exec"
)

POLICY = """
[default]
agent = "allow"

[[rule]]
name = "no-evil"
verdict = "deny"
kind = "agent"
at = "exec"
any = "evil"

[[rule]]
name = "keep-files"
verdict = "deny"
kind = "agent"
at = "exec"
first = "rm"
"""

TRIES = 60


@pytest.fixture(scope="module")
def here() -> Iterator[Machine]:
    with machine() as made:
        yield made


@pytest.fixture
def bot(here: Machine, tmp_path: Path) -> Client:
    write_policy(POLICY)
    shutil.copy(shutil.which("touch") or "", tmp_path / "tell")
    shutil.copy(Path(__file__).with_name("racing.py"), tmp_path)
    client = agent(here, gated(here, cwd=str(tmp_path)))
    client.wait_output(b"$ ")
    return client


@pytest.mark.parametrize("way", ["thread", "shared", "other", "file"])
def test_a_word_that_changes_is_never_executed_unjudged(bot: Client, way: str) -> None:
    said = run(bot, f"{sys.executable} racing.py {way} {TRIES}")

    assert "won 0, " in said
    rules = {entry.fields["rule"] for entry in execs(bot.session)}
    assert rules <= {"no-evil", "keep-files", "changed-after-judgement"}


def test_what_changes_nothing_is_let_run(bot: Client, tmp_path: Path) -> None:
    said = run(bot, "for i in 1 2 3 4 5 6 7 8 9; do ./tell made$i; done; ./tell evil")

    assert "not permitted" in said
    assert len([*tmp_path.glob("made*")]) == 9
