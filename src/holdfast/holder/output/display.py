"""What the program prints: kept, shown to clients, painted, and answered.

The bytes go to clients before anything else is done about them, unless there is
something in them that clients must hear of first: a shell's marks.
"""

import time

from holdfast.core.session.stream import StreamWindow
from holdfast.holder.context import Context
from holdfast.holder.output.attach_view import AttachView
from holdfast.holder.output.painter_link import PainterLink
from holdfast.holder.output.query_answers import Answers
from holdfast.holder.output.terminal_output import Output
from holdfast.holder.processes.listeners import Listeners
from holdfast.holder.provenance.command_messages import Told
from holdfast.holder.record.recovery_record import RecoveryRecord
from holdfast.holder.session import Session
from holdfast.model.geometry import Size, clamped
from holdfast.term.queries import Query
from holdfast.wire import messages as wire

MAX_LEFT = 4 * 1024 * 1024
"""Bytes read after a leader's end: more than the kernel holds, so that only a
child that prints for ever is cut short."""


class Display:
    """The output of one session."""

    def __init__(
        self, context: Context, window: StreamWindow, session: Session
    ) -> None:
        descriptors, timers = context.descriptors, context.timers
        self._context = context
        self.window = window
        """The last of what was printed."""

        self._session = session
        self.listeners = Listeners(context, session.driver)
        """What listens: it may change when something is printed."""

        self.is_open = True
        """Whether the terminal is still there."""

        self.printed_at: float | None = None
        """When something was last printed, as far as we have seen it."""

        self._attention = context.attention
        poll = context.poll
        self._output = Output(
            descriptors.master, window, self._attention.printed, poll.interrupt
        )
        self.painter = PainterLink(
            descriptors.session, window, context.poll, timers, self.size
        )
        if descriptors.painting is not None:
            self.painter.go_on(descriptors.painting)
        self.recovery = RecoveryRecord(descriptors, window, timers)
        """What is on disk of it."""

        self.recovery.painter = self.painter
        self.view = AttachView(window, self.painter, timers)
        """How clients are shown what was printed before."""

        self._answers = Answers(
            descriptors.master,
            window.end,
            self.painter,
            timers,
            lambda: session.writer.is_on,
        )
        self._asked(self._output.take_up())
        self._resume_timer = timers.add(self._resume)
        if context.shell.is_resuming:
            self._resume_timer.set(0.0)
        self._fence = session.fence
        context.poll.watch(descriptors.master, self.printed, is_last=True)

    def fenced(self, is_on: bool) -> None:  # noqa: FBT001  # as it is told
        """Read nothing while the session has no lease; the terminal keeps it."""
        poll, master = self._context.poll, self._context.descriptors.master
        if self.is_open and is_on:
            poll.unwatch(master)
        elif self.is_open:
            poll.watch(master, self.printed, is_last=True)

    @property
    def size(self) -> Size:
        """How large the terminal is."""
        return clamped(*self._context.descriptors.record.size)

    def printed(self) -> bool:
        """Take what the program has printed; tell whether it has."""
        if self._fence is not None and not self._fence.lets_out():
            return False
        output = self._output
        queries = output.take()
        if not output.count:
            self._close(is_over=queries is None)
            return False
        if queries:
            self._asked(queries)
        begin, frame = output.begin, output.frame
        context = self._context
        for connection in context.clients.connections:
            if connection.viewer is not None and not connection.passes(begin, frame):
                connection.pump()
        context.poll.follow(self._note)
        return True

    def _note(self) -> None:
        """Do what follows from output, once it is shown."""
        self._session.writer.echoed()
        self.printed_at = self._attention.printed_at = now = time.monotonic()
        self.listeners.printed(now)
        if not self.recovery.is_stale:
            self.recovery.printed(now)
        if self.window.end > self.painter.fed_at:
            self.painter.tick(now)

    def drain(self) -> None:
        """Take what the terminal still holds of a program that has ended."""
        self.listeners.close()  # What ends with the session is no news.
        self._session.policy.effects.close()
        before, end = -1, self.window.end
        last = end + MAX_LEFT
        while self.is_open and before < end < last:
            self.printed()
            before, end = end, self.window.end

    def resized(self, size: Size) -> None:
        """Note that the terminal has another size now, and tell all clients."""
        self.painter.resized(size)
        cells = wire.Cells(size.columns, size.rows)
        self._context.clients.announce(wire.Resized(self.window.end, cells))

    def _asked(self, queries: tuple[Query, ...]) -> None:
        self._answers.asked(queries, lambda: self.size)
        self._tell(self._context.shell.heard(queries))
        self._session.policy.line_question.heard()

    def _tell(self, told: list[Told]) -> None:
        """Record, and report to all clients, what the shell did."""
        for kind, fields, message in told:
            self._session.driver.record(kind, fields)
            self._session.policy.effects.told(kind, fields)
            if message is not None:
                self._context.clients.announce(message)

    def _resume(self, _now: float) -> None:
        self._tell(self._context.shell.resume())
        if self._context.shell.is_resuming:
            self._resume_timer.set(0.0)

    def _close(self, *, is_over: bool) -> None:
        """Read no more, if the terminal is closed."""
        if is_over:
            self._context.poll.interrupt()
        if is_over and self.is_open:
            self.is_open = False
            self._context.poll.unwatch(self._context.descriptors.master)
