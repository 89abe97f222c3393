"""Negative controls: tmux, screen and a bare shell under the same injections."""

import shutil
import subprocess
import time
from pathlib import Path

from holdfast.verify.account import Account, BrokenOff, account
from holdfast.verify.finding import Control
from holdfast.verify.processes import Process, parent, process
from holdfast.verify.terminal import Terminal
from holdfast.verify.workloads import PYTHON, lines_read, reading, ticking, ticks

CLIENT = "client killed"
SERVER = "server killed"
UPGRADE = "new version"
WRITERS = "two writers"
RECORD = "who typed it"
INJECTIONS = (CLIENT, SERVER, UPGRADE, WRITERS, RECORD)

WAIT = 0.4
"""Seconds in which a living program ticks many times."""

_EMULATOR = "import pty, sys; pty.spawn(sys.argv[1:])"
_NOTED = 'echo $$ > "$0"; exec "$@"'
"""Writes down its pid, which is that of the program then."""


class _Subject:
    """A program to compare with: how it is started, attached to and restarted."""

    name = ""

    def __init__(self, made: Account) -> None:
        self.account = made
        self.count = 0

    def argv(self, words: list[str], pid: Path) -> list[str]:
        """Return the words of a program that leaves its pid in a file."""
        return ["/bin/sh", "-c", _NOTED, str(pid), *words[1:]]

    def begin(self, words: list[str]) -> None:
        """Start a session with a program."""
        raise NotImplementedError

    def attach(self) -> Terminal | None:
        """Attach to it; None if nobody else can."""
        raise NotImplementedError

    def restart(self) -> bool:
        """Restart it as a new version would need; False if there is no server."""
        raise NotImplementedError

    def record(self) -> str:
        """Return all that it can tell about who did what."""
        raise NotImplementedError

    def tool(self, *words: str) -> str:
        """Run its own command."""
        done = subprocess.run(  # noqa: S603  # tmux or screen, with our own socket
            [shutil.which(self.name) or self.name, *words],
            env={**self.account.variables, "SCREENDIR": str(self.account.home / "scr")},
            cwd=self.account.home,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=10,
            check=False,
        )
        return done.stdout.decode(errors="replace")


class _Tmux(_Subject):
    name = "tmux"

    def _words(self, *words: str) -> list[str]:
        return ["-S", str(self.account.home / f"tmux-{self.count}"), *words]

    def begin(self, words: list[str]) -> None:
        self.count += 1
        self.tool(*self._words("-f", "/dev/null", "new-session", "-d", *words))

    def attach(self) -> Terminal:
        return Terminal(self.account, [self.name, *self._words("attach")])

    def restart(self) -> bool:
        self.tool(*self._words("kill-server"))
        self.tool(*self._words("-f", "/dev/null", "new-session", "-d"))
        return True

    def record(self) -> str:
        return self.tool(*self._words("show-messages"))


class _Screen(_Subject):
    name = "screen"

    def begin(self, words: list[str]) -> None:
        self.count += 1
        folder = self.account.home / "scr"
        folder.mkdir(mode=0o700, exist_ok=True)
        self.tool("-dmS", f"s{self.count}", *words)

    def attach(self) -> Terminal:
        folder = f"SCREENDIR={self.account.home / 'scr'}"
        words = ["env", folder, self.name, "-x", f"s{self.count}"]
        return Terminal(self.account, words)

    def restart(self) -> bool:
        self.tool("-S", f"s{self.count}", "-X", "quit")
        return True

    def record(self) -> str:
        return self.tool("-S", f"s{self.count}", "-Q", "lastmsg")


class _Shell(_Subject):
    name = "bare shell"

    def begin(self, words: list[str]) -> None:
        emulator = [PYTHON[0], "-c", _EMULATOR, *words]
        self.emulator = Terminal(self.account, emulator)

    def attach(self) -> Terminal | None:
        return None

    def restart(self) -> bool:
        return False

    def record(self) -> str:
        return ""


