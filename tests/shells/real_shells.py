"""The real shells, and what they ran: programs that write down how they were called.

A line is run where every program on the PATH is a *marker*, which appends its name,
its folder and its words to a log and does nothing else. What was logged, and which
files were made or emptied, is then held against what was read in the line.
"""

import os
import re
import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from holdfast.core.shell.command_line import read_line
from holdfast.core.shell.open_words import ANYTHING, OpenWord
from holdfast.core.shell.shell_grammar import KNOWN, Grammar
from holdfast.core.shell.simple_command import Command

MARKER = """#!/bin/dash
printf '%s\\0' "${0##*/}" "$(pwd -P)" "$#" "$@" >> "$MARKS"
"""
NAMES = (
    *("rm", "git", "make", "put", "cat", "sync", "x72m", "wc", "mkfs.ext4"),
    *("env", "sudo", "touch", "if2", "ab", "ac", "seq", "head", "[x"),
)
"""The programs that there are; whatever a shell looks for is one of these."""

FILES = ("a.py", "b c.py", "-rf.py", "list", "src/d.py", "src/lib/e.py")
"""What is in the folder of every line."""

PROGRAMS: dict[Grammar, list[str]] = {
    Grammar.BASH: ["bash", "--norc", "--noprofile"],
    Grammar.ZSH: ["zsh", "-f"],
    Grammar.FISH: ["fish", "--no-config"],
    Grammar.DASH: ["dash"],
}
CONTENT = "a b\nrm x\n"
SECONDS = 20


@dataclass(frozen=True)
class Run:
    """One program that was run."""

    name: str
    folder: str
    """Where, from the folder of the line; absolute if that is elsewhere."""

    words: tuple[str, ...]


@dataclass(frozen=True)
class Happened:
    """What became of a line."""

    runs: tuple[Run, ...]
    written: frozenset[str]
    """Files that are new, or have other content."""


def be_used_by_fish(home: Path) -> None:
    """Let a home be one in which fish has run before.

    At its first start it reads all manuals, beside the shell and in its group of
    processes: that takes half a minute of a processor, and the shell seems busy.
    """
    done = home / ".local/share/fish/generated_completions"
    done.mkdir(parents=True, exist_ok=True)


class World:
    """A folder for each line, and the markers."""

    def __init__(self, root: Path) -> None:
        self.root = root.resolve()
        self._count = 0
        self.programs = self.root / "bin"
        self.programs.mkdir()
        (self.root / "home").mkdir()
        be_used_by_fish(self.root / "home")
        (self.root / "marker").write_text(MARKER)
        (self.root / "marker").chmod(0o755)
        for name in NAMES:
            (self.programs / name).symlink_to(self.root / "marker")

    def folder(self) -> Path:
        """Make the folder of one line."""
        self._count += 1
        folder = self.root / f"line-{self._count}"
        for name in FILES:
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_text(CONTENT)
        return folder

    def environment(self, log: Path) -> dict[str, str]:
        """Return what a shell is told."""
        return {
            "PATH": str(self.programs),
            "HOME": str(self.root / "home"),
            "MARKS": str(log),
            "TERM": "dumb",
            "LC_ALL": "C.UTF-8",
            "OPEN": "one two",
            "DASHED": "-rf x",
        }

    def run(self, line: str, grammar: Grammar) -> Happened:
        """Run a line in a shell that was started for it."""
        folder = self.folder()
        log = folder.with_suffix(".log")
        program, *options = PROGRAMS[grammar]
        typed = line.replace("\r", "\n")  # That is what a terminal makes of it.
        subprocess.run(
            [f"/usr/bin/{program}", *options, "-c", typed],
            cwd=folder,
            env=self.environment(log),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            timeout=SECONDS,
            check=False,
        )
        return happened(folder, log)


def happened(folder: Path, log: Path) -> Happened:
    """Read what became of the line of a folder."""
    raw = log.read_bytes() if log.exists() else b""
    runs = tuple(_runs(raw.decode("utf-8", "surrogateescape").split("\0"), folder))
    written = {
        str(path.relative_to(folder))
        for path in folder.rglob("*")
        if path.is_file() and not _is_as_it_was(path, folder)
    }
    return Happened(runs, frozenset(written))


def _is_as_it_was(path: Path, folder: Path) -> bool:
    return (
        str(path.relative_to(folder)) in FILES and path.read_bytes().decode() == CONTENT
    )


def _runs(fields: list[str], folder: Path) -> Iterator[Run]:
    place = 0
    while place + 3 <= len(fields) - 1:
        name, where, count = fields[place : place + 3]
        words = fields[place + 3 : place + 3 + int(count)]
        place += 3 + int(count)
        relative = os.path.relpath(where, folder)
        inside = not relative.startswith("..")
        yield Run(name, relative if inside else where, tuple(words))


# ── what was said, against what happened ──────────────────────────────────────


def said(line: str, grammar: Grammar) -> tuple[Command, ...] | None:
    """Return how a line is read; None if it cannot be."""
    commands = read_line(line.encode("utf-8", "surrogatepass"), grammar, ended=True)
    return None if commands[0].doubt else commands


def complaint(commands: Sequence[Command], real: Happened) -> str:
    """Return what happened and was not said; empty if there is nothing."""
    for run in real.runs:
        if not any(_is_said(run, command) for command in commands):
            return f"nobody said that it runs {run}"
    for path in sorted(real.written):
        if not any(_is_written(path, command) for command in commands):
            return f"nobody said that it writes {path}"
    return ""


def _is_said(run: Run, command: Command) -> bool:
    if command.folders and not any(
        os.path.normpath(folder or ".") == run.folder for folder in command.folders
    ):
        return False
    if command.hides:
        return True
    opens = command.opens or (None,) * len(command.words)
    words = [
        _pattern(word, may) for word, may in zip(command.words, opens, strict=True)
    ]
    given = "".join(f"{one}\0" for one in (run.name, *run.words))
    starts = range(len(words)) if command.carries else range(1)
    return any(
        re.fullmatch("".join(words[start:]), given, re.DOTALL) for start in starts
    )


def _pattern(word: str | None, may: OpenWord | None) -> str:
    if word is not None:
        return f"(?:{re.escape(word)})\0"
    shape = may or ANYTHING
    inside = "[^\0]*" if shape.has_slash else "[^\0/]*"
    one = f"(?:{re.escape(shape.head)}{inside}{re.escape(shape.tail)}\0)"
    return one if shape.is_one else f"{one}*"


def _is_written(path: str, command: Command) -> bool:
    for one in command.redirections:
        if not one.writes:
            continue
        if one.target is None or not command.folders:
            return True
        paths = {
            os.path.normpath(f"{at or '.'}/{one.target}") for at in command.folders
        }
        if path in paths:
            return True
    return command.hides


def installed() -> tuple[Grammar, ...]:
    """Return the shells to run; each has to be there (tools/system-packages)."""
    missing = [one for one in KNOWN if not Path(f"/usr/bin/{one}").exists()]
    assert not missing, f"not installed: {missing}; run tools/system-packages"
    return KNOWN
