"""`exec`: one command on a joined host, with its output, its status and its end."""

import os
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.scenarios.elsewhere import Place, places, relay
from tests.scenarios.support import eventually


@pytest.fixture(scope="module")
def joined() -> Iterator[tuple[Place, Place]]:
    with relay() as between, places() as (home, away):
        home.up(between.url)
        invited = home.invite("--as", "anna", "--can", "+create")
        away.do("join", "-", "--name", "box", said=invited)
        yield home, away


def started(away: Place, *words: str) -> "subprocess.Popen[str]":
    return subprocess.Popen(
        away.command("exec", "box", *words),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, **away.folders},
        start_new_session=True,
    )


def names(home: Place) -> list[str]:
    return [one["name"] for one in home.facts("ls")["sessions"]]


def test_output_and_status_are_the_command_s_and_nothing_stays(
    joined: tuple[Place, Place],
) -> None:
    home, away = joined

    done = away.run("exec", "box", "--", "sh", "-c", "echo out; echo err >&2; exit 7")

    assert (done.returncode, done.stdout) == (7, "out\nerr\n")
    assert names(home) == []
    line = away.run("exec", "box", "echo $((6 * 7)); kill -TERM $$")
    assert (line.returncode, line.stdout) == (128 + signal.SIGTERM, "42\n")


def test_output_comes_before_the_end(joined: tuple[Place, Place]) -> None:
    home, away = joined
    with started(away, "echo first; sleep 600") as running:
        assert running.stdout is not None

        assert running.stdout.readline() == "first\n"  # It has not ended yet.

        (name,) = names(home)
        assert name.startswith("exec-")
        running.send_signal(signal.SIGINT)
        assert running.wait(30) == 130
        eventually("it is gone", lambda: names(home) == [])
        assert running.stderr is not None
        assert running.stderr.read() == ""


def test_what_ends_the_client_ends_the_command(joined: tuple[Place, Place]) -> None:
    home, away = joined
    with started(away, "echo first; sleep 600") as running:
        assert running.stdout is not None
        running.stdout.readline()

        running.terminate()

        assert running.wait(30) == 128 + signal.SIGTERM
        eventually("it is gone", lambda: names(home) == [])


def test_a_start_that_the_policy_denies_runs_nothing(
    joined: tuple[Place, Place],
) -> None:
    home, away = joined
    rule = '[[rule]]\nname = "no-touch"\nverdict = "deny"\nfirst = "touch"\n'
    policy = f"{home.folder}/config/policy.toml"
    mark = f"{home.folder}/mark"
    with open(policy, "w", encoding="utf-8") as file:  # noqa: PTH123  # beside os
        file.write(rule)
    home.do("gate", "apply", "--yes")
    try:
        denied = away.run("exec", "box", "--", "touch", mark)
    finally:
        os.unlink(policy)  # noqa: PTH108  # ditto
        home.do("gate", "apply", "--yes")

    assert denied.returncode == 77
    assert "no-touch" in denied.stderr
    assert not os.path.exists(mark)  # noqa: PTH110  # ditto


def test_a_host_that_there_is_not_runs_nothing(joined: tuple[Place, Place]) -> None:
    _, away = joined

    assert away.run("exec", "nowhere", "true").returncode == 64
    assert away.run("exec", "box").returncode == 64


def test_what_would_not_be_read_is_refused(
    joined: tuple[Place, Place], tmp_path: Path
) -> None:
    home, away = joined
    rows = tmp_path / "rows"
    rows.write_text("one\ntwo\n")

    piped = away.run("exec", "box", "--", "cat", said="one\n")
    with rows.open() as given:
        filed = subprocess.run(
            away.command("exec", "box", "--", "cat"),
            stdin=given,
            capture_output=True,
            text=True,
            check=False,
            env={**os.environ, **away.folders},
        )
    with rows.open() as given:
        given.seek(0, os.SEEK_END)
        at_end = subprocess.run(
            away.command("exec", "box", "--", "echo", "done"),
            stdin=given,
            capture_output=True,
            text=True,
            check=False,
            env={**os.environ, **away.folders},
        )

    for refused in (piped, filed):
        assert refused.returncode == 64
        assert "does not pass on standard input" in refused.stderr
    assert (at_end.returncode, at_end.stdout) == (0, "done\n")
    assert names(home) == []
