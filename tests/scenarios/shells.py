"""A real shell with our integration, and commands run in it."""

import os
import termios
import time
from pathlib import Path

from tests.scenarios.support import PATIENCE, Machine, eventually
from tests.shells.real_shells import be_used_by_fish

from holdfast.client import calls, command_run, current_operator
from holdfast.core.client.command_output import Ran
from holdfast.core.client.command_run import Wish
from holdfast.model.ids import SessionId
from holdfast.wire.commands import ShellCommand

LIMIT = 64 * 1024


def shell(machine: Machine, home: Path, *command: str, **env: str) -> SessionId:
    """Start a shell of a user whose home is `home`; wait until it reads a line."""
    be_used_by_fish(home)
    answer = machine.ask(
        do="create",
        command=list(command or ("bash",)),
        cwd=str(home),
        env={"PATH": os.environ["PATH"], "HOME": str(home), **env},
        size=[80, 24],
        creator=current_operator.ourselves().actor.id,
        integration=True,
    )
    assert answer["ok"], answer
    session = SessionId(str(answer["id"]))
    wait_editor(machine, session)
    return session


def wait_phase(session: SessionId, phase: str) -> None:
    """Wait until the shell is where it is wanted."""
    eventually(f"phase {phase}", lambda: calls.report(session).phase == phase)


def wait_editor(machine: Machine, session: SessionId) -> None:
    """Wait until the shell edits a line.

    The prompt's mark comes a moment earlier: the kernel still edits what is typed.
    """
    wait_phase(session, "prompt")
    canonical = termios.ICANON
    eventually("a line editor", lambda: not local_flags(machine, session) & canonical)


def local_flags(machine: Machine, session: SessionId) -> int:
    """Return how a session's terminal is set: echo, canonical mode and the like."""
    # By its number: a shell's descriptor 0 is at times something else.
    stat = Path(f"/proc/{machine.pid('leader', session)}/stat").read_text()
    number = os.minor(int(stat.rpartition(")")[2].split()[4]))
    fd = os.open(f"/dev/pts/{number}", os.O_RDWR | os.O_NOCTTY)
    try:
        flags = termios.tcgetattr(fd)[3]
    finally:
        os.close(fd)
    assert isinstance(flags, int)
    return flags


def run(session: SessionId, line: str, key: str | None = None) -> Ran:
    """Run a command, and wait for its end."""
    deadline = time.monotonic() + PATIENCE
    us = current_operator.ourselves().actor.id
    client = command_run.client_of(session, us, key)
    return command_run.run(session, client, line.encode(), Wish(LIMIT), deadline)


def ended(session: SessionId, number: int) -> ShellCommand:
    """Wait until the command of this number, which is the last, has ended."""

    def found() -> ShellCommand | None:
        last = calls.report(session).command
        if last is None or last.number != number or last.end is None:
            return None
        return last

    return eventually(f"the end of command {number}", found)
