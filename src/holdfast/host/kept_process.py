"""A process of ours that listens for the host, because the host never does (T12).

It is started again whenever it ends, and ends with the host.
"""

import asyncio
import contextlib
import functools
import os
import signal
from collections.abc import Callable

from holdfast.aio.log import log
from holdfast.core.relay.redial import Redial
from holdfast.linux.processes import die_with_parent

LONGEST = 10.0
"""Seconds between attempts to start one that does not start."""

GRACE = 3.0
"""Seconds for it to end when it is told to; then it is killed."""


class KeptProcess:
    """One such process."""

    def __init__(self, name: str, command: Callable[[], list[str]]) -> None:
        self._name = name
        self._command = command
        self.pid = 0

    async def run(self) -> None:
        """Have it run until cancelled."""
        loop = asyncio.get_running_loop()
        redial = Redial(LONGEST)
        while True:
            process = await asyncio.create_subprocess_exec(
                *self._command(),
                stdin=asyncio.subprocess.DEVNULL,
                preexec_fn=functools.partial(die_with_parent, os.getpid()),
            )
            self.pid = process.pid
            redial.linked(loop.time())
            try:
                status = await process.wait()
            finally:
                self.pid = 0
                await _end(process)
            wait = redial.wait_after(loop.time(), 0.0)
            log(f"{self._name}.died", status=status, again_in=wait)
            await asyncio.sleep(wait)


async def _end(process: asyncio.subprocess.Process) -> None:
    """End the process, if it has not ended by itself."""
    if process.returncode is not None:
        return
    with contextlib.suppress(ProcessLookupError):
        process.send_signal(signal.SIGTERM)
    try:
        async with asyncio.timeout(GRACE):
            await process.wait()
    except TimeoutError:
        with contextlib.suppress(ProcessLookupError):
            process.kill()
