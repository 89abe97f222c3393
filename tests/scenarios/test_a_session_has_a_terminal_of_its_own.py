"""What sessions are told of their terminal, how much they keep, and what that costs."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.scenarios.support import Machine, eventually, machine

from holdfast.linux.stored import folders
from holdfast.model.ids import SessionId

MAKER = {
    "TERM": "tmux-256color",
    "TMUX": "/tmp/tmux-0/default,1,0",  # noqa: S108  # no file is meant
    "TMUX_PANE": "%1",
    "STY": "1.pts-0.box",
    "WINDOW": "0",
    "COLORTERM": "truecolor",
    "PATH": "/usr/bin:/bin",
}
"""What somebody has who starts a session inside tmux inside screen."""


@pytest.fixture
def here() -> Iterator[Machine]:
    with machine() as made:
        yield made


def holdfast(*words: str, **env: str) -> str:
    done = subprocess.run(
        [sys.executable, "-m", "holdfast", *words],
        env={**os.environ, **env},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def made(*words: str, **env: str) -> SessionId:
    told = json.loads(holdfast("new", "--detach", "--json", *words, **env))
    return SessionId(told["id"])


def told(file: Path, *words: str) -> dict[str, str]:
    """Return the environment of a new session's command."""
    whole = f"env -0 > {file}.new && mv {file}.new {file}"
    made(*words, "--", "sh", "-c", whole, **MAKER)
    eventually("it has told", file.exists)
    lines = [line for line in file.read_text("utf-8").split("\0") if line]
    return dict(line.split("=", 1) for line in lines)


def config(text: str) -> None:
    Path(folders.owned(folders.config_path()), "config.toml").write_text(text)


@pytest.mark.usefixtures("here")
def test_a_session_is_told_of_no_terminal_but_its_own(tmp_path: Path) -> None:
    found = told(tmp_path / "env")

    assert found["TERM"] == "xterm-256color"
    assert found["COLORTERM"] == "truecolor"
    assert not {"TMUX", "TMUX_PANE", "STY", "WINDOW"} & {*found}


@pytest.mark.usefixtures("here")
def test_the_settings_and_then_the_command_line_say_which_terminal(
    tmp_path: Path,
) -> None:
    config('term = "vt100"\n')

    assert told(tmp_path / "one")["TERM"] == "vt100"
    assert told(tmp_path / "two", "--env", "TERM=xterm")["TERM"] == "xterm"
    config('term = "no-such-terminal"\n')
    assert told(tmp_path / "three")["TERM"] == "xterm-256color"


@pytest.mark.usefixtures("here")
def test_holdfast_is_found_inside_a_session(tmp_path: Path) -> None:
    said = tmp_path / "said"
    whole = f"holdfast --version > {said}.new && mv {said}.new {said}"
    made("--", "sh", "-c", whole, **MAKER)

    assert eventually("it ran", lambda: said.exists() and said.read_text())


def test_as_much_is_kept_as_is_asked_for_and_only_what_is_printed_costs(
    here: Machine,
) -> None:
    config('window = "2M"\n')
    flood = "head -c 3500000 /dev/zero | tr '\\0' x; exec sleep 600"
    usual = made("--", "sh", "-c", flood)
    large = made("--window", "64M", "--", "sh", "-c", flood)
    idle = made("--window", "256M", "--", "sleep", "600")

    def kept(session: SessionId) -> int:
        return len(holdfast("read", session))

    eventually("all is printed", lambda: kept(large) >= 3_500_000)
    # What was just read is made room for in whole pieces.
    least, most = (2 << 20) - (256 << 10), (2 << 20) + 256
    eventually("the end is kept", lambda: least <= kept(usual) <= most)
    size, used = memory_of(here, idle)
    assert size >= 256 << 20
    assert used <= 64 << 10
    assert memory_of(here, large)[1] <= 4 << 20


def memory_of(here: Machine, session: SessionId) -> tuple[int, int]:
    """Return size and used bytes of the memory that outlives a session's holder."""
    folder = Path(f"/proc/{here.pid('holder', session)}/fd")
    for fd in folder.iterdir():
        if str(fd.readlink()).startswith(f"/memfd:{session}"):
            found = fd.stat()
            return found.st_size, found.st_blocks * 512
    raise AssertionError("it has none")


def test_a_window_survives_its_holder_and_a_nap(here: Machine) -> None:
    session = made("--window", "4M", "--", "sh", "-c", "echo kept; exec sleep 600")
    eventually("it is printed", lambda: "kept" in holdfast("read", session))

    here.replace_holder(session)

    assert "kept" in holdfast("read", session)
    assert memory_of(here, session)[0] >= 4 << 20


@pytest.mark.usefixtures("here")
@pytest.mark.parametrize("size", ["1K", "257M", "x", ""])
def test_a_window_that_cannot_be_is_refused(size: str) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "holdfast", "new", "--detach", "--window", size],
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.returncode == 64
    assert "a size from 1M to 256M, such as 16M" in done.stderr
