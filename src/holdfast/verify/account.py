"""A private account: sessions, keys and folders that nobody else uses."""

import contextlib
import json
import os
import pwd
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from holdfast.verify import processes
from holdfast.verify.processes import Process, process

PATIENCE = 30.0
"""Seconds for one command, or for one thing to come about; seldom needed."""

COMMAND = "HOLDFAST_VERIFY_COMMAND"
"""The command line to verify instead of our own; for tests of this package."""

PREFIX = "holdfast-verify-"

Facts = dict[str, Any]
Found = TypeVar("Found")


class BrokenOff(Exception):
    """An injection could not go on: something it relies on did not happen."""


class Unavailable(Exception):
    """An injection needs what this machine cannot do."""


@dataclass(frozen=True, slots=True)
class Said:
    """What one command printed, and its exit status."""

    status: int
    out: str
    err: str

    @property
    def facts(self) -> Facts:
        """Return the JSON that it printed last."""
        try:
            found = json.loads(self.out)
        except ValueError:
            found = json.loads(self.out.strip().splitlines()[-1])
        if not isinstance(found, dict):
            raise TypeError(self.out)
        return found

    @property
    def error(self) -> Facts:
        """Return the error that it printed as JSON; nothing if it did not."""
        for line in reversed(self.err.splitlines()):
            with contextlib.suppress(ValueError):
                found = json.loads(line)
                if isinstance(found, dict) and isinstance(found.get("error"), dict):
                    error: Facts = found["error"]
                    return error
        return {}

    @property
    def trouble(self) -> str:
        """Return the first sentence of what it complained about."""
        text = self.error.get("text") or self.err.strip() or self.out.strip()
        first = str(text).splitlines()[:1]
        return first[0].removeprefix("holdfast: ") if first else "it said nothing"


