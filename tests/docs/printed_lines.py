"""Runs what a page prints, as it is printed, on an account that has nothing yet.

Blocks marked `sh` are run in the order of the page, in one shell, line by line. A line
must succeed, unless it says `# exits with N`. A line that never ends by itself is
interrupted once it has run for a moment, as a reader would do. A line that attaches, or
says `# waits`, gets a terminal of its own, and the next line is run once it has printed
something.

A block without a language shows what is printed. `unseen` finds the lines of such
blocks that were not; ids, numbers, times and the reader's own name may differ. A block
after "Save this as" is a file of the reader's.
"""

import os
import pwd
import re
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.scenarios.leftovers import end_everything

ROOT = Path(__file__).parents[2]
BLOCK = re.compile(r"^```sh\n(.*?)^```", re.MULTILINE | re.DOTALL)
ENDLESS = re.compile(
    r"holdfast (--as \S+ )?(watch|relay(?! --unit)|mcp --http|log \S+ --follow)\b"
)
APART = re.compile(r"holdfast (--as \S+ )?attach (?!--help)|.*# waits")
SHOWN = re.compile(r"^```\n(.*?)^```|^```\w+\n.*?^```", re.MULTILINE | re.DOTALL)
SAVED = re.compile(
    r"^Save this as `~/([^`]+)`:\n\n```\w*\n(.*?)^```", re.MULTILINE | re.DOTALL
)
READER = "ann"
"""How pages call the person who reads them, by the name of the account."""

VARYING = [
    (re.compile(r"\bs_[a-z2-7]{16}\b"), "ID"),
    (re.compile(r"\b[a-z2-7]{4}(-[a-z2-7]{4}){3}\b"), "FINGERPRINT"),
    (re.compile(r"(?<=, )[a-z2-7]{8}(?=\))"), "FINGERPRINT"),
    (re.compile(r"\b[0-9a-f]{12,64}\b"), "HASH"),
    (re.compile(r"\b(just )?now\b|\b\d+ ?[smhd]( ago)?\b"), "AGE"),
    (re.compile(r"\d+(\.\d+)?"), "N"),
    (re.compile(r"\s+"), " "),
]
"""What differs from one run of a page to the next."""

STATUS = re.compile(r"# exits with (\d+)")
PATIENCE = 120.0
"""Seconds for all lines of a page."""

A_MOMENT = 3.0
"""Seconds that a line without an end has to fail in."""


@dataclass(frozen=True)
class Line:
    """A line of a page, and how it should end."""

    text: str
    status: int

    @property
    def is_endless(self) -> bool:
        """Whether it runs until somebody stops it."""
        return ENDLESS.match(self.text) is not None


def lines_of(page: str) -> list[Line]:
    """Return what a page has its readers run."""
    found: list[Line] = []
    for block in BLOCK.findall(page):
        for text in block.replace("\\\n", "").splitlines():
            if text.strip():
                said = STATUS.search(text)
                found.append(Line(text, int(said[1]) if said else 0))
    return found


def unseen(page: str, printed: str) -> list[str]:
    """Return the lines that a page shows and that were not printed."""
    login = re.compile(rf"\b{re.escape(pwd.getpwuid(os.getuid()).pw_name)}\b")
    # Not in which order: two programs print at once, and one on two streams.
    told = {_plain(login.sub(READER, line)) for line in printed.splitlines()}
    shown = [line for block in SHOWN.findall(page) for line in block.splitlines()]
    return [line for line in shown if line.strip("… ") and _plain(line) not in told]


def _plain(line: str) -> str:
    for varying, name in VARYING:
        line = varying.sub(name, line)
    return line.strip()


def script(lines: list[Line]) -> str:
    """Return a script that runs the lines, and stops at the first that ends wrongly."""
    parts = []
    for line in lines:
        parts.append(f"echo {_quoted('+ ' + line.text)}")
        if APART.match(line.text):
            opened = f"{sys.executable} -m tests.docs.terminal {_quoted(line.text)}"
            parts.append(f"PYTHONPATH={ROOT} {opened} || exit 92")
        elif line.is_endless:
            # In a group of its own: the interrupt is for it, as from a terminal.
            parts.append(f"timeout --signal=INT {A_MOMENT} {line.text}")
            parts.append("s=$?; [ $s = 124 ] || [ $s = 0 ] || exit 90")
        else:
            parts.append(f"{line.text}\ns=$?; [ $s = {line.status} ] || exit 91")
    return "\n".join(parts) + "\n"


@dataclass(frozen=True)
class Account:
    """A home with a project in it, and nothing of holdfast's."""

    home: Path

    def save(self, page: str) -> None:
        """Write the files that a page has its readers save."""
        for name, text in SAVED.findall(page):
            (self.home / name).write_text(text, "utf-8")

    def run(self, lines: list[Line]) -> "subprocess.CompletedProcess[str]":
        """Run lines in the project."""
        clean = {
            "HOME": str(self.home),
            "PATH": f"{Path(sys.executable).parent}:/usr/local/bin:/usr/bin:/bin",
            "TERM": "xterm-256color",
            "LANG": "C.UTF-8",
            "SHELL": "/bin/bash",
        }
        with subprocess.Popen(
            ["bash", "-c", script(lines)],  # noqa: S607
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            env=clean,
            cwd=self.home / "shop",
            start_new_session=True,
        ) as shell:
            try:
                told, _ = shell.communicate(timeout=PATIENCE)
            except subprocess.TimeoutExpired:
                os.killpg(shell.pid, signal.SIGKILL)
                told, _ = shell.communicate()
                told += f"\n(still running after {PATIENCE:.0f} s)"
        return subprocess.CompletedProcess("bash", shell.returncode, told)


@contextmanager
def account() -> Iterator[Account]:
    """Make an account; what it has started is ended with it."""
    with tempfile.TemporaryDirectory(prefix="hfd", ignore_cleanup_errors=True) as name:
        home = Path(name)
        (home / "holdfast").symlink_to(ROOT)
        _make_project(home / "shop")
        somebody = Account(home)
        try:
            yield somebody
        finally:
            somebody.run([Line("holdfast down --end-sessions", 0)])
            end_everything(str(home), "HOME")


def _make_project(folder: Path) -> None:
    (folder / "src").mkdir(parents=True)
    for place in (folder, folder / "src"):
        (place / "Makefile").write_text("all test:\n\t@echo $@: done\n")
    for name in ("deploy", "on-state"):
        (folder / name).write_text("#!/bin/sh\necho $0\n")
        (folder / name).chmod(0o755)
    hook = folder.parent / "bin/on-session"
    hook.parent.mkdir()
    hook.write_text("#!/bin/sh\n")
    hook.chmod(0o755)


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "'\\''") + "'"
