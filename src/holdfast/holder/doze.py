"""Lets the session doze when it needs no holder, and continues when woken.

core.session.doze says when. Here it is found out whether anything speaks against it,
what only we know is written down, and the keeper is asked. If it agrees, we end:
keeper, trustee and dozer have everything, and the next holder is made when something
happens.
"""

import contextlib
import math
import os
import time

from holdfast.core.session.doze import DozeTimer, Glimpse, Nap
from holdfast.core.session.left_behind import LeftBehind, Shell
from holdfast.holder.context import Context
from holdfast.holder.links.keeper_link import KeeperLink
from holdfast.holder.output.display import Display
from holdfast.holder.processes.leader import Leader
from holdfast.holder.session import Session
from holdfast.linux import processes, shared_memory
from holdfast.linux.stored import folders
from holdfast.linux.stored.book_parts import is_part, part_path

SETTING = "HOLDFAST_DOZE_AFTER"
"""Where it is said after how many seconds a session dozes; the keeper has it."""

NEVER = "never"

USUAL = 30.0
"""Seconds without anything: as long as a turn outlives its holder's links."""

LEAST = 0.05
"""Seconds at least, whatever is said."""


class Dozing:
    """Whether one session dozes."""

    def __init__(
        self,
        context: Context,
        session: Session,
        display: Display,
        leader: Leader,
        keeper: KeeperLink,
    ) -> None:
        self._context = context
        self._session = session
        self._display = display
        self._leader = leader
        self._keeper = keeper
        self._timer = context.timers.add(self._look, is_minor=True)
        self._machine: DozeTimer | None = None
        after, woken = patience(), context.descriptors.woken
        if woken is not None:
            self._go_on(woken)
        if after is not None and not context.descriptors.gate:
            nap = None if woken is None else woken.nap
            self._machine = DozeTimer(after, time.monotonic(), nap)
            self._timer.set(self._machine.next_deadline())

    def _go_on(self, left: LeftBehind) -> None:
        """Know again what the holder knew that let the session doze."""
        shell_commands = self._context.shell
        self._display.painter.go_on(left.painting)
        if not left.is_staged:
            shell_commands.line.told(b"", ())
        if left.shell is not None and shell_commands.channel is not None:
            shell_commands.channel.go_on(left.shell.told, left.shell.begun)
            shell_commands.shell_state = left.shell.state

    def _look(self, now: float) -> None:
        """Let the session doze, if it is time; then our part in it is over."""
        assert self._machine is not None  # noqa: S101  # only then does it wait
        is_free = self._is_unused() and self._comes_to_rest(now)
        seen = Glimpse(self._display.window.end, self._book_size(), is_free)
        if self._machine.look(seen, now):
            self._ask(self._machine.nap(now))
        self._timer.set(self._machine.next_deadline())

    def _is_unused(self) -> bool:
        """Tell whether nobody has to do with the session, nor its shell with us."""
        shell_commands, intake = self._context.shell, self._session.driver.intake
        channel = shell_commands.channel
        if channel is not None:
            channel.drain()
        return (
            not self._context.clients.connections
            # A terminal that ended before its leader would wake us at once.
            and self._display.is_open is (self._leader.exit is None)
            and not self._context.descriptors.start
            # A holder has to be there when its lease runs out.
            and (self._session.fence is None or self._leader.exit is not None)
            and not intake.is_frozen
            and intake.turn.holder is None
            and not self._session.notifications.pending
            and self._display.painter.is_quiet
            and (channel is None or channel.is_settled)
            and not (shell_commands.runs_nothing and shell_commands.origins.is_behind)
        )

    def _comes_to_rest(self, now: float) -> bool:
        """Settle everything; tell whether nothing is left that needs a holder."""
        if not self._display.listeners.conclude(now):
            return False
        book, handler = self._session.book, self._session.input_handler
        book.hurry_checkpoint(now)
        self._session.settle()
        is_done = not handler.is_busy and not book.is_behind
        return is_done and not self._context.timers.waits

    def _ask(self, nap: Nap) -> None:
        channel = self._context.shell.channel
        if self._leader.exit is None:
            self._display.recovery.rest()
        memory = _written(self._left(nap))
        pipe = [] if channel is None or channel.fd is None else [channel.fd]
        idle_ms = time.time_ns() // 1_000_000 - round((nap.at - nap.since) * 1000)
        try:
            if self._keeper.doze([memory, *pipe], idle_ms):
                self._keeper.is_wanted = False  # Of us; the session is.
        finally:
            os.close(memory)

    def _left(self, nap: Nap) -> LeftBehind:
        shell_commands = self._context.shell
        shell = None
        if shell_commands.channel is not None:
            shell = Shell(*shell_commands.channel.past(), shell_commands.shell_state)
        is_staged = not shell_commands.line.stands().is_empty
        return LeftBehind(nap, is_staged, self._display.painter.past(), shell)

    def _book_size(self) -> int:
        path = folders.session_log(self._context.descriptors.session)
        size, number = 0, 0
        with contextlib.suppress(OSError):
            while number == 0 or is_part(path, number):
                size += os.stat(part_path(path, number)).st_size  # noqa: PTH116
                number += 1
        return size


def patience() -> float | None:
    """Return for how many seconds a session must be idle, or None: it never dozes."""
    said = os.environ.get(SETTING, "").strip()
    if said == NEVER:
        return None
    with contextlib.suppress(ValueError):
        asked = float(said)
        if math.isfinite(asked) and asked > 0:
            return max(asked, LEAST)
    # While a session dozes the keeper is the leader's parent. If the keeper dies, the
    # pidfd alone can tell how the leader ended.
    return USUAL if processes.tells_exits() else None


def _written(left: LeftBehind) -> int:
    raw = left.to_bytes()
    memory = shared_memory.create("left", len(raw))
    os.pwrite(memory, raw, 0)
    return memory
