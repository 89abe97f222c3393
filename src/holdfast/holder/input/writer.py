"""Writes the bytes of an input to the terminal, and then books it.

One input at a time is written, as far as the terminal accepts it; the rest follows
when there is room. Once it has been accepted whole it is booked a moment later, so that
the echo of a key goes first.
"""

import contextlib
import os

from holdfast.core.input import serializer
from holdfast.core.input.intake_effects import Effect
from holdfast.holder.context import Context
from holdfast.holder.input.intake_driver import IntakeDriver
from holdfast.holder.input.payloads import (
    MAX_LINE,
    check,
    demand_sent,
    signal_of,
    size_of,
    staged_after,
)
from holdfast.holder.input.secret_prompt import demand_question
from holdfast.holder.input.terminal_settings import TerminalSettings
from holdfast.holder.moment import boottime, now
from holdfast.holder.provenance.process_owner import ProcessOwners
from holdfast.holder.provenance.typed_line import TypedLine
from holdfast.holder.record.book import Book
from holdfast.linux import processes, pty
from holdfast.model.ids import Index  # noqa: TC001  # an annotation people read
from holdfast.model.inputs import TYPED, Input, InputKind
from holdfast.model.moments import Moment
from holdfast.model.session_record import Cells

AGAIN = 0.01
"""Seconds between two attempts to write what the terminal refused."""

CLEARING = TYPED | {InputKind.SIGNAL}
"""Inputs after which the session has what it called for."""

ECHO_PATIENCE = 0.001
"""Seconds what the terminal took may stay unbooked: its echo goes first. Should
we be killed within them, the input's outcome is unknown, as it is during a write."""


