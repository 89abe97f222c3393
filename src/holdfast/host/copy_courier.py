"""Sends images that this host has made unasked to the host that keeps copies of them.

core/capsule/copy_queue.py says which is sent when. Each is sent by a process of its
own, `holdfast images send`: what dies with a link or a disk is that process.
"""

import asyncio
import contextlib
import os
import sys
import time

from holdfast.aio.log import log
from holdfast.core.capsule.copy_queue import CopyQueue
from holdfast.linux.stored import config
from holdfast.model.ids import parse_session_id
from holdfast.model.text import printable

PATIENCE = 3600.0
"""Seconds for one image: a slow line takes its time."""

LOOK_EVERY = 5.0
"""Seconds between two looks whether one is due again."""

VARIABLE = "HOLDFAST_AS"
"""Who a command acts as: here the user, whoever has started this host."""

USAGE = 64
"""How `holdfast` exits if what it was asked for can never be done."""


class CopyCourier:
    """The copies of this host's images."""

    def __init__(self, command: tuple[str, ...] = ()) -> None:
        self._command = command or (sys.executable, "-P", "-m", "holdfast")
        self._queue = CopyQueue()
        self._woken = asyncio.Event()

    def made(self, image: str) -> None:
        """Take that an image was made."""
        if config.settings().host.checkpoints_to:
            session = parse_session_id(image.rpartition(".")[0])
            self._queue.made(session, image, time.monotonic())
            self._woken.set()

    async def run(self) -> None:
        """Send what waits, until cancelled."""
        while True:
            image = self._queue.next_image(time.monotonic())
            to = config.settings().host.checkpoints_to if image else ""
            if image is None:
                self._woken.clear()
                with contextlib.suppress(TimeoutError):
                    async with asyncio.timeout(LOOK_EVERY):
                        await self._woken.wait()
            elif not to:
                self._queue.dropped()
            else:
                await self._send(image, to)

    async def _send(self, image: str, to: str) -> None:
        status, said = await self._sent(image, to)
        if status == 0:
            self._queue.sent()
            log("image.copied", image=image, to=to)
            return
        log("image.not_copied", image=image, to=to, why=said)
        if status == USAGE:
            self._queue.dropped()
        else:
            self._queue.failed(image, time.monotonic())

    async def _sent(self, image: str, to: str) -> tuple[int, str]:
        words = (*self._command, "images", "send", image, "--to", to)
        try:
            process = await asyncio.create_subprocess_exec(
                *words,
                env={**os.environ, VARIABLE: ""},
                stdin=asyncio.subprocess.DEVNULL,
                stdout=asyncio.subprocess.DEVNULL,
                stderr=asyncio.subprocess.PIPE,
            )
        except OSError as error:
            return 1, str(error)
        try:
            async with asyncio.timeout(PATIENCE):
                _, said = await process.communicate()
        except TimeoutError:
            return 1, "it took too long"
        finally:
            if process.returncode is None:
                process.kill()
                await process.wait()
        return process.returncode or 0, printable(said.decode(errors="replace"), 300)
