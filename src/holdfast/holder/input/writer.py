"""Writes the bytes of an input to the terminal, and then logs it.

One input at a time is written, as far as the terminal accepts it; the rest follows
when there is room. Once it has been accepted whole it is logged a moment later, so that
the echo of a key goes first.
"""

import contextlib
import math
import os
from collections.abc import Callable

from holdfast.core.input import serializer
from holdfast.core.input.intake import Intake
from holdfast.core.input.intake_effects import Effect
from holdfast.core.provenance.line_discipline import LineDiscipline
from holdfast.holder.input.payloads import (
    MAX_LINE,
    TYPED,
    check,
    signal_of,
    size_of,
    staged_after,
)
from holdfast.holder.moment import now
from holdfast.holder.session_descriptors import Vaulted
from holdfast.linux import processes, pty
from holdfast.model.geometry import Size
from holdfast.model.ids import Index  # noqa: TC001  # an annotation people read
from holdfast.model.inputs import Input, InputKind
from holdfast.model.session_record import Cells

ECHO_PATIENCE = 0.001
"""Seconds what the terminal took may stay unbooked: its echo goes first. Should
we be killed within them, the input's outcome is unknown, as it is during a write."""

Took = Callable[[Input, slice, LineDiscipline], None]
"""Told of each part of an input that the terminal has taken, and how it was set: what
is cut before its end stands there as well."""


class Writing:
    """What is on its way to the terminal of one session."""

    def __init__(
        self,
        vaulted: Vaulted,
        resized: Callable[[Size], None],
        took: Took,
        begin: Callable[[], None],
    ) -> None:
        self._vaulted = vaulted
        self._begin = begin
        self._resized = resized
        self._took = took
        self._staged = 0  # Bytes of an unfinished line, as far as we have seen.
        self.current: tuple[serializer.Apply, int] | None = None
        """What is half written, and how much of it the terminal has taken."""

        self._taken: tuple[Index, int] | None = None
        self.book_by = math.inf
        """When to book what the terminal has taken, echoed or not."""

        self.has_echoed = False
        """Whether anything was printed since the terminal took the last input."""

    @property
    def is_on(self) -> bool:
        """Whether an input is half written."""
        return self.current is not None

    def demand_room(self, given: Input) -> None:
        """Do nothing if the terminal could take an input.

        Raises:
            UsageError: It makes no sense, or is longer than a line may be.

        """
        if given.kind in TYPED and self._staged + len(given.payload) <= MAX_LINE:
            return
        is_canonical = pty.is_canonical(self._vaulted.master)
        check(given, is_canonical=is_canonical, staged=self._staged)

    def apply(self, apply: serializer.Apply, intake: Intake) -> list[Effect]:
        """Begin with an input."""
        self.current = (apply, 0)
        given = apply.input
        if given.kind is InputKind.RESIZE:
            self._resize(given)
        elif given.kind is InputKind.SIGNAL:
            self._signal(signal_of(given.payload))
        elif given.kind is InputKind.START:
            self._begin()
        else:
            return self.go_on(intake)
        self.current = None
        return intake.wrote(apply.index, len(given.payload), now())

    def go_on(self, intake: Intake) -> list[Effect]:
        """Write as much as the terminal takes of what is half written."""
        if self.current is None:
            return []
        at = now()
        apply, done = self.current
        if intake.serializer.writing != apply.index:
            self.current = None  # It was cut.
            return []
        if intake.blocked(at.now) is not None:
            return []
        rest = memoryview(apply.input.payload)[done:]
        terminal = pty.discipline(self._vaulted.master)
        taken = pty.write_available(self._vaulted.master, rest)
        self._took(apply.input, slice(done, done + taken), terminal)
        if taken < len(rest):
            self.current = (apply, done + taken)
            return intake.wrote(apply.index, taken, at) if taken else []
        self.current = None
        kept = self._staged if terminal.canonical else 0
        self._staged = staged_after(kept, apply.input.payload)
        if intake.serializer.queued_bytes:
            return intake.wrote(apply.index, taken, at)
        # Nobody waits behind it: the books are kept once its echo has been shown.
        self._taken, self.has_echoed = (apply.index, taken), False
        self.book_by = at.now + ECHO_PATIENCE
        return []

    def booked(self, intake: Intake) -> list[Effect]:
        """Book what the terminal has taken, if that was put off."""
        if self._taken is None:
            return []
        (index, count), self._taken = self._taken, None
        self.book_by = math.inf
        return intake.wrote(index, count, now())

    def _signal(self, number: int) -> None:
        """Signal what runs in the foreground, as the terminal's own keys do."""
        pid = self._vaulted.record.pid
        group = pty.foreground(self._vaulted.master)
        if group in (None, pid):
            processes.signal_group(self._vaulted.pidfd, pid, number)
            return
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(group, number)

    def _resize(self, given: Input) -> None:
        size = size_of(given.payload)
        pty.set_size(self._vaulted.master, size)
        record, cells = self._vaulted.record, Cells(size.columns, size.rows)
        self._vaulted.record = record._replace(size=cells)
        self._resized(size)
