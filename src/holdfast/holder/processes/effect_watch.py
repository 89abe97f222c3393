"""Finds out what a command did, if its operator said what it should do.

An intent with an expectation has the folder of the shell listed, and what runs and
listens in the session. The input that follows is judged once that is done, or
PATIENCE has passed. When its command has ended everything is listed again, and
the difference is recorded beside what was expected (core.autonomy.effects). Both
listings are made a few milliseconds at a time, in between the holder's other work.

A holder that dies in between leaves no entry: then it is not known what was done.
"""

import os
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from holdfast.core.autonomy.effects import (
    Listing,
    Stamp,
    compare,
    difference,
    observed_fields,
)
from holdfast.core.book.logbook import EntryKind
from holdfast.holder.context import Context
from holdfast.holder.input.intake_driver import IntakeDriver
from holdfast.linux import folder_listing, graph
from holdfast.linux.process_table import SLICE, Belonging
from holdfast.linux.sockets import LISTENING
from holdfast.model.expectations import Expectation
from holdfast.model.ids import ActorId
from holdfast.model.inputs import Input
from holdfast.wire.lines import Value, number_from

PATIENCE = 1.0
"""Seconds that an input waits for the first listing; the gate waits two for all."""

UNFINISHED = "the folder could not be listed in time"
NO_FOLDER = "the folder of the shell cannot be opened"


@dataclass(slots=True)
class _Look:
    """One listing that is being made."""

    fd: int | None
    nodes: Iterator[graph.Node | None]
    files: dict[str, Stamp] = field(default_factory=dict)
    processes: dict[tuple[int, int], str] = field(default_factory=dict)
    ports: set[int] = field(default_factory=set)
    missing: str = ""
    has_processes: bool = False

    def steps(self) -> Iterator[None]:
        """Look at one thing after the other."""
        for node in self.nodes:
            if node is not None:
                self._take(node)
            yield
        self.has_processes = True
        if self.fd is None:
            self.missing = NO_FOLDER
            return
        for found in folder_listing.walk(self.fd):
            if isinstance(found, str):
                self.missing = found
            else:
                self.files[found.path] = found.stamp
            yield

    def _take(self, node: graph.Node) -> None:
        self.processes[node.stat.pid, node.stat.started] = node.stat.name
        self.ports.update(
            one.socket.local_port
            for one in node.opened
            if one.socket is not None and one.socket.standing == LISTENING
        )

    def listing(self) -> Listing:
        """Return what was found."""
        return Listing(
            self.files,
            self.processes,
            frozenset(self.ports),
            self.missing,
            self.has_processes,
        )


@dataclass(slots=True)
class _Watched:
    """An act that is watched, from its declaration to the end of its command."""

    actor: ActorId
    expected: Expectation
    fd: int | None
    look: _Look
    steps: Iterator[None]
    deadline: float
    before: Listing | None = None
    number: int = 0
    is_over: bool = False
    """Whether its command has ended, and only the second listing is left."""

    then: Callable[[], None] | None = None
    """Who waits for a listing."""


class EffectWatch:
    """What is watched in one session: one act at a time."""

    def __init__(self, context: Context, driver: IntakeDriver) -> None:
        self._descriptors = context.descriptors
        self._driver = driver
        self._timer = context.timers.add(self._tick)
        self._watched: _Watched | None = None
        self._next: Expectation | None = None
        """What was declared while the last act was still looked at."""

    def intended(self, actor: ActorId, expected: Expectation | None) -> None:
        """Take what an operator expects of what it does next; None: nothing."""
        watched = self._watched
        if watched is not None and watched.number:
            # What was begun is looked at to its end, whatever is declared meanwhile.
            if watched.is_over and watched.actor == actor:
                self._next = expected
            return
        self.close()
        if expected is not None:
            self._begin(actor, expected)

    def _begin(self, actor: ActorId, expected: Expectation) -> None:
        try:
            fd: int | None = folder_listing.open_folder(self._descriptors.record.pid)
        except OSError:
            fd = None
        look = self._look(fd)
        deadline = time.monotonic() + PATIENCE
        self._watched = _Watched(actor, expected, fd, look, look.steps(), deadline)
        self._timer.set(0.0)

    def waits(self, given: Input, then: Callable[[], None]) -> bool:
        """Tell whether an input has to wait; call `then` when it may go."""
        watched = self._watched
        if watched is None or watched.actor != given.actor:
            return False
        if watched.before is not None and not watched.is_over:
            return False
        watched.then = then
        return True

    def told(self, kind: EntryKind, fields: dict[str, Value]) -> None:
        """Take that a command began or ended."""
        watched = self._watched
        if watched is None:
            return
        number = number_from(fields.get("number"))
        if kind is EntryKind.BEGAN and not watched.number:
            if fields.get("trigger") == watched.actor:
                self._conclude_first(watched)
                watched.number = number
        elif kind is EntryKind.FINISHED and number == watched.number:
            watched.is_over = True
            watched.look = self._look(watched.fd)
            watched.steps = watched.look.steps()
            watched.deadline = time.monotonic() + PATIENCE
            self._timer.set(0.0)

    def close(self) -> None:
        """Watch no longer."""
        watched, self._watched, self._next = self._watched, None, None
        self._timer.set(None)
        if watched is not None:
            if watched.fd is not None:
                os.close(watched.fd)
            if watched.then is not None:
                watched.then()

    def _look(self, fd: int | None) -> _Look:
        belonging = Belonging(self._descriptors.tree(self._descriptors.record.pid))
        return _Look(fd, graph.survey(belonging, descriptors=False))

    def _tick(self, _now: float) -> None:
        watched = self._watched
        if watched is None:
            return
        until = time.monotonic() + SLICE
        for _ in watched.steps:
            now = time.monotonic()
            if now >= watched.deadline:
                watched.look.missing = UNFINISHED
                break
            if now >= until:
                self._timer.set(0.0)
                return
        if watched.before is None:
            self._conclude_first(watched)
        elif watched.number:
            self._conclude(watched, watched.before)

    def _conclude_first(self, watched: _Watched) -> None:
        """Let the input go that waits for the listing before it."""
        if watched.before is None:
            is_early = next(watched.steps, self) is None
            if is_early:
                watched.look.missing = watched.look.missing or UNFINISHED
            watched.before = watched.look.listing()
        then, watched.then = watched.then, None
        self._timer.set(None)
        if then is not None:
            then()

    def _conclude(self, watched: _Watched, before: Listing) -> None:
        seen = difference(before, watched.look.listing())
        found = compare(watched.expected, seen)
        fields = observed_fields(watched.actor, watched.number, found, seen)
        self._driver.record(EntryKind.OBSERVED, fields)
        expected, then, watched.then = self._next, watched.then, None
        self.close()
        if expected is not None:
            self._begin(watched.actor, expected)
        if self._watched is not None:
            self._watched.then = then
        elif then is not None:
            then()
