"""Runs a program when an event happens, never through a shell.

The program gets the event in its environment, as HOLDFAST_EVENT, HOLDFAST_NAME and so
on. That includes command lines, whose text anyone who types can choose: in an
environment they are only text, while in a shell command they would be executed. Remote
hosts choose the names of fields, too: none of them becomes a variable that means
something to holdfast itself, or it could misdirect a program that calls holdfast.
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
"""Runs that wait for one of them to end; beyond that, the oldest are dropped."""

PATIENCE = 60.0
"""Seconds after which a program is killed: a notification takes less."""

MAX_VALUE = 4096
"""Characters of one variable."""

OURS = frozenset(
    {
        "AS",
        "BRANCH",
        "CONFIG_DIR",
        "DESCRIPTORS",
        "DOZE_AFTER",
        "HOST_IS_KEPT",
        "LOGIN",
        "LOG_FORMAT",
        "MAX_SESSIONS",
        "RUNTIME_DIR",
        "SESSION",
        "STATE_DIR",
        "VERIFY_COMMAND",
        "ZDOTDIR",
    }
)
"""Variables that holdfast reads itself, without the HOLDFAST_ prefix.

A process with HOLDFAST_SESSION belongs to that session and ends with it; a program told
of that end must not.
"""

_SESSION = "event_session"
"""The variable that gives a program the session's id."""

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
        """Runs that were dropped because too many waited."""

    def happened(self, name: str, facts: Mapping[str, object]) -> None:
        """Run the program soon, if the event is wanted."""
        if not self._command or not is_wanted(name, self._wanted):
            return
        if len(self._waiting) >= MAX_WAITING:
            del self._waiting[0]
            self.given_up += 1
            print("holdfast: too many events: a run was dropped", file=sys.stderr)
        self._waiting.append(variables(facts))
        self._is_done.clear()
        self._has_work.set()

    async def run(self) -> None:
        """Run what waits, forever; when cancelled, kill everything that runs."""
        async with asyncio.TaskGroup() as group:
            for _ in range(AT_ONCE):
                group.create_task(self._work())

    async def wait_done(self) -> None:
        """Wait until every queued program has run; each ends in time."""
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
                # Standard output is for events; programs print to standard error.
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
            print("holdfast: the program took too long and was killed", file=sys.stderr)
        finally:
            if program.returncode is None:
                with contextlib.suppress(ProcessLookupError):
                    # With all that it started, which would run on unseen.
                    os.killpg(program.pid, signal.SIGKILL)
                await program.wait()


def is_wanted(name: str, patterns: list[str]) -> bool:
    """Tell whether an event is wanted; `turn.*` matches many."""
    return any(fnmatchcase(name, pattern) for pattern in patterns)


def variables(facts: Mapping[str, object]) -> dict[str, str]:
    """Return an event as environment variables."""
    told = {**facts, _SESSION: facts.get("session")}
    return {
        f"HOLDFAST_{name.upper()}": str(value).replace("\0", "")[:MAX_VALUE]
        for name, value in told.items()
        if value is not None and _FIELD.fullmatch(name) and name.upper() not in OURS
    }