class Account:
    """Folders of its own, and the command line that works in them."""

    def __init__(self, place: Path) -> None:
        self.place = place
        self.home = place / "home"
        self.home.mkdir()
        given = os.environ.get(COMMAND)
        own = [sys.executable, "-P", "-m", "holdfast"]
        self.command = shlex.split(given) if given else own
        self._children: list[subprocess.Popen[bytes]] = []

    @property
    def mark(self) -> bytes:
        """Return the variable that every process of the account has."""
        return f"HOLDFAST_RUNTIME_DIR={self.place / 'run'}".encode()

    @property
    def variables(self) -> dict[str, str]:
        """Return what its programs are started with; nothing of the caller's."""
        return {
            "HOME": str(self.home),
            "HOLDFAST_RUNTIME_DIR": str(self.place / "run"),
            "HOLDFAST_STATE_DIR": str(self.place / "state"),
            "HOLDFAST_CONFIG_DIR": str(self.place / "config"),
            "HOLDFAST_DOZE_AFTER": "1",
            "PATH": "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin",
            "SHELL": shutil.which("bash") or "/bin/sh",
            "TERM": "xterm-256color",
            "LANG": "C.UTF-8",
            "USER": pwd.getpwuid(os.getuid()).pw_name,
        }

    def say(self, *words: str, by: str = "", patience: float = PATIENCE) -> Said:
        """Run the command line to its end, as ourselves or as another operator."""
        who = ["--as", by] if by else []
        child = self._spawn([*self.command, *who, *words])
        try:
            out, err = child.communicate(timeout=patience)
        except subprocess.TimeoutExpired as error:
            self.stop(child)
            shown = " ".join(words[:3])
            raise BrokenOff(f"`{shown}` took more than {patience:.0f} s") from error
        return Said(
            child.returncode, out.decode(errors="replace"), err.decode(errors="replace")
        )

    def do(self, *words: str, by: str = "", patience: float = PATIENCE) -> Said:
        """Run a command that must succeed."""
        said = self.say(*words, by=by, patience=patience)
        if said.status != 0:
            shown = " ".join(words[:3])
            raise BrokenOff(f"`{shown}` failed ({said.status}): {said.trouble}")
        return said

    def facts(self, *words: str, by: str = "") -> Facts:
        """Run a command that must succeed; return the JSON that it prints."""
        verb, *rest = words
        said = self.do(verb, "--json", *rest, by=by)
        try:
            return said.facts
        except (TypeError, ValueError, IndexError) as error:
            raise BrokenOff(f"`{verb}` printed no JSON") from error

    def start(self, *words: str, by: str = "") -> "subprocess.Popen[bytes]":
        """Start a command, and leave it running."""
        who = ["--as", by] if by else []
        return self._spawn([*self.command, *who, *words])

    def stop(self, child: "subprocess.Popen[bytes]") -> bytes:
        """Kill a command that was left running; return what it has printed."""
        with contextlib.suppress(OSError):
            os.killpg(child.pid, signal.SIGKILL)  # It leads a group of its own.
        with contextlib.suppress(subprocess.TimeoutExpired):
            return child.communicate(timeout=5)[0]
        return b""

    def new(self, name: str, *words: str) -> Process:
        """Start a session; return its leader."""
        made = self.facts("new", "--detach", "--name", name, *words)
        return self.leader(int(made["pid"]))

    def leader(self, pid: int) -> Process:
        """Return the living process of this pid."""
        found = process(pid)
        if found is None:
            raise BrokenOff(f"the session's leader {pid} is not running")
        return found

    def run(self, session: str, line: str, by: str = "") -> Facts:
        """Run a line in a session's shell, once that is at its prompt."""

        def done() -> Facts | None:
            said = self.say("run", session, "--json", "--", line, by=by)
            code = said.error.get("code")
            if said.status == 75 and code in ("not-at-prompt", "no-keeper"):  # noqa: PLR2004  # sysexits: later
                return None
            if not said.out.strip():
                raise BrokenOff(f"`run` failed ({said.status}): {said.trouble}")
            return said.facts

        return self.wait(f"{session} is at its prompt", done)

    def session(self, name: str) -> Facts | None:
        """Return what is told of a session, or None if it is not listed."""
        listed = self.facts("ls", "--all")["sessions"]
        return next((one for one in listed if one["name"] == name), None)

    def entries(self, name: str) -> list[Facts]:
        """Return a session's logbook."""
        lines = self.do("log", name, "--json").out.splitlines()
        return [json.loads(line) for line in lines]

    def operator(self, name: str, kind: str) -> str:
        """Make an operator; return its id."""
        self.do("operators", "add", name, "--kind", kind)
        known = self.facts("operators")["operators"]
        return next(str(one["actor"]) for one in known if one["name"] == name)

    def ability(self, name: str) -> str:
        """Return what keeps this machine from something, or '' if nothing does."""
        listed = self.say("doctor", "--json").facts["abilities"]
        found = next((one for one in listed if one["name"] == name), None)
        if found is None:
            return f"this version knows nothing of {name}"
        return "" if found["grade"] == "ok" else str(found["why"])

    def policy(self, text: str) -> None:
        """Put a policy in force."""
        self._configure("policy.toml", text)
        self.do("gate", "apply", "--yes")

    def settings(self, text: str) -> None:
        """Have these settings; the host reads them when it starts."""
        self._configure("config.toml", text)

    def wait(
        self,
        what: str,
        found: Callable[[], Found | None],
        patience: float = PATIENCE,
    ) -> Found:
        """Return what is found as soon as there is something."""
        result = self.soon(found, patience)
        if not result:
            raise BrokenOff(f"it never came to this: {what}")
        return result

    def soon(self, found: Callable[[], Found | None], patience: float) -> Found | None:
        """Return what is found as soon as there is something; None if nothing comes."""
        deadline = time.monotonic() + patience
        while True:
            result = found()
            if result or time.monotonic() > deadline:
                return result or None
            time.sleep(0.02)

    def kill(self, pid: int) -> None:
        """Kill one process of the account, as nothing can be killed harder."""
        if not processes.kill(pid, self.mark):
            raise BrokenOff(f"process {pid} is gone, or is not of this account")

    def kill_everything(self) -> int:
        """Kill all that runs in the account; return how many processes that were."""
        count = processes.kill_all(self.mark)
        self._collect()
        return count

    def close(self) -> None:
        """End all that runs in the account, and remove its folders."""
        with contextlib.suppress(BrokenOff, OSError):
            self.say("down", "--end-sessions", patience=10)
        sweep(self.place)
        self._collect()

    def _configure(self, name: str, text: str) -> None:
        folder = self.place / "config"
        folder.mkdir(mode=0o700, exist_ok=True)
        (folder / name).write_text(text)

    def _collect(self) -> None:
        for child in self._children:
            with contextlib.suppress(subprocess.TimeoutExpired):
                child.communicate(timeout=1)
        self._children = [one for one in self._children if not _is_over(one)]

    def _spawn(self, words: list[str]) -> "subprocess.Popen[bytes]":
        # A session of its own: Ctrl-C at our terminal is for us alone.
        child = subprocess.Popen(  # noqa: S603  # our own command line
            words,
            env=self.variables,
            cwd=self.home,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )
        self._children = [one for one in self._children if not _is_over(one)]
        self._children.append(child)
        return child


def _is_over(child: "subprocess.Popen[bytes]") -> bool:
    """Tell whether a child has ended, and all that it said was read."""
    pipes = (child.stdout, child.stderr)
    return child.returncode is not None and all(
        one is None or one.closed for one in pipes
    )


def sweep(place: Path) -> None:
    """Kill what bears the mark of an account, and remove its folders."""
    processes.kill_all(f"HOLDFAST_RUNTIME_DIR={place / 'run'}".encode())
    shutil.rmtree(place, ignore_errors=True)


@contextlib.contextmanager
def account() -> Iterator[Account]:
    """Make an account; whatever happens, leave nothing of it.

    A janitor stands by for the case that this process is killed: when the pipe to it
    closes, it clears away what is left.
    """
    place = Path(tempfile.mkdtemp(prefix=PREFIX))
    janitor = subprocess.Popen(  # noqa: S603  # our own module
        [sys.executable, "-P", "-m", "holdfast.verify.janitor", str(place)],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        made = Account(place)
        try:
            yield made
        finally:
            made.close()
    finally:
        janitor.communicate()


@contextlib.contextmanager
def ends_by_signal() -> Iterator[None]:
    """Have SIGTERM and SIGHUP end the work as Ctrl-C does: with everything cleared."""

    def end(number: int, _frame: object) -> None:
        raise SystemExit(128 + number)

    numbers = (signal.SIGTERM, signal.SIGHUP)
    before = [signal.signal(number, end) for number in numbers]
    try:
        yield
    finally:
        for number, old in zip(numbers, before, strict=True):
            signal.signal(number, old)
