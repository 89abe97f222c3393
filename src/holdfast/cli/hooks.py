"""Run a program when something has happened, never through a shell.

The program gets what happened in its environment, as HOLDFAST_EVENT, HOLDFAST_NAME and
so on. That includes lines of commands, which anybody who types can choose: in an
environment they are text, where in the words of a shell they would be executed. Hosts
elsewhere choose the names of fields, too: none of them becomes a variable that means
something to holdfast itself, or it would misdirect a program that calls us.
"""

import asyncio
import contextlib
import os
import re
import signal
import sys
from collections.abc import Mapping
from fnmatch import fnmatchcase

AT_ONCE = 4
"""Programs that run at the same time."""

MAX_WAITING = 64
"""Runs that wait for one of them to end; of more, the oldest are given up."""

PATIENCE = 60.0
"""Seconds after which a program is killed: a notice takes less."""

MAX_VALUE = 4096
"""Characters of one variable."""

OURS = frozenset(
    {
        "AS",
        "CONFIG_DIR",
        "DESCRIPTORS",
        "HOST_IS_KEPT",
        "LOGIN",
        "MAX_SESSIONS",
        "RUNTIME_DIR",
        "SESSION",
        "STATE_DIR",
        "ZDOTDIR",
    }
)
"""Variables that we read ourselves, without HOLDFAST_ before them.

By HOLDFAST_SESSION a process belongs to a session, and ends with it: the program that
is told of that end does not.
"""

_SESSION = "event_session"
"""What a program is told the session's id by."""

_FIELD = re.compile(r"[a-z][a-z_]{0,31}")


class Hooks:
    """What to run, and for which events."""

    def __init__(self, command: list[str], wanted: list[str]) -> None:
        self._command = command
        self._wanted = wanted or ["*"]
        self._waiting: list[dict[str, str]] = []
        self._running = 0
        self._has_work = asyncio.Event()
        self._is_done = asyncio.Event()
        self._is_done.set()
        self.given_up = 0
        """Runs that were given up because too many waited."""

    def happened(self, name: str, facts: Mapping[str, object]) -> None:
        """Run the program soon, if the event is wanted."""
        if not self._command or not is_wanted(name, self._wanted):
            return
        if len(self._waiting) >= MAX_WAITING:
            del self._waiting[0]
            self.given_up += 1
            print("holdfast: too many events: a run was given up", file=sys.stderr)
        self._waiting.append(variables(facts))
        self._is_done.clear()
        self._has_work.set()

    async def run(self) -> None:
        """Run what waits, for ever; cancelled, everything that runs is killed."""
        async with asyncio.TaskGroup() as group:
            for _ in range(AT_ONCE):
                group.create_task(self._work())

    async def wait_done(self) -> None:
        """Wait until every program that was to run has run; each ends in time."""
        await self._is_done.wait()

    async def _work(self) -> None:
        while True:
            while not self._waiting:
                self._has_work.clear()
                await self._has_work.wait()
            self._running += 1
            try:
                await self._once(self._waiting.pop(0))
            finally:
                self._running -= 1
                if not self._running and not self._waiting:
                    self._is_done.set()

    async def _once(self, told: dict[str, str]) -> None:
        try:
            program = await asyncio.create_subprocess_exec(
                *self._command,
                stdin=asyncio.subprocess.DEVNULL,
                # Our own output is for events; a program's words go beside it.
                stdout=sys.stderr.fileno(),
                env={**os.environ, **told},
                process_group=0,
            )
        except (OSError, ValueError) as error:
            print(f"holdfast: cannot run the program: {error}", file=sys.stderr)
            return
        try:
            async with asyncio.timeout(PATIENCE):
                await program.wait()
        except TimeoutError:
            print(
                "holdfast: the program took too long, and was killed", file=sys.stderr
            )
        finally:
            if program.returncode is None:
                with contextlib.suppress(ProcessLookupError):
                    # With whatever it has started, which would go on unseen.
                    os.killpg(program.pid, signal.SIGKILL)
                await program.wait()


def is_wanted(name: str, patterns: list[str]) -> bool:
    """Tell whether an event is one of those that are wanted; `turn.*` fits many."""
    return any(fnmatchcase(name, pattern) for pattern in patterns)


def variables(facts: Mapping[str, object]) -> dict[str, str]:
    """Return what happened as variables of an environment."""
    told = {**facts, _SESSION: facts.get("session")}
    return {
        f"HOLDFAST_{name.upper()}": str(value).replace("\0", "")[:MAX_VALUE]
        for name, value in told.items()
        if value is not None and _FIELD.fullmatch(name) and name.upper() not in OURS
    }