class Writer:
    """Writes inputs to the terminal of one session."""

    def __init__(
        self,
        context: Context,
        driver: IntakeDriver,
        book: Book,
        line: TypedLine,
        settings: TerminalSettings,
        owners: ProcessOwners | None,
    ) -> None:
        self._descriptors = context.descriptors
        self._shell = context.shell
        self._attention = context.attention
        self._driver = driver
        self._book = book
        self._line = line
        self._settings = settings
        self.owners = owners
        """Who is behind the session's processes, if that is needed."""

        self._resized = context.resized
        self._timers = context.timers
        self.timer = context.timers.add(self._tick)
        """Has what was taken booked, and what is left written."""

        driver.before_tick.append(self.book)
        self._staged = 0  # Bytes of an unfinished line, as far as we have seen.
        self._current: tuple[serializer.Apply, int] | None = None
        self.taken: tuple[Index, int] | None = None
        """What the terminal has taken and is yet to be booked."""

        self.ahead: int | None = None
        """Bytes of the next input that the terminal has taken already."""

        self._is_awaited = False
        """Whether a client waits to hear that it was."""

        self._has_echoed = False
        """Whether something was printed since the terminal took it."""

    @property
    def is_on(self) -> bool:
        """Whether an input is half written."""
        return self._current is not None

    @property
    def is_free(self) -> bool:
        """Whether a key can be typed now, and nothing is left to do of the last."""
        is_done = self._current is None and self.taken is None
        return is_done and self._staged < MAX_LINE

    def fits(self, given: Input) -> bool:
        """Tell whether keys can be typed now, however the terminal is set."""
        is_short = self._staged + len(given.payload) <= MAX_LINE
        return is_short and given.kind is InputKind.KEYS

    def demand_room(self, given: Input) -> None:
        """Do nothing if a client's input could be typed now.

        Raises:
            UsageError: It makes no sense, or is longer than a line may be.
            Forbidden: It is no client's to make.
            Unavailable: It needs a prompt, and there is none.

        """
        if self.fits(given):
            return
        demand_sent(given)
        fits = given.kind in TYPED and self._staged + len(given.payload) <= MAX_LINE
        if not fits:
            is_canonical = pty.is_canonical(self._descriptors.master)
            check(given, is_canonical=is_canonical, staged=self._staged)
        self._shell.demand_prompt(given)
        is_frozen = self._driver.intake.is_frozen
        demand_question(given, self._descriptors, is_frozen=is_frozen)

    def apply(self, apply: serializer.Apply, at: Moment) -> list[Effect]:
        """Begin with an input."""
        given = apply.input
        if self._shell.put_off is not None:
            self._shell.catch_up()
        if self._shell.is_marked:
            self._shell.enters()
        if self.owners is not None:
            self.attribute(given)
        if self._attention.is_on and given.kind in CLEARING:
            self._attention.typed(given.actor)
        if given.kind in TYPED:
            self._attention.typed_at = at.now
            self._current = (apply, 0)
            return self._go_on(at)
        if given.kind is InputKind.RESIZE:
            self._resize(given)
        elif given.kind is InputKind.SIGNAL:
            self._signal(signal_of(given.payload))
        return self._driver.intake.wrote(apply.index, len(given.payload), at)

    def attribute(self, given: Input) -> None:
        """Note who is behind what an input starts, before it is written."""
        owners = self.owners
        if owners is not None and given.kind is not InputKind.START:
            owners.types(given.actor)
            if given.kind in TYPED:
                owners.feeds(given.actor)

    def write(self, data: bytes | memoryview) -> int:
        """Give the terminal what it takes now of an input; return how much."""
        self._has_echoed = False
        return pty.write_available(self._descriptors.master, data)

    def echoed(self) -> None:
        """Note that something was printed, and sent to all clients."""
        self._has_echoed = True
        if self.taken is not None:
            # If nobody waits for the answer, the clients that show the echo need the
            # processor now: the timer of a terminal that echoes nothing books it.
            if self._is_awaited:
                self.book()
            return
        if self._book.awaits_echo:
            self._book.echoed()
        if self._current is not None:
            self._tick(0.0)  # What prints may have read, too.

    def book(self) -> None:
        """Book what the terminal has taken, if that was put off."""
        if self.taken is not None:
            (index, count), self.taken = self.taken, None
            if self._has_echoed:
                self._book.echoed()
            self.timer.set(None)
            self._shell.catch_up()
            at = now()
            self._driver.do(self._driver.intake.wrote(index, count, at), at)

    def _tick(self, _now: float) -> None:
        self.book()
        if self._current is not None:
            at = now()
            self._driver.do(self._go_on(at), at)

    def _go_on(self, at: Moment) -> list[Effect]:
        """Write as much as the terminal takes of what is half written."""
        if self._current is None:
            return []
        apply, done = self._current
        intake = self._driver.intake
        if intake.serializer.writing != apply.index:
            self._current = None  # It was cut.
            return []
        ahead, self.ahead = self.ahead, None
        if ahead is None and intake.blocked(boottime()) is not None:
            self.timer.set(at.now + AGAIN)
            return []
        given = apply.input
        rest = memoryview(given.payload)[done:] if done else given.payload
        terminal = self._settings.read(at)
        taken = self.write(rest) if ahead is None else ahead
        is_whole = taken == len(given.payload)
        if not (is_whole and self._line.put_off(given, terminal)):
            self._line.took(given, slice(done, done + taken), terminal)
        if taken < len(rest):
            self._current = (apply, done + taken)
            self.timer.set(at.now + AGAIN)
            return intake.wrote(apply.index, taken, at) if taken else []
        self._current = None
        kept = self._staged if terminal.canonical else 0
        self._staged = staged_after(kept, given.payload)
        if intake.serializer.queued_bytes:
            return intake.wrote(apply.index, taken, at)
        # Nobody waits behind it: the books are kept once its echo has been shown.
        self.taken, self._book.awaits_echo = (apply.index, taken), True
        self._is_awaited = given.waits
        self._timers.when_idle = None
        self.timer.set(at.now + ECHO_PATIENCE)
        return []

    def _signal(self, number: int) -> None:
        """Signal what runs in the foreground, as the terminal's own keys do."""
        pid = self._descriptors.record.pid
        group = pty.foreground(self._descriptors.master)
        if group in (None, pid):
            processes.signal_group(self._descriptors.pidfd, pid, number)
            return
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(group, number)

    def _resize(self, given: Input) -> None:
        size = size_of(given.payload)
        pty.set_size(self._descriptors.master, size)
        record, cells = self._descriptors.record, Cells(size.columns, size.rows)
        self._descriptors.record = record._replace(size=cells)
        self._resized(size)
