"""What one session's holder counts, in a form that outlives it.

Theory of operation
-------------------
A holder counts in memory, and writes all its numbers to a small file when it has
nothing else to do. To read them takes the file and no process, so a session
that dozes is not woken. The next holder of the session reads the file and counts on.

    offset  size  field
    0       8n    the numbers, little endian, in the order of `LAYOUT`

`LAYOUT` follows from the list of metrics: a number for each combination of labels; for
a histogram one for each bucket, and one for the sum in microseconds. Another version of
the code may count other things, so the name of a file has a digest of its layout, and a
second file tells what that is. A file is never rewritten in another layout: a holder of
another version begins its own beside it, and all are added up.

Most numbers follow from entries of the logbook, and are counted after the entry is in
it, off the way of a key. What was written in the last milliseconds before a kill may be
missing; nothing is counted twice.

Invariants:

I1  A number never goes down.
I2  No entry, whatever its fields say, raises anything or makes a new series.
"""

import hashlib
import struct
from bisect import bisect_left
from collections.abc import Callable, Iterable, Mapping
from typing import Self

from holdfast.core.book.logbook import Entry, EntryKind
from holdfast.core.telemetry.exposition import Distribution
from holdfast.model.metrics import BY_NAME, HISTOGRAM, SESSION_METRICS, Metric
from holdfast.wire.lines import Value

MICROSECONDS = 1_000_000

_SUM = "sum"

Series = tuple[str, tuple[str, ...]]


def _series_of(metric: Metric) -> list[Series]:
    if metric.kind != HISTOGRAM:
        return [(metric.name, labels) for labels in metric.combinations()]
    places = [str(number) for number in range(len(metric.buckets) + 1)]
    return [(metric.name, (place,)) for place in (*places, _SUM)]


LAYOUT: tuple[Series, ...] = tuple(
    series for metric in SESSION_METRICS for series in _series_of(metric)
)
"""What each number of a file is."""

_PLACES = {series: place for place, series in enumerate(LAYOUT)}
_NUMBERS = struct.Struct(f"<{len(LAYOUT)}Q")
MAX_COUNT = 2**64 - 1

SIZE = _NUMBERS.size
"""Bytes of a file."""


def layout_text(layout: Iterable[Series] = LAYOUT) -> str:
    """Return what each number is, one per line."""
    return "".join(" ".join((name, *labels)) + "\n" for name, labels in layout)


LAYOUT_NAME = hashlib.sha256(layout_text().encode()).hexdigest()[:12]
"""What this layout is called."""


def layout_from(told: str) -> tuple[Series, ...]:
    """Read what `layout_text` wrote, perhaps in another version."""
    words = [line.split(" ") for line in told.splitlines()]
    return tuple((name, tuple(labels)) for name, *labels in words)


def numbers_from(raw: bytes, count: int) -> tuple[int, ...]:
    """Return `count` numbers of a file; what it does not have is 0."""
    size = 8 * count
    return struct.unpack(f"<{count}Q", raw[:size].ljust(size, b"\0"))


class SessionCounts:
    """The numbers of one session."""

    def __init__(self, numbers: Iterable[int] = ()) -> None:
        self._numbers = [*numbers] or [0] * len(LAYOUT)
        self.is_changed = False
        """Whether something was counted since `to_bytes`."""

    @classmethod
    def from_bytes(cls, raw: bytes) -> Self:
        """Count on where a file of this layout ends."""
        return cls(numbers_from(raw, len(LAYOUT)))

    def to_bytes(self) -> bytes:
        """Return what is written to the file."""
        self.is_changed = False
        return _NUMBERS.pack(*self._numbers)

    def add(self, name: str, *labels: str, amount: int = 1) -> None:
        """Count something."""
        place = _PLACES.get((name, labels))
        if place is None:
            place = _PLACES[name, BY_NAME[name].fitting(labels)]
        self._raise(place, amount)

    def observe(self, name: str, seconds: float) -> None:
        """Count something that took so long."""
        buckets = BY_NAME[name].buckets
        self._raise(_PLACES[name, (str(bisect_left(buckets, seconds)),)], 1)
        self._raise(_PLACES[name, (_SUM,)], round(max(0.0, seconds) * MICROSECONDS))

    def stored(self, entry: Entry) -> None:
        """Count what an entry of the logbook tells of."""
        count = _COUNTED.get(entry.kind)
        if count is not None:
            count(self, entry.fields)

    def _raise(self, place: int, amount: int) -> None:
        self._numbers[place] = min(self._numbers[place] + max(0, amount), MAX_COUNT)
        self.is_changed = True


def _word(fields: Mapping[str, Value], name: str) -> str:
    value = fields.get(name)
    return "none" if value is None else str(value)


def _number(fields: Mapping[str, Value], name: str) -> int:
    value = fields.get(name)
    return value if isinstance(value, int) else 0


def _input(counts: SessionCounts, fields: Mapping[str, Value]) -> None:
    actor = _word(fields, "actor_kind")
    counts.add("holdfast_inputs_total", actor, _word(fields, "verdict"), "admitted")
    if fields.get("originators"):
        counts.add("holdfast_inputs_staged_by_others_total", actor)


def _refused(counts: SessionCounts, fields: Mapping[str, Value]) -> None:
    verdict = _word(fields, "verdict")
    actor = _word(fields, "actor_kind")
    counts.add("holdfast_inputs_total", actor, verdict, "refused")


def _settled(counts: SessionCounts, fields: Mapping[str, Value]) -> None:
    outcome = _word(fields, "as")
    if outcome != "applied":  # One entry speaks for several of those.
        counts.add("holdfast_inputs_unfinished_total", outcome)


def _asked(counts: SessionCounts, _fields: Mapping[str, Value]) -> None:
    counts.add("holdfast_approvals_asked_total")


