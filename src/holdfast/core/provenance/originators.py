"""Who set a variable, defined an alias, or ran the command of a given moment.

Theory of operation
-------------------
The shell's state is seen at its prompts. What differs between two of them is the
doing of the command that ran in between: of its *trigger*, who pressed Return, and
of its *authors*, who typed its line, or typed into it while it ran. Each item that
was ever seen to change is kept with that origin; what never changed is as it was
when the shell began.

Seeing may fail: a capture is lost or makes no sense, a holder dies in between.
Then the next difference belongs to *one of* the commands since the last state that
was seen. Such an origin says so (`first` to `command`); it names a trigger only if
all of them have the same, and counts every operator who had a hand in one of them as an
author. What changed without any command (a trap, a hook of the prompt, completion)
has no origin that could be named.

A moment belongs to the command in whose span it lies. Spans begin when the line was
entered and end when the end was seen, so those of commands that were typed ahead
overlap, and a moment in two of them belongs to one of the two. A moment on the wall
clock that came twice, because the clock was set back, is attributed to no one.

Memory is bounded: what is forgotten is unknown, and not taken for unchanged.

Invariants, checked by tests/core/provenance/test_originators.py:

I1  An item that was seen to change has the origin of the last change; a single
    command is named only if no other ran between the two states.
I2  `of` returns None only for what is as it was when the shell began.
I3  A trigger is named only if every command that may be meant has that one.
I4  `at` names a single command only if no other span holds the moment, and None
    only if no command ran then.
I5  What is rebuilt from the logbook answers as what wrote it, or knows less.
I6  What is kept is bounded by MAX_SPANS, MAX_TRACED and MAX_STEPS.
"""

import re
from collections import OrderedDict, deque
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import NamedTuple

from holdfast.core.book.logbook import Entry, EntryKind
from holdfast.core.provenance.changed_entries import (
    Changed,
    changed_fields,
    initial_fields,
    lost_fields,
    read_changed,
)
from holdfast.core.provenance.commands import Command, read_began, read_finished
from holdfast.core.provenance.entered_lines import Instant, distinct
from holdfast.core.shell.shell_state import (
    MAX_CHANGES,
    Change,
    ChangeKind,
    Item,
    ShellState,
    changes,
)
from holdfast.model.ids import ActorId
from holdfast.model.text import printable
from holdfast.wire.lines import Value, number_from

MAX_SPANS = 512
"""Commands whose moments can be asked for, half a kilobyte each: a day of typing."""

MAX_TRACED = 4096
"""Items whose origin is kept: a shell with every completion loaded has fewer."""

MAX_STEPS = 16
"""Times the clock was set back that are told apart."""

MAX_INITIAL = 8
"""Entries that tell what a shell began with: three thousand items."""

MAX_LINE = 80
"""Characters kept of a command's line: enough to know it by."""

COARSE_MS = 11
"""How much older than the moment itself its time may be: the kernel dates files
and processes by ticks of up to ten milliseconds, and we round."""

SLEW_MS = 50
"""Milliseconds by which two clocks may differ without either having been set."""

SLEW = 1000
"""One in so many that a clock which is being corrected may run slower."""

NOBODY = ActorId("")

_WORD = re.compile(r"[^\s;&|()<>]+")


@dataclass(frozen=True, slots=True)
class Origin:
    """The command that is behind something, or those of which one is."""

    command: int
    """Its number, or that of the last that may be meant; 0 if none is known."""

    trigger: ActorId
    """Who pressed Return; empty if that is not known."""

    authors: tuple[ActorId, ...]
    """Who typed its line, or into it: each once, in order."""

    line: str
    """How its line begins, safe to be shown; empty if several may be meant."""

    at_wall_ms: int
    """When it was entered; the first of them, if several may be meant."""

    first: int = 0
    """The number of the first that may be meant; 0 if it is certain which."""

    @property
    def is_sure(self) -> bool:
        """Whether it is this one command, and no other."""
        return self.command > 0 and not self.first

    @property
    def actors(self) -> tuple[ActorId, ...]:
        """All operators known to have had a hand in it, the trigger first."""
        return distinct(actor for actor in (self.trigger, *self.authors) if actor)


UNKNOWN = Origin(0, NOBODY, (), "", 0)
"""An unknown operator, at an unknown time."""


class Traced(NamedTuple):
    """An item that has changed, how, and by whom."""

    item: Item
    how: ChangeKind
    digest: bytes
    origin: Origin


class Span(NamedTuple):
    """When a command may have done something."""

    number: int
    since: Instant
    until: Instant | None
    shared_ms: int
    origin: Origin


