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
        vaulted, timers = context.vaulted, context.timers
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
            vaulted.master, window, self._attention.printed, poll.interrupt
        )
        self.painter = PainterLink(
            vaulted.session, window, context.poll, timers, self.size
        )
        if vaulted.painting is not None:
            self.painter.go_on(vaulted.painting)
        self.recovery = RecoveryRecord(vaulted, window, timers)
        """What is on disk of it."""

        self.recovery.painter = self.painter
        self.view = AttachView(window, self.painter, timers)
        """How clients are shown what was printed before."""

        self._answers = Answers(
            vaulted.master,
            window.end,
            self.painter,
            timers,
            lambda: session.writer.is_on,
        )
        self._asked(self._output.take_up())
        self._resume_timer = timers.add(self._resume)
        if context.shell.is_resuming:
            self._resume_timer.set(0.0)
        context.poll.watch(vaulted.master, self.printed, is_last=True)

    @property
    def size(self) -> Size:
        """How large the terminal is."""
        return clamped(*self._context.vaulted.record.size)

    def printed(self) -> None:
        """Take what the program has printed."""
        queries = self._output.take()
        if queries is None:
            self._context.poll.interrupt()
            self._close()
            return
        if queries:
            self._asked(queries)
        begin, frame = self._output.begin, self._output.frame
        for connection in self._context.company.connections:
            if connection.viewer is not None and not connection.passes(begin, frame):
                connection.pump()
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
        before, end = -1, self.window.end
        last = end + MAX_LEFT
        while self.is_open and before < end < last:
            self.printed()
            before, end = end, self.window.end

    def resized(self, size: Size) -> None:
        """Take that the terminal has another size now, and tell everybody."""
        self.painter.resized(size)
        cells = wire.Cells(size.columns, size.rows)
        self._context.company.announce(wire.Resized(self.window.end, cells))

    def _asked(self, queries: tuple[Query, ...]) -> None:
        self._answers.asked(queries, lambda: self.size)
        self._tell(self._context.shell.heard(queries))
        self._session.policy.line_question.heard()

    def _tell(self, told: list[Told]) -> None:
        """Put on record, and tell everybody, what the shell did."""
        for kind, fields, message in told:
            self._session.driver.record(kind, fields)
            if message is not None:
                self._context.company.announce(message)

    def _resume(self, _now: float) -> None:
        self._tell(self._context.shell.resume())
        if self._context.shell.is_resuming:
            self._resume_timer.set(0.0)

    def _close(self) -> None:
        if self.is_open:
            self.is_open = False
            self._context.poll.unwatch(self._context.vaulted.master)