def _answered(counts: SessionCounts, fields: Mapping[str, Value]) -> None:
    answer = "yes" if fields.get("yes") else "no"
    counts.add("holdfast_approvals_answered_total", answer)


def _exec(counts: SessionCounts, fields: Mapping[str, Value]) -> None:
    amount = max(1, _number(fields, "count"))
    counts.add("holdfast_execs_total", _word(fields, "as"), amount=amount)


def _turn(counts: SessionCounts, fields: Mapping[str, Value]) -> None:
    counts.add("holdfast_turns_total", _word(fields, "reason"))
    _dropped(counts, fields)


def _dropped(counts: SessionCounts, fields: Mapping[str, Value]) -> None:
    if dropped := _number(fields, "dropped_inputs"):
        counts.add("holdfast_thrown_away_inputs_total", amount=dropped)


def _frozen(counts: SessionCounts, fields: Mapping[str, Value]) -> None:
    counts.add("holdfast_freezes_total")
    _dropped(counts, fields)


def _fenced(counts: SessionCounts, fields: Mapping[str, Value]) -> None:
    counts.add("holdfast_fences_total", "fenced")
    _dropped(counts, fields)


def _unfenced(counts: SessionCounts, _fields: Mapping[str, Value]) -> None:
    counts.add("holdfast_fences_total", "lifted")


def _opened(counts: SessionCounts, fields: Mapping[str, Value]) -> None:
    how = "forked" if fields.get("parent") else "new"
    counts.add("holdfast_incarnations_total", how)


def _recovered(counts: SessionCounts, fields: Mapping[str, Value]) -> None:
    how = "recovered"
    if fields.get("origin"):
        how = "moved"
    elif fields.get("image"):
        how = "restored"
    counts.add("holdfast_incarnations_total", how)


def _resumed(counts: SessionCounts, _fields: Mapping[str, Value]) -> None:
    counts.add("holdfast_takeovers_total")


def _imaged(counts: SessionCounts, _fields: Mapping[str, Value]) -> None:
    counts.add("holdfast_checkpoints_total", "running")


def _forked(counts: SessionCounts, _fields: Mapping[str, Value]) -> None:
    counts.add("holdfast_checkpoints_total", "forked")


def _stopped(counts: SessionCounts, fields: Mapping[str, Value]) -> None:
    then = "moved" if fields.get("to") else "stopped"
    counts.add("holdfast_checkpoints_total", then)
    _reaped(counts, fields)


def _reaped(counts: SessionCounts, fields: Mapping[str, Value]) -> None:
    if fields.get("why"):
        counts.add("holdfast_reaps_total", _word(fields, "why"))


def _exited(counts: SessionCounts, fields: Mapping[str, Value]) -> None:
    told = _word(fields, "how")
    how = "failed" if told.isdecimal() else "unknown"
    if told == "0":
        how = "ok"
    elif told.startswith("-"):
        how = "signal"
    counts.add("holdfast_exits_total", how)
    _dropped(counts, fields)


def _finished(counts: SessionCounts, fields: Mapping[str, Value]) -> None:
    status = fields.get("status")
    result = "unknown" if status is None else "failed" if status else "ok"
    counts.add("holdfast_commands_total", result)


def _limited(counts: SessionCounts, fields: Mapping[str, Value]) -> None:
    amount = max(1, _number(fields, "count"))
    counts.add("holdfast_limits_met_total", _word(fields, "limit"), amount=amount)


def _unbound(counts: SessionCounts, _fields: Mapping[str, Value]) -> None:
    counts.add("holdfast_listeners_gone_total")


_COUNTED: dict[EntryKind, Callable[[SessionCounts, Mapping[str, Value]], None]] = {
    EntryKind.INPUT: _input,
    EntryKind.REFUSED: _refused,
    EntryKind.SETTLED: _settled,
    EntryKind.ASKED: _asked,
    EntryKind.ANSWERED: _answered,
    EntryKind.EXEC: _exec,
    EntryKind.TURN: _turn,
    EntryKind.FROZEN: _frozen,
    EntryKind.FENCED: _fenced,
    EntryKind.UNFENCED: _unfenced,
    EntryKind.OPENED: _opened,
    EntryKind.RECOVERED: _recovered,
    EntryKind.RESUMED: _resumed,
    EntryKind.IMAGED: _imaged,
    EntryKind.FORKED: _forked,
    EntryKind.STOPPED: _stopped,
    EntryKind.ENDING: _reaped,
    EntryKind.EXITED: _exited,
    EntryKind.FINISHED: _finished,
    EntryKind.LIMITED: _limited,
    EntryKind.UNBOUND: _unbound,
}


class CountTotals:
    """The numbers of many sessions together, by series."""

    def __init__(self) -> None:
        self.by_series: dict[Series, int] = {}

    def take(self, layout: tuple[Series, ...], numbers: Iterable[int]) -> None:
        """Add the sums of the files of one layout."""
        for series, number in zip(layout, numbers, strict=True):
            self.by_series[series] = self.by_series.get(series, 0) + number

    def values(self) -> dict[Series, float]:
        """Return what is no histogram, and is not 0."""
        return {
            (name, labels): number
            for (name, labels), number in self.by_series.items()
            if number and name in BY_NAME and BY_NAME[name].kind != HISTOGRAM
        }

    def distributions(self) -> dict[str, Distribution]:
        """Return every histogram."""
        found = {}
        for metric in SESSION_METRICS:
            if metric.kind == HISTOGRAM:
                *counts, total = (
                    self.by_series.get(series, 0) for series in _series_of(metric)
                )
                found[metric.name] = Distribution(tuple(counts), total / MICROSECONDS)
        return found
