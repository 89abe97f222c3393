"""The overview's loop after its first picture: keys, hosts and updates.

What is shown, and what a key does, is decided in core.overview. Here the terminal is
read and drawn on, hosts are followed (`hosts`), sessions are looked at (`looking`) and
effects are performed (`acts`), all on one event loop.
"""

import asyncio
import contextlib
import os
import signal
import time

from holdfast.cli.overview.action_runner import Acts
from holdfast.cli.overview.hand_over import HandOver
from holdfast.cli.overview.hosts import Hosts
from holdfast.cli.overview.screen import LEAVING, Screen
from holdfast.cli.overview.watched_sessions import WatchedSessions
from holdfast.core.overview import acts
from holdfast.core.overview.overview import Overview
from holdfast.core.overview.picture import Drawing
from holdfast.model.text import printable
from holdfast.term.key_reader import ESCAPE_WAIT, KeyReader, Mouse, Pressed

FRAME = 1 / 30
"""Seconds between two pictures at least."""

KEYS = 4096
"""Bytes read from the keyboard at once: as many as the kernel buffers."""

BEHIND = 0.02
"""Seconds until a terminal that is slow is tried again."""

MAX_SAID = 300


def go_on(overview: Overview, screen: Screen) -> int:
    """Show the overview until the user leaves it; return the exit status."""
    return asyncio.run(Loop(overview, screen).run())


class _Over(Exception):
    """The overview is to be left."""


class Loop:
    """Everything that happens while the overview is shown."""

    def __init__(self, overview: Overview, screen: Screen) -> None:
        self._overview = overview
        self._screen = screen
        self._keys = KeyReader()
        self._escape: asyncio.TimerHandle | None = None
        self._drawing = Drawing(overview, _now_ms())
        self._is_stale = asyncio.Event()
        self._tasks: asyncio.TaskGroup
        self._over: asyncio.Future[int]
        self._hosts = Hosts(self._tell)
        self._looking = WatchedSessions(overview, self._hosts, self._tell)
        self._acts = Acts(self._hosts, self._looking)

    async def run(self) -> int:
        """Show it; return the exit status."""
        loop = asyncio.get_running_loop()
        self._over = loop.create_future()
        for number in LEAVING:
            loop.add_signal_handler(number, self._end, 128 + number)
        loop.add_signal_handler(signal.SIGWINCH, self._resized)
        try:
            async with asyncio.TaskGroup() as self._tasks:
                self._listen()
                self._tasks.create_task(self._draw())
                self._tasks.create_task(self._hosts.follow(self._tasks))
                self._looking.begin(self._tasks)
                self._resized()
                await self._over
                raise _Over  # noqa: TRY301  # it ends the tasks
        except* _Over:
            pass
        finally:
            loop.remove_reader(0)
        return self._over.result()

    def _end(self, status: int = 0) -> None:
        if not self._over.done():
            self._over.set_result(status)

    # ── what happens ──────────────────────────────────────────────────────

    def _tell(self, event: acts.Event) -> None:
        """Tell the overview of something, and do what comes of it."""
        loop = asyncio.get_running_loop()
        for effect in self._overview.handle(event, loop.time()):
            self._perform(effect)
        self._is_stale.set()

    def _listen(self) -> None:
        self._keys = KeyReader()  # Another program may have read the rest of a key.
        asyncio.get_running_loop().add_reader(0, self._read)

    def _read(self) -> None:
        try:
            data = os.read(0, KEYS)
        except OSError:
            data = b""
        if not data:
            self._end()  # The terminal is gone.
            return
        if self._escape is not None:
            self._escape.cancel()
            self._escape = None
        self._press(self._keys.read(data))
        if self._keys.waits:
            loop = asyncio.get_running_loop()
            self._escape = loop.call_later(ESCAPE_WAIT, self._waited)

    def _waited(self) -> None:
        self._press(self._keys.waited())

    def _press(self, pressed: list[Pressed]) -> None:
        for one in pressed:
            match one:
                case Mouse():
                    self._moused(one)
                case _:
                    self._tell(one)

    def _moused(self, mouse: Mouse) -> None:
        if mouse.wheel:
            self._tell(acts.Scrolled(mouse.wheel))
        elif mouse.is_press:
            self._click(mouse.column, mouse.row)

    def _click(self, column: int, row: int) -> None:
        """Take a click on what was drawn last, which is what the user saw."""
        target = self._drawing.at(column, row)
        if target is None:
            return
        if target.session is not None:
            self._tell(acts.Chosen(target.session))
        else:
            self._tell(target.key)

    def _resized(self) -> None:
        self._tell(acts.Resized(*self._screen.size()))

    # ── what is done ──────────────────────────────────────────────────────

    def _perform(self, effect: acts.Effect) -> None:
        match effect:
            case acts.Leave():
                self._end()
            case acts.Redraw():
                self._screen.forget()
            case acts.Suspend():
                self._suspend()
            case acts.LookNow(key):
                self._looking.look_now(key)
            case acts.Attach() | acts.Create():
                self._tasks.create_task(self._hand_over(HandOver.for_(effect)))
            case _:
                self._tasks.create_task(self._act(effect))

    async def _act(self, effect: acts.Effect) -> None:
        said = await self._acts.perform(effect)
        self._tell(said)

    def _suspend(self) -> None:
        self._screen.give_back()
        os.kill(os.getpid(), signal.SIGSTOP)
        self._screen.take()
        self._resized()

    async def _hand_over(self, wanted: HandOver) -> None:
        """Lend the terminal to another program, and take it back after it."""
        if not self._screen.is_taken:
            return  # It is lent already.
        loop = asyncio.get_running_loop()
        loop.remove_reader(0)
        self._looking.pause()
        self._screen.give_back()
        try:
            said = await wanted.run()
        finally:
            if not self._over.done():
                self._screen.take()
        self._listen()
        self._looking.resume()
        self._hosts.hurry()
        self._resized()
        if said:
            self._tell(acts.Told(printable(said, MAX_SAID), is_bad=True))

    # ── what is shown ─────────────────────────────────────────────────────

    async def _draw(self) -> None:
        loop = asyncio.get_running_loop()
        while True:
            due = self._overview.next_deadline()
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout_at(due):
                    await self._is_stale.wait()
            self._overview.tick(loop.time())
            self._is_stale.clear()
            if self._screen.is_taken:
                await self._show()
            await asyncio.sleep(FRAME)

    async def _show(self) -> None:
        try:
            while self._screen.is_behind and self._screen.is_taken:
                self._screen.send()
                await asyncio.sleep(BEHIND)
            if not self._screen.is_taken:
                return
            self._drawing = Drawing(self._overview, _now_ms())
            self._screen.draw(self._drawing.canvas)
            while self._screen.is_behind and self._screen.is_taken:
                await asyncio.sleep(BEHIND)
                self._screen.send()
        except OSError:
            self._end()  # The terminal is gone.
            return
        self._overview.painted()
        self._looking.watch(self._overview.watched())


def _now_ms() -> int:
    return time.time_ns() // 1_000_000
