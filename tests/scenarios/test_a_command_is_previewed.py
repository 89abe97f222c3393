"""A command is tried out in a branch; nothing of it is left but what is told."""

import json
import os
import signal
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest
from tests.scenarios.capsules import HOLDFAST, Account, account, as_each

from holdfast.linux.criu import program

pytestmark = pytest.mark.skipif(
    program.find().program is None, reason="there is no CRIU here: `make criu`"
)


def previewed(here: Account, line: str, *words: str) -> dict[str, Any]:
    said = here.ask("run", "--preview", "--json", *words, "box", line, status=None)
    found: dict[str, Any] = json.loads(said)
    return found


def alone(here: Account) -> None:
    """Assert that no branch is left, nor anything that one had changed."""
    names = [one["name"] for one in json.loads(here.ask("ls", "--json"))["sessions"]]
    assert names == ["box"]
    layers = here.place / "run" / "state" / "layers"
    assert not layers.exists() or not any(layers.iterdir())


def begin(here: Account, line: str) -> "subprocess.Popen[str]":
    return subprocess.Popen(
        [HOLDFAST, "run", "--preview", "--json", "box", line],
        env=here.variables,
        cwd=here.place / "home",
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        **here.identity,
    )


@as_each
def test_all_that_it_did_is_told_and_nothing_is_left_of_it(user: int) -> None:
    with account(user) as here:
        home = here.place / "home"
        here.new("box", "--capsule")
        here.run("box", "x=41; echo a >keep; echo bye >gone; mkdir sub")

        told = previewed(
            here,
            "echo $x; echo b >>keep; rm gone; echo n >sub/new; (sleep 600 &);"
            " python3 -m http.server 8123 >/dev/null 2>&1 & sleep 1;"
            " : <>/dev/tcp/1.2.3.4/443; exit_with() { return 3; }; exit_with",
        )

        files = {(one["what"], Path(one["path"]).name) for one in told["files"]}
        assert files == {("changed", "keep"), ("deleted", "gone"), ("made", "new")}
        assert "+b\n" in told["diff"]
        left = " ".join(one["command"] for one in told["processes"])
        assert "sleep 600" in left
        assert "http.server" in left
        assert told["ports"] == ["tcp 0.0.0.0:8123"]
        assert told["tried"] == [{"how": "tcp", "to": "1.2.3.4:443", "times": 1}]
        assert (told["ended"], told["exit"]) == (True, 3)
        assert told["output"].startswith("41\n")
        assert (home / "keep").read_text() == "a\n"
        assert (home / "gone").exists()
        assert not (home / "sub" / "new").exists()
        assert here.run("box", "echo $x; jobs") == "41\n"
        alone(here)


@as_each
def test_its_status_is_that_of_the_command(user: int) -> None:
    with account(user) as here:
        here.new("box", "--capsule")

        here.ask(
            "run", "--preview", "box", "exit_with() { return 7; }; exit_with", status=7
        )
        said = here.ask("run", "--preview", "box", "--", "true")

        assert said.startswith("exit 0 after ")
        alone(here)


@as_each
def test_a_branch_is_kept_if_it_is_wanted(user: int) -> None:
    with account(user) as here:
        here.new("box", "--capsule")

        told = previewed(here, "y=5; echo kept >file", "--keep")

        assert here.run(told["branch"], "echo $y; cat file") == "5\nkept\n"
        assert not (here.place / "home" / "file").exists()
        here.ask("end", told["branch"])


def test_what_never_ends_is_stopped_in_time() -> None:
    with account(os.getuid()) as here:
        here.new("box", "--capsule")

        told = previewed(here, "echo begun; sleep 600", "--timeout", "1")

        assert (told["ended"], told["exit"]) == (False, None)
        assert "begun" in told["output"]
        alone(here)


def test_hostile_names_and_floods_are_told_as_plain_text() -> None:
    with account(os.getuid()) as here:
        here.new("box", "--capsule")
        line = (
            r"touch $'a\e]0;x\ab' $'b\u202ec'; mkdir many; cd many;"
            " for i in $(seq 1500); do : >f$i; done;"
            " head -c 20000000 /dev/zero | tr '\\0' x; echo; echo $'\\e[2Jend'"
        )

        shown = here.ask("run", "--preview", "box", line)

        assert not [one for one in shown if one != "\n" and not one.isprintable()]
        assert r"a\x1b]0;x\x07b" in shown
        assert "b\\u202ec" in shown
        assert "more file" in shown
        assert len(shown) < 400_000
        alone(here)


def test_who_is_interrupted_discards_the_branch() -> None:
    for number in (signal.SIGINT, signal.SIGTERM):
        with account(os.getuid()) as here:
            here.new("box", "--capsule")
            asker = begin(here, "echo >begun; sleep 600")
            until = time.monotonic() + 30
            while len(json.loads(here.ask("ls", "--json"))["sessions"]) < 2:
                assert time.monotonic() < until
                time.sleep(0.05)

            asker.send_signal(number)

            asker.communicate(timeout=30)
            alone(here)


def test_who_is_killed_leaves_no_branch_for_long() -> None:
    with account(os.getuid()) as here:
        here.new("box", "--capsule")
        asker = begin(here, "echo >begun; sleep 600")
        until = time.monotonic() + 60
        while len(json.loads(here.ask("ls", "--json"))["sessions"]) < 2:
            assert time.monotonic() < until
            time.sleep(0.05)

        asker.kill()

        asker.communicate(timeout=30)
        while len(json.loads(here.ask("ls", "--json"))["sessions"]) > 1:
            assert time.monotonic() < until
            time.sleep(0.05)
        alone(here)


def test_a_plain_session_is_not_previewed() -> None:
    with account(os.getuid()) as here:
        here.new("box", "--plain")

        said = here.ask("run", "--preview", "box", "--", "touch", "made", status=64)

        assert "not in a capsule" in said
        assert not (here.place / "home" / "made").exists()


def test_options_that_mean_nothing_there_are_refused() -> None:
    with account(os.getuid()) as here:
        here.new("box", "--plain")

        here.ask("run", "--keep", "box", "--", "true", status=64)
        here.ask("run", "--preview", "--key", "k", "box", "--", "true", status=64)
