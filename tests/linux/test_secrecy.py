import os
import termios
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from holdfast.linux import pty, spawn
from holdfast.linux.secrecy import Secrecy
from holdfast.model.geometry import Size

LOCAL = 3


class Terminal:
    def __init__(self) -> None:
        self.master, self.slave = pty.open_pty(Size(80, 24))
        self.secrecy = Secrecy(self.master)
        self.pids: list[int] = []

    def set(self, *, echo: bool, canonical: bool) -> None:
        flags = termios.tcgetattr(self.slave)
        flags[LOCAL] &= ~(termios.ECHO | termios.ICANON)
        flags[LOCAL] |= termios.ECHO * echo | termios.ICANON * canonical
        termios.tcsetattr(self.slave, termios.TCSANOW, flags)

    def run(self, *command: str) -> None:
        leader = spawn.Leader(command, "/", {"PATH": os.environ["PATH"]})
        self.pids.append(spawn.start_leader(leader, self.slave))
        deadline = time.monotonic() + 5
        while pty.foreground(self.master) != self.pids[-1]:
            assert time.monotonic() < deadline, "it never came to the foreground"

    def close(self) -> None:
        for pid in self.pids:
            os.kill(pid, 9)
            os.waitpid(pid, 0)
        os.close(self.master)
        os.close(self.slave)


@pytest.fixture
def terminal() -> Iterator[Terminal]:
    made = Terminal()
    yield made
    made.close()


@pytest.mark.parametrize("canonical", [True, False])
def test_what_is_echoed_is_no_secret(terminal: Terminal, canonical: bool) -> None:  # noqa: FBT001  # a parameter
    terminal.set(echo=True, canonical=canonical)

    assert not terminal.secrecy.is_on()


def test_t67_a_line_that_is_not_echoed_is_a_secret(terminal: Terminal) -> None:
    terminal.set(echo=False, canonical=True)

    assert terminal.secrecy.is_on()


def test_a_program_that_edits_its_own_line_keeps_no_secret(terminal: Terminal) -> None:
    terminal.set(echo=False, canonical=False)
    terminal.run("sleep", "1000")

    assert not terminal.secrecy.is_on()


def test_t67_a_program_that_asks_for_passwords_key_by_key_keeps_one(
    terminal: Terminal, tmp_path: Path
) -> None:
    asker = tmp_path / "sudo"
    asker.symlink_to("/bin/sleep")
    terminal.set(echo=False, canonical=False)
    terminal.run(str(asker), "1000")

    assert terminal.secrecy.is_on()


def test_a_terminal_that_nobody_has_keeps_no_secret(terminal: Terminal) -> None:
    terminal.set(echo=False, canonical=False)

    assert not terminal.secrecy.is_on()
