"""An event loop in a thread of its own, for programs that block."""

import asyncio
import contextlib
import threading
from collections.abc import Coroutine
from concurrent import futures
from contextlib import AbstractAsyncContextManager
from typing import Any, TypeVar

Kind = TypeVar("Kind")


class LoopThread:
    """A loop that runs for as long as something asynchronous is entered in it."""

    def __init__(self, name: str, inside: AbstractAsyncContextManager[Any]) -> None:
        self._name = name
        self._inside = inside
        self._loop: asyncio.AbstractEventLoop | None = None
        self._leaving: asyncio.Event | None = None
        self._thread: threading.Thread | None = None

    def start(self) -> None:
        """Enter it, and return when that is done.

        Raises:
            Exception: What entering it raises.

        """
        entered: futures.Future[None] = futures.Future()
        serving = self._serve(entered)
        # A program that forgot to leave can still end.
        self._thread = threading.Thread(
            target=lambda: asyncio.run(serving), name=self._name, daemon=True
        )
        self._thread.start()
        try:
            entered.result()
        except BaseException:
            self.end()
            raise

    def end(self) -> None:
        """Leave it, and return when nothing of it is left."""
        if self._loop is not None and self._leaving is not None:
            with contextlib.suppress(RuntimeError):  # It has ended by itself.
                self._loop.call_soon_threadsafe(self._leaving.set)
        if self._thread is not None:
            self._thread.join()

    def run(
        self, what: Coroutine[Any, Any, Kind], patience: float | None = None
    ) -> Kind:
        """Run something in the thread, and wait for it.

        Raises:
            TimeoutError: It takes longer than `patience` seconds, and is cancelled.

        """
        assert self._loop is not None, "enter the host first"  # noqa: S101
        future = asyncio.run_coroutine_threadsafe(what, self._loop)
        try:
            return future.result(patience)
        except BaseException:
            future.cancel()
            raise

    def begin(self, what: Coroutine[Any, Any, None]) -> None:
        """Run something in the thread, without waiting for it."""
        assert self._loop is not None, "enter the host first"  # noqa: S101
        asyncio.run_coroutine_threadsafe(what, self._loop)

    async def _serve(self, entered: futures.Future[None]) -> None:
        self._loop = asyncio.get_running_loop()
        self._leaving = asyncio.Event()
        try:
            # One task enters and leaves it, no matter who calls in between.
            async with self._inside:
                entered.set_result(None)
                await self._leaving.wait()
        except BaseException as error:
            if entered.done():
                raise
            entered.set_exception(error)