class Kept(NamedTuple):
    """What is known of who is behind what, as it is written down."""

    spans: tuple[Span, ...]
    traced: tuple[Traced, ...]
    items: tuple[tuple[Item, bytes], ...] | None
    is_lost: bool
    unseen: int
    doubt: Origin | None
    rest: Origin | None
    steps: tuple[tuple[int, int], ...]
    clock: Instant | None
    running: Command | None


class Origins:
    """Who is behind what, in one session's shell."""

    def __init__(self) -> None:
        self._spans: deque[Span] = deque(maxlen=MAX_SPANS)
        self._traced: OrderedDict[Item, Traced] = OrderedDict()
        self._state: ShellState | None = None
        self._is_lost = True
        self._unseen = 0  # The first command after which no state was seen.
        # Who else may be behind what differs next; None: nobody.
        self._doubt: Origin | None = None
        # What is said of items that no change was seen of; None: the shell had them.
        self._rest: Origin | None = None
        self._steps: list[tuple[int, int]] = []
        self._clock: Instant | None = None
        # Of the logbook, as it is read: what runs, and what is set.
        self._running: Command | None = None
        self._items: dict[Item, bytes] = {}

    # ── what happens ──────────────────────────────────────────────────────

    def began(self, command: Command) -> None:
        """Take note that a command began."""
        self._unseen = self._unseen or command.number
        self._watch_clock(command.since)
        self._spans.append(_span(command))

    def fed(self, command: Command) -> None:
        """Take note that others have typed into the last command."""
        if self._spans and self._spans[-1].number == command.number:
            self._spans[-1] = _span(command)

    def ended(self, command: Command) -> None:
        """Take note that the last command has ended."""
        self.fed(command)
        if command.until is not None:
            self._watch_clock(command.until)

    def seen(self, state: ShellState) -> list[dict[str, Value]]:
        """Take the state at a prompt; return what is to be recorded as CHANGED."""
        old, self._state = self._state, state
        was_lost = self._is_lost
        first, last = self._close()
        if old is None:
            if last or self._doubt is not None:
                behind = self._settled(self._behind(first, last))
                self._rest = _either(self._rest, behind)
            return initial_fields(state.items, MAX_INITIAL)
        found = changes(old, state)
        if not (found or last or was_lost):
            return []
        origin = self._settled(self._behind(first, last))
        fields = changed_fields(origin.first or origin.command, origin.command, found)
        if len(found) >= MAX_CHANGES:
            fields["more"] = number_from(fields["more"]) + 1  # There may be more still.
        self._trace(found, origin, number_from(fields["more"]))
        return [fields]

    def unchanged(self) -> list[dict[str, Value]]:
        """Take note that the shell has told nothing new; return what is recorded."""
        # Nothing new since what it told last, which may be what was lost.
        if self._is_lost or not self._unseen:
            return []
        return [changed_fields(*self._close(), ())]

    def lost(self) -> list[dict[str, Value]]:
        """Take note that the state is not known; return what is recorded."""
        is_news = not self._is_lost
        self._is_lost = True
        if not self._unseen and self._doubt is None:
            self._doubt, is_news = UNKNOWN, True  # It changed without a command.
        return [lost_fields()] if is_news else []

    @property
    def is_behind(self) -> bool:
        """Whether a command ran after which no state was seen."""
        return self._unseen > 0

    # ── what can be asked ─────────────────────────────────────────────────

    @property
    def last(self) -> int:
        """The number of the last command; 0 before the first."""
        return self._spans[-1].number if self._spans else 0

    def of(self, item: Item) -> Origin | None:
        """Return who set it; None if it is as it was when the shell began."""
        traced = self._traced.get(item)
        known = self._rest if traced is None else traced.origin
        if self._is_lost:
            return _either(known, self._behind(self._unseen, self.last))
        if known is None and not self._has(item):
            return UNKNOWN
        return known

    def traced(self, item: Item) -> Traced | None:
        """Return the last change of an item that was seen."""
        return self._traced.get(item)

    def digest(self, item: Item) -> bytes:
        """Return the digest of an item as it was seen last; empty if there is none."""
        return b"" if self._state is None else self._state.items.get(item, b"")

    def since(self, number: int) -> tuple[Traced, ...]:
        """Return what was changed by commands after the one of this number."""
        found = (one for one in self._traced.values() if one.origin.command > number)
        return tuple(found)

    def at(self, wall_ms: int) -> Origin | None:
        """Return the command that ran at a moment of the wall clock."""
        if any(low <= wall_ms <= high for low, high in self._steps):
            return UNKNOWN
        return self._during(
            [
                span
                for span in self._spans
                if span.since.wall_ms - COARSE_MS <= wall_ms
                and (span.until is None or wall_ms <= span.until.wall_ms)
            ],
            is_before=not self._spans or wall_ms < self._spans[0].since.wall_ms,
        )

    def at_up(self, up_ms: int) -> Origin | None:
        """Return the command that ran so long after the machine was started."""
        return self._during(
            self._at_up(up_ms),
            is_before=not self._spans or up_ms < self._spans[0].since.up_ms,
        )

    def starter(self, up_ms: int, creator: ActorId) -> ActorId:
        """Return who began what the shell started then; NOBODY if it is not known.

        What it started before its first command is its own creator's.
        """
        found = self.at_up(up_ms)
        if found is None:
            is_first = not self._spans or up_ms < self._spans[0].since.up_ms
            return creator if is_first else NOBODY
        # From when others typed into it, it may have been told to by them.
        is_shared = any(0 < one.shared_ms <= up_ms for one in self._at_up(up_ms))
        return NOBODY if is_shared else found.trigger

    def last_use(self, name: str) -> Origin | None:
        """Return the last command whose line has this word."""
        for span in reversed(self._spans):
            if name in _WORD.findall(span.origin.line):
                return span.origin
        return None

    # ── what the logbook says ─────────────────────────────────────────────

    def take_up(self, entries: Iterable[Entry]) -> None:
        """Find out, after a predecessor's death, what it knew."""
        for entry in entries:
            self.read(entry)
        # A prompt that was seen is in the book. The next one of what still runs is
        # yet to come.
        is_over = self._running is None
        self._is_lost = self._is_lost or (self.is_behind and is_over)

    def read(self, entry: Entry) -> None:
        """Take the next entry of the logbook."""
        match entry.kind:
            case EntryKind.BEGAN:
                self._running = read_began(entry.fields)
                self.began(self._running)
            case EntryKind.FINISHED if self._running is not None:
                self.ended(read_finished(self._running, entry.fields))
                self._running = None
            case EntryKind.CHANGED:
                self._had_changed(read_changed(entry.fields))
            case EntryKind.RECOVERED if isinstance(entry.fields.get("command"), int):
                self.roll_back(entry.number("command"), entry.at_wall_ms)
            case EntryKind.RECOVERED:
                vars(self).update(vars(Origins()))  # The shell is another one.
            case _:
                pass

    def roll_back(self, last: int, wall_ms: int) -> None:
        """Take that the shell is again as it was after a command, by an image.

        What later ones had done is undone: who set an item before is no longer known,
        and differences from what was last seen are attributed to no one. The
        machine may have been started again since: by its clock nothing is dated that
        happened before.
        """
        spans, traced = [*self._spans], [*self._traced.values()]
        rest = self._rest
        vars(self).update(vars(Origins()))
        self._spans.extend(_past(one, wall_ms) for one in spans if one.number <= last)
        for one in traced:
            is_undone = not 0 < one.origin.command <= last
            origin = UNKNOWN if is_undone else one.origin
            self._traced[one.item] = one._replace(origin=origin)
        if rest is not None:
            self._rest = rest if 0 < rest.command <= last else UNKNOWN

    def dump(self) -> "Kept":
        """Return what the entries read so far have said, as it is written down."""
        return Kept(
            spans=tuple(self._spans),
            traced=tuple(self._traced.values()),
            items=None if self._state is None else tuple(self._items.items()),
            is_lost=self._is_lost,
            unseen=self._unseen,
            doubt=self._doubt,
            rest=self._rest,
            steps=tuple(self._steps),
            clock=self._clock,
            running=self._running,
        )

    @classmethod
    def load(cls, kept: "Kept") -> "Origins":
        """Return what was written down; the entries after it can be read."""
        found = cls()
        found._spans.extend(kept.spans)
        found._traced.update((one.item, one) for one in kept.traced)
        found._items = dict(kept.items or ())
        if kept.items is not None:
            found._state = _state(found._items)
        found._is_lost, found._unseen = kept.is_lost, kept.unseen
        found._doubt, found._rest = kept.doubt, kept.rest
        found._steps, found._clock = [*kept.steps], kept.clock
        found._running = kept.running
        return found

    def _had_changed(self, said: Changed) -> None:
        if said.is_lost:
            self.lost()
            return
        items = self._items
        for one in said.changes:
            items[one.item] = one.digest
            if one.how is ChangeKind.REMOVED:
                del items[one.item]
        items.update(said.initial)
        if self._state is None and (self._unseen or self._doubt is not None):
            behind = self._settled(self._behind(self._unseen, self.last))
            self._rest = _either(self._rest, behind)
        self._close()
        self._trace(said.changes, self._behind(said.first, said.last), said.more)
        # Items that are not in the book will seem to be new.
        self._doubt = self._rest if said.more else None
        self._state = _state(items)

    # ── inside ────────────────────────────────────────────────────────────

    def _close(self) -> tuple[int, int]:
        """Return which commands ran since the last state that was seen."""
        first, last = self._unseen, self.last if self._unseen else 0
        self._unseen, self._is_lost = 0, False
        return first, last

    def _has(self, item: Item) -> bool:
        """Tell whether it is known if the shell has an item."""
        state = self._state
        return state is not None and (state.is_whole or item in state.items)

    def _settled(self, origin: Origin) -> Origin:
        """Return who may be behind what differs, including doubtful ones."""
        doubt, self._doubt = self._doubt, None
        return origin if doubt is None else _either(doubt, origin)

    def _trace(self, found: Iterable[Change], origin: Origin, left_out: int) -> None:
        for one in found:
            self._traced[one.item] = Traced(one.item, one.how, one.digest, origin)
            self._traced.move_to_end(one.item)
        if left_out:
            self._rest = _either(self._rest, origin)
        while len(self._traced) > MAX_TRACED:
            _, dropped = self._traced.popitem(last=False)
            self._rest = _either(self._rest, dropped.origin)

    def _behind(self, first: int, last: int) -> Origin:
        """Return the one of these commands, or that it is one of them."""
        if first and first == last == self.last:
            return self._spans[-1].origin
        found = [one.origin for one in self._spans if first <= one.number <= last]
        if len(found) != last - first + 1:
            return UNKNOWN
        return found[0] if first == last else _merged(found)

    def _during(self, found: list[Span], *, is_before: bool) -> Origin | None:
        if not found:
            has_forgotten = bool(self._spans) and self._spans[0].number > 1
            return UNKNOWN if is_before and has_forgotten else None
        if len(found) == 1:
            return found[0].origin
        return _merged([one.origin for one in found])

    def _at_up(self, up_ms: int) -> list[Span]:
        return [
            span
            for span in self._spans
            if span.since.up_ms - COARSE_MS <= up_ms
            and (span.until is None or up_ms <= span.until.up_ms)
        ]

    def _watch_clock(self, at: Instant) -> None:
        """Take note of moments that the wall clock has shown twice."""
        old, self._clock = self._clock, at
        if old is None:
            return
        passed = at.up_ms - old.up_ms
        if passed < 0:
            self._clock = old  # It was typed ahead.
        elif at.wall_ms < old.wall_ms + passed - SLEW_MS - passed // SLEW:
            low = min(at.wall_ms - passed, old.wall_ms)
            self._steps.append((low, old.wall_ms + passed))
            while len(self._steps) > MAX_STEPS:
                (one, two), (three, four), *rest = self._steps
                self._steps = [(min(one, three), max(two, four)), *rest]


