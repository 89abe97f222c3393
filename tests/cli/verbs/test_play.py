"""Playing a recording: to a pipe, to a terminal with keys, and from a stranger."""

import contextlib
import json
import os
import pty
import select
import subprocess
import sys
from pathlib import Path

import pytest
from tests.scenarios.support import PATIENCE

from holdfast.cli.main import main
from holdfast.cli.verbs import play

HEADER = {"version": 3, "term": {"cols": 80, "rows": 24}}
LONG = 100_000.0


def cast(path: Path, *events: tuple[float, str, str]) -> Path:
    lines = [HEADER, *map(list, events)]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


def test_everything_that_was_printed_comes_out_in_order(
    tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    file = cast(
        tmp_path / "a.cast",
        (0.0, "o", "one\r\n"),
        (5.0, "r", "90x30"),
        (LONG, "m", "make"),
        (0.1, "o", "two\r\n"),
        (0.0, "x", "0"),
    )

    assert main(["play", "--speed", "1000", "--idle-limit", "1", str(file)]) == 0
    assert capfdbinary.readouterr().out == b"one\r\ntwo\r\n"


def test_a_query_in_a_recording_does_not_reach_the_terminal(
    tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    file = cast(tmp_path / "a.cast", (0.0, "o", "a\x1b[c\x1b[6n\x1b]52;c;?\x07b"))

    assert main(["play", str(file)]) == 0
    assert capfdbinary.readouterr().out == b"ab"


@pytest.mark.parametrize("text", ["", "junk\n", '{"version": 2}\n'])
def test_what_is_no_recording_is_refused(
    text: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "a.cast").write_text(text)

    assert main(["play", str(tmp_path / "a.cast")]) == 64
    assert "line 1" in capsys.readouterr().err


@pytest.mark.parametrize(
    "words", [["--speed", "0"], ["--speed", "nan"], ["--idle-limit", "-1"]]
)
def test_a_speed_or_limit_that_cannot_be_is_refused(
    words: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = cast(tmp_path / "a.cast", (0.0, "o", "x"))

    assert main(["play", *words, str(file)]) == 64
    assert main(["play", str(tmp_path / "none.cast")]) == 64
    assert capsys.readouterr().out == ""


class Watched:
    """A player on a terminal of its own."""

    def __init__(self, file: Path) -> None:
        self._master, slave = pty.openpty()
        words = [sys.executable, "-P", "-m", "holdfast", "play", str(file)]
        self.process = subprocess.Popen(  # our own
            words, stdin=slave, stdout=slave, stderr=subprocess.DEVNULL
        )
        os.close(slave)
        self._seen = b""

    def press(self, key: bytes) -> None:
        os.write(self._master, key)

    def wait(self, text: bytes) -> None:
        while text not in self._seen:
            assert select.select([self._master], [], [], PATIENCE)[0], self._seen
            self._seen += os.read(self._master, 4096)

    def close(self) -> int:
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.process.wait(PATIENCE)
        self.process.kill()
        self.process.wait()
        os.close(self._master)
        return self.process.returncode


def test_keys_step_jump_and_leave(tmp_path: Path) -> None:
    file = cast(
        tmp_path / "a.cast",
        (0.0, "o", "first"),
        (LONG, "o", "second"),
        (LONG, "o", "third"),
        (LONG, "m", "make"),
        (LONG, "o", "fourth"),
    )
    watched = Watched(file)
    watched.wait(b"first")
    watched.press(play.PAUSE + play.STEP)
    watched.wait(b"second")
    watched.press(play.JUMP)
    watched.wait(b"third")
    watched.press(b"q")

    assert watched.close() == 0
