"""What an agent gets from `run`, whatever the command does."""

import json
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.scenarios.shells import run, shell, wait_phase
from tests.scenarios.support import PATIENCE, Machine, machine

from holdfast.client import calls, command_run
from holdfast.client.driver import new_client
from holdfast.core.client.command_output import Ran, Stop
from holdfast.core.client.command_run import Wish
from holdfast.model.actors import ActorKind
from holdfast.model.errors import (
    LineUnfinished,
    OutcomeForgotten,
    SessionOver,
)
from holdfast.model.ids import SessionId
from holdfast.wire import messages as wire

LIMIT = 64 * 1024


@pytest.fixture(scope="module")
def ours() -> Iterator[Machine]:
    with machine() as made:
        yield made


@pytest.fixture
def bash(ours: Machine, tmp_path: Path) -> SessionId:
    return shell(ours, tmp_path)


def ran_with(session: SessionId, wish: Wish, line: bytes) -> Ran:
    client = new_client()
    return command_run.run(session, client, line, wish, time.monotonic() + PATIENCE)


def holdfast(*words: str) -> tuple[int, dict[str, object], dict[str, object]]:
    """Run a verb with --json; return its status and what it said on both ways."""
    command = [sys.executable, "-m", "holdfast", *words, "--json"]
    done = subprocess.run(command, capture_output=True, check=False, text=True)
    said = json.loads(done.stdout) if done.stdout else {}
    error = json.loads(done.stderr)["error"] if done.stderr else {}
    return done.returncode, said, error


def test_a_command_that_never_ends_shows_what_it_printed_and_goes_on(
    bash: SessionId,
) -> None:
    status, said, error = holdfast(
        "run", bash, "--timeout", "0.5", "echo one; sleep 99"
    )

    assert (status, said["ended"], said["stopped"]) == (75, False, "late")
    assert (said["output"], said["state"]) == ("one\n", "running")
    assert (error["code"], error["retryable"]) == ("command-goes-on", False)
    assert calls.report(bash).phase == "running"


def test_a_command_that_asks_is_reported_when_that_is_wished(bash: SessionId) -> None:
    wish = Wish(LIMIT, until_input=True)

    ran = ran_with(bash, wish, b"echo one; read -s x; (exit ${#x})")
    assert (ran.stop, ran.state) == (Stop.ASKED, "waiting-for-secret")
    assert ran.output == b"one\r\n"
    assert ran.command.end is None


def test_a_shell_inside_the_command_counts_as_asking(bash: SessionId) -> None:
    ran = ran_with(bash, Wish(LIMIT, until_input=True), b"bash --norc")

    assert (ran.stop, ran.state) == (Stop.ASKED, "at-prompt")


def test_what_ends_by_itself_is_never_taken_for_asking(bash: SessionId) -> None:
    for number in range(10):
        line = f"sleep 0.3; echo {number}".encode()
        ran = ran_with(bash, Wish(LIMIT, until_input=True), line)
        assert (ran.stop, ran.command.status) == (Stop.ENDED, 0)


@pytest.mark.parametrize("line", [b"echo 'unclosed", b"echo x |", b"if true; then"])
def test_a_line_that_is_no_whole_command_is_noticed(
    bash: SessionId, line: bytes
) -> None:
    with pytest.raises(LineUnfinished):
        ran_with(bash, Wish(LIMIT), line)


def test_what_is_expected_is_found_though_little_is_kept(bash: SessionId) -> None:
    wish = Wish(3, re.compile(rb"server listening on \d+"))

    ran = ran_with(bash, wish, b"echo server listening on 8080; sleep 99")
    assert ran.stop is Stop.EXPECTED
    assert ran.output == b"0\r\n"
    assert ran.left_out == len("server listening on 8080\r\n") - 3


def test_fifty_megabytes_are_cut_and_counted(bash: SessionId) -> None:
    size = 50_000_000
    ran = ran_with(
        bash,
        Wish(1000),
        f"head -c {size} /dev/zero | tr '\\0' x; echo; echo end".encode(),
    )

    assert ran.output.endswith(b"xxx\r\nend\r\n")
    assert (len(ran.output), ran.left_out) == (1000, size + 7 - 1000)


def test_a_session_that_ends_meanwhile_says_how(bash: SessionId) -> None:
    with pytest.raises(SessionOver, match="status 3"):
        run(bash, "exit 3")


def test_a_job_in_the_background_does_not_hold_the_command_up(bash: SessionId) -> None:
    ran = run(bash, "sleep 99 & echo up")

    assert ran.command.status == 0
    assert ran.output.endswith(b"up\r\n")


def test_output_that_is_no_text_and_has_colours_is_shown_as_text(
    bash: SessionId,
) -> None:
    _, said, _ = holdfast("run", bash, r"printf '\xff\e[31mred\e[m\n'")

    assert said["output"] == "\ufffdred\n"


def test_a_key_whose_command_is_forgotten_is_not_waited_for(bash: SessionId) -> None:
    run(bash, "true", key="old")
    # As many others as make the session forget it, and not its key.
    for _ in range(257):
        run(bash, ":")

    with pytest.raises(OutcomeForgotten):
        run(bash, "true", key="old")


def test_the_turn_is_free_again_whatever_came_of_it(
    ours: Machine, bash: SessionId
) -> None:
    other = ours.join(bash, "ann", ActorKind.HUMAN)
    run(bash, "true")
    assert other.who().holder == ""
    with pytest.raises(LineUnfinished):
        run(bash, "echo '")

    assert other.who().holder == ""


def test_a_turn_that_was_ours_before_stays_ours(ours: Machine, bash: SessionId) -> None:
    us = ours.join(bash)
    assert us.request(wire.Take()) is None

    run(bash, "true")
    assert us.who().holder == us.operator.actor.id


@pytest.mark.skipif(shutil.which("zsh") is None, reason="there is no zsh")
def test_what_zsh_prints_before_its_prompt_is_not_the_command_s(
    ours: Machine, tmp_path: Path
) -> None:
    (tmp_path / ".zshrc").write_text("PS1='$ '\n")
    session = shell(ours, tmp_path, "zsh")

    assert run(session, "echo one").output == b"one\r\n"
    assert run(session, "printf two").output == b"two"


def test_a_prompt_that_is_about_to_come_is_waited_for(
    ours: Machine, bash: SessionId
) -> None:
    user = ours.join(bash)
    user.enter(b"\r")

    assert run(bash, "echo here").output == b"here\r\n"
    user.close()
    wait_phase(bash, "prompt")
