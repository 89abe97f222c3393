import os
import termios
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from holdfast.linux import pty, spawn
from holdfast.linux.secrecy import CERTAIN, PERHAPS, SHOWN, Secrecy, Secret
from holdfast.model.geometry import Size

LOCAL, CHARS = 3, 6


class Terminal:
    def __init__(self) -> None:
        self.master, self.slave = pty.open_pty(Size(80, 24))
        self.at_prompt = False
        self.pids: list[int] = []

    def set(self, *, echo: bool, canonical: bool, literal: bool = True) -> None:
        flags = termios.tcgetattr(self.slave)
        flags[LOCAL] &= ~(termios.ECHO | termios.ICANON)
        flags[LOCAL] |= termios.ECHO * echo | termios.ICANON * canonical
        flags[CHARS][termios.VLNEXT] = b"\x16" if literal else b"\0"
        termios.tcsetattr(self.slave, termios.TCSANOW, flags)

    def run(self, *command: str) -> int:
        leader = spawn.Leader(command, "/", {"PATH": os.environ["PATH"]})
        self.pids.append(spawn.start_leader(leader, self.slave))
        deadline = time.monotonic() + 5
        while pty.foreground(self.master) != self.pids[-1]:
            assert time.monotonic() < deadline, "it never came to the foreground"
        return self.pids[-1]

    def look(self, leader: int = 0) -> Secret:
        secrecy = Secrecy(self.master, leader, lambda: self.at_prompt)
        return secrecy.look(pty.discipline(self.master))

    def becomes(self, wanted: Secret) -> None:
        deadline = time.monotonic() + 5
        while self.look() != wanted:
            assert time.monotonic() < deadline, f"it never became {wanted}"

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

    assert terminal.look() == SHOWN


def test_t67_a_line_that_is_not_echoed_is_a_secret(terminal: Terminal) -> None:
    terminal.set(echo=False, canonical=True)
    terminal.at_prompt = True

    assert terminal.look() == CERTAIN


def test_t67_keys_that_are_not_echoed_may_be_a_secret(terminal: Terminal) -> None:
    terminal.set(echo=False, canonical=False, literal=False)
    terminal.run("sleep", "1000")

    assert terminal.look() == PERHAPS


def test_t67_a_program_that_asks_for_passwords_key_by_key_keeps_one(
    terminal: Terminal, tmp_path: Path
) -> None:
    asker = tmp_path / "sudo"
    asker.symlink_to("/bin/sleep")
    terminal.set(echo=False, canonical=False)
    terminal.run(str(asker), "1000")

    assert terminal.look() == CERTAIN


def test_a_terminal_that_nobody_has_may_keep_a_secret(terminal: Terminal) -> None:
    terminal.set(echo=False, canonical=False)

    assert terminal.look() == PERHAPS


def test_the_shell_at_its_prompt_keeps_none(terminal: Terminal) -> None:
    terminal.set(echo=False, canonical=False)
    leader = terminal.run("sleep", "1000")
    terminal.at_prompt = True

    assert terminal.look(leader) == SHOWN
    assert terminal.look(leader + 1) == PERHAPS
    terminal.at_prompt = False
    assert terminal.look(leader) == PERHAPS


@pytest.mark.parametrize("shell", [("bash", "--norc", "-i"), ("zsh", "-f", "-i")])
def test_a_shell_inside_keeps_none_at_its_prompt_and_one_while_it_reads(
    terminal: Terminal, shell: tuple[str, ...]
) -> None:
    terminal.run(*shell)
    terminal.becomes(SHOWN)
    deadline = time.monotonic() + 5
    while not pty.discipline(terminal.slave).is_line_editor:
        assert time.monotonic() < deadline, "no prompt came"
    option = b"-n" if shell[0] == "bash" else b"-k"

    pty.write_available(terminal.master, b"read -s " + option + b" 3 x\r")

    terminal.becomes(PERHAPS)


def test_a_program_by_a_shell_s_name_that_keeps_no_jobs_may_keep_a_secret(
    terminal: Terminal, tmp_path: Path
) -> None:
    named = tmp_path / "bash"
    named.symlink_to("/bin/sleep")
    terminal.set(echo=False, canonical=False, literal=False)
    terminal.run(str(named), "1000")

    assert terminal.look() == PERHAPS
