"""An account with sessions of its own, of root or of an ordinary user."""

import contextlib
import glob
import json
import os
import pwd
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

HOLDFAST = Path(sys.executable).parent / "holdfast"
PATIENCE = 60
NOBODY = 65534

USERS = [0, NOBODY] if os.getuid() == 0 else [os.getuid()]

MOUNTING = "/srv"
"""Where those who mount something have their accounts."""

as_each = pytest.mark.parametrize("user", USERS)
"""As root and as an ordinary user; or as the user who runs the tests."""


@dataclass(frozen=True)
class Account:
    """A user, with folders that nobody else uses."""

    user: int
    place: Path

    @property
    def variables(self) -> dict[str, str]:
        """What its programs are started with."""
        return {
            "HOME": str(self.place / "home"),
            "HOLDFAST_RUNTIME_DIR": str(self.place / "run"),
            "HOLDFAST_CONFIG_DIR": str(self.place / "config"),
            "PATH": f"{HOLDFAST.parent}:/usr/local/bin:/usr/bin:/bin",
            "SHELL": "/bin/bash",
            "TERM": "xterm-256color",
            "LANG": "C.UTF-8",
            "HOLDFAST_DOZE_AFTER": "1",
            "USER": pwd.getpwuid(self.user).pw_name,
        }

    @property
    def identity(self) -> dict[str, Any]:
        """What makes a process that is started one of its own."""
        if self.user == os.getuid():
            return {}
        return {"user": self.user, "group": self.user, "extra_groups": []}

    def ask(self, *words: str, status: int | None = 0) -> str:
        """Run the command line; return what it prints, errors too."""
        done = subprocess.run(
            [HOLDFAST, *words],
            env=self.variables,
            cwd=self.place / "home",
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=PATIENCE,
            check=False,
            **self.identity,
        )
        assert status is None or done.returncode == status, done.stdout
        said: str = done.stdout
        return said

    def new(self, name: str, *words: str) -> str:
        """Start a session; return its id. Skip where there can be no capsule."""
        said = self.ask("new", "-d", "--json", "-n", name, *words, status=None)
        if "no capsule can be made here" in said and "not permitted" in said:
            pytest.skip(said)
        *_, facts = said.strip().splitlines()
        assert '"id"' in facts, said
        return str(json.loads(facts)["id"])

    def facts(self, name: str) -> dict[str, Any]:
        """Return what is told of a session."""
        listed = json.loads(self.ask("ls", "--json", "--all"))["sessions"]
        found: dict[str, Any] = next(one for one in listed if one["name"] == name)
        return found

    def run(self, session: str, line: str, status: int | None = 0) -> str:
        """Run a command in a session; return what it prints."""
        return self.ask("run", session, "--", line, status=status)

    def python(self, text: str) -> str:
        """Run a program that uses the SDK; return what it prints."""
        done = subprocess.run(
            [HOLDFAST.parent / "python", "-c", text],
            env=self.variables,
            cwd=self.place / "home",
            capture_output=True,
            text=True,
            timeout=PATIENCE,
            check=False,
            **self.identity,
        )
        assert done.returncode == 0, done.stderr
        said: str = done.stdout
        return said

    def found(self, pattern: str) -> list[str]:
        """Return what there is of this form among what holdfast keeps here.

        Others come and go meanwhile, and `Path.glob` would stumble over one.
        """
        return glob.glob(f"{self.place}/run/state/{pattern}")  # noqa: PTH207  # see above

    def ours(self) -> list[int]:
        """Return the processes that hold this account's sessions."""
        mark = f"HOLDFAST_RUNTIME_DIR={self.place / 'run'}".encode()
        found = []
        for folder in Path("/proc").iterdir():
            with contextlib.suppress(OSError):
                variables = (folder / "environ").read_bytes().split(b"\0")
                if mark in variables and _is_python(folder):
                    found.append(int(folder.name))
        return found


def _is_python(folder: Path) -> bool:
    words = (folder / "cmdline").read_bytes()
    return b"holdfast.keeper" in words or b"holdfast.holder.nursery" in words


def space_of(pid: int) -> int:
    """Return the pid namespace of a process."""
    return Path(f"/proc/{pid}/ns/pid").stat().st_ino


def inside(space: int) -> list[int]:
    """Return the processes that are in a pid namespace."""
    found = []
    for folder in Path("/proc").iterdir():
        with contextlib.suppress(OSError):
            if folder.name.isdigit() and space_of(int(folder.name)) == space:
                found.append(int(folder.name))
    return found


@contextlib.contextmanager
def account(user: int, where: str | None = None) -> Iterator[Account]:
    """Make an account; end everything of it at the end.

    Who mounts something in it says `where`: in /tmp it would be in the way of users
    who have files of their own, and whose overlays lie there.
    """
    with tempfile.TemporaryDirectory(
        prefix="hfc", dir=where, ignore_cleanup_errors=True
    ) as name:
        place = Path(name)
        (place / "home").mkdir()
        if user != os.getuid():
            for one in (place, place / "home"):
                os.chown(one, user, user)
        made = Account(user, place)
        try:
            yield made
        finally:
            made.ask("down", "--end-sessions", status=None)
            for pid in made.ours():
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
            shutil.rmtree(place, ignore_errors=True)