def _state(items: dict[Item, bytes]) -> ShellState:
    return ShellState(items=items, path=None, aliases={}, environment={}, is_whole=True)


def _span(command: Command) -> Span:
    origin = Origin(
        command.number,
        command.trigger or NOBODY,
        distinct([*command.authors, *command.hands]),
        printable(command.line, MAX_LINE),
        command.since.wall_ms,
    )
    shared_ms = command.shared_ms
    return Span(command.number, command.since, command.until, shared_ms, origin)


def _past(span: Span, wall_ms: int) -> Span:
    """Return when a command may have done something, before an image was restored."""
    until = wall_ms if span.until is None else span.until.wall_ms
    since = Instant(span.since.wall_ms, 0)
    return span._replace(since=since, until=Instant(until, 0), shared_ms=0)


def _either(known: Origin | None, other: Origin) -> Origin:
    """Return an origin that says: this, if there is one, or the other."""
    if known is None:
        # Nobody at all is a candidate as well: the shell may have had it.
        return replace(other, line="", first=other.first or other.command)
    return known if known == other else _merged([known, other])


def _merged(found: list[Origin]) -> Origin:
    """Return an origin that says: one of these."""
    triggers = {one.trigger for one in found}
    if not all(one.command for one in found):
        return UNKNOWN
    return Origin(
        max(one.command for one in found),
        triggers.pop() if len(triggers) == 1 else NOBODY,
        distinct(actor for one in found for actor in one.actors),
        "",
        min(one.at_wall_ms for one in found),
        first=min(one.first or one.command for one in found),
    )