def observe() -> tuple[Control, ...]:
    """Return what each program keeps and loses; what is not installed says so."""
    found: list[Control] = []
    for subject in (_Tmux, _Screen, _Shell):
        if subject is not _Shell and shutil.which(subject.name) is None:
            why = f"{subject.name} is not installed"
            found += [Control(subject.name, one, None, why) for one in INJECTIONS]
            continue
        with account() as made:
            found += _observed(subject(made))
    return tuple(found)


def _observed(subject: _Subject) -> list[Control]:
    trials = (_client, _server, _upgrade, _writers, _record)
    found = []
    for injection, trial in zip(INJECTIONS, trials, strict=True):
        try:
            survived, seen = trial(subject)
        except (BrokenOff, OSError, subprocess.TimeoutExpired) as error:
            survived, seen = None, f"could not be tried: {error}"
        found.append(Control(subject.name, injection, survived, seen))
    return found


def _begun(subject: _Subject, what: str) -> tuple[Process, Path]:
    """Start a program in a session; return it, and its file."""
    made = subject.account
    file = made.home / f"{what}-{time.monotonic_ns()}"
    pid = made.home / f"{file.name}.pid"
    words = ticking(file) if what == "ticks" else reading(file)
    subject.begin(subject.argv(words, pid))
    made.wait(f"{subject.name} has started it", file.exists)
    return made.leader(int(pid.read_text())), file


def _goes_on(leader: Process, file: Path) -> tuple[bool, str]:
    time.sleep(WAIT)
    before = ticks(file)[0]
    time.sleep(WAIT)
    after = ticks(file)[0]
    if process(leader.pid) == leader and after > before:
        return True, f"process {leader} ticks on: {before}, then {after}"
    return False, f"process {leader} is gone after tick {after}"


def _client(subject: _Subject) -> tuple[bool | None, str]:
    leader, file = _begun(subject, "ticks")
    client = subject.emulator if isinstance(subject, _Shell) else subject.attach()
    if client is None:
        return None, "it has no clients"
    client.see(b"tick ")
    client.kill()
    client.close()
    return _goes_on(leader, file)


def _server(subject: _Subject) -> tuple[bool | None, str]:
    if isinstance(subject, _Shell):
        return None, "it has no server; its terminal is the client above"
    leader, file = _begun(subject, "ticks")
    subject.account.kill(parent(leader.pid))
    return _goes_on(leader, file)


def _upgrade(subject: _Subject) -> tuple[bool | None, str]:
    if isinstance(subject, _Shell):
        return None, "nothing keeps it that could be upgraded"
    leader, file = _begun(subject, "ticks")
    subject.restart()
    survived, seen = _goes_on(leader, file)
    return survived, f"its server has to be restarted; {seen}"


def _writers(subject: _Subject) -> tuple[bool | None, str]:
    if isinstance(subject, _Shell):
        return None, "nobody but its one terminal can write"
    line, _ = _typed_by_two(subject)
    mixed = "a" in line and "b" in line
    return not mixed, f"two people typed aaaaaaaa and bbbbbbbb; {line!r} arrived"


def _record(subject: _Subject) -> tuple[bool | None, str]:
    if isinstance(subject, _Shell):
        return None, "nobody but its one terminal can write"
    line, told = _typed_by_two(subject)
    lines = len(told.splitlines())
    named = line in told
    seen = "names what was typed" if named else "nothing of what was typed, or by whom"
    return named, f"its own messages are {lines} lines: {seen}"


def _typed_by_two(subject: _Subject) -> tuple[str, str]:
    """Have two clients type at once; return the line that arrived, and the record."""
    _, file = _begun(subject, "read")
    clients = [one for one in (subject.attach(), subject.attach()) if one is not None]
    try:
        for client in clients:
            client.see(b"ready")
        for _ in range(8):
            for client, key in zip(clients, (b"a", b"b"), strict=True):
                client.press(key)
                time.sleep(0.01)
        clients[0].press(b"\r")
        arrived = subject.account.wait("a line arrives", lambda: lines_read(file))
        return arrived[0][1], subject.record()
    finally:
        for client in clients:
            client.close()
