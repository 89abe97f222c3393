"""A branch that was made to try something out, and what discards it."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from holdfast.client import trial_guard

MAKER = """
import sys, time
from holdfast.client import trial_guard
say = ["/bin/sh", "-c", 'echo "$*" > ' + sys.argv[1]]
trial_guard.own_program = lambda *words: [*say, *words]
with trial_guard.guarded("web-try-1"):
    print("made", flush=True)
    time.sleep(float(sys.argv[2]))
"""


def maker(told: Path, seconds: str) -> "subprocess.Popen[bytes]":
    words = [sys.executable, "-c", MAKER, str(told), seconds]
    made = subprocess.Popen(words, stdout=subprocess.PIPE, start_new_session=True)
    assert made.stdout is not None
    assert made.stdout.readline() == b"made\n"
    return made


def test_a_maker_that_is_killed_leaves_somebody_who_discards(tmp_path: Path) -> None:
    told = tmp_path / "told"
    with maker(told, "600") as made:
        os.killpg(made.pid, signal.SIGKILL)
    until = time.monotonic() + 20

    while not told.exists() or not told.read_text():
        assert time.monotonic() < until
        time.sleep(0.01)

    assert told.read_text() == "--discard --force web-try-1\n"


def test_a_maker_that_is_done_discards_itself(tmp_path: Path) -> None:
    told = tmp_path / "told"
    with maker(told, "0") as made:
        assert made.wait(20) == 0

    assert not told.exists()


def test_the_guard_does_what_we_do_in_our_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    words = ["/bin/sh", "-c", f'echo "$HOLDFAST_AS" > {tmp_path}/as']
    monkeypatch.setattr(trial_guard, "own_program", lambda *_: words)
    monkeypatch.setenv("HOLDFAST_AS", "bot")
    monkeypatch.setattr(subprocess.Popen, "communicate", hang_up)

    with trial_guard.guarded("web-try-1"):
        pass

    assert (tmp_path / "as").read_text() == "bot\n"


def hang_up(self: "subprocess.Popen[bytes]", *_: object) -> None:
    """End as somebody does who was killed."""
    assert self.stdin is not None
    self.stdin.close()
