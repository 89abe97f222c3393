"""Formats a preview's report, cut to the available space.

Names of files, output and commands are the session's own: each line is made safe to
print, so that none can look like holdfast's. Holdfast's begin with a letter, theirs
with a blank, and each part says how much of it is left out.

Invariants, each checked by tests/core/capsule/test_preview_text.py:

I1  No line has a character that a terminal obeys or does not show.
I2  A brief fits MAX_PREVIEW characters, whatever the report has.
"""

from collections.abc import Iterable, Iterator
from typing import NamedTuple

import msgspec

from holdfast.model.preview_report import (
    CHANGED,
    DELETED,
    MADE,
    FileChange,
    PreviewReport,
)
from holdfast.model.text import bounded
from holdfast.wire.messages import MAX_NUMBER, MAX_PREVIEW, Preview

MAX_LINE = 200
"""Characters of one line of a diff, or of output, or of the name of a file."""

_MAX_STATUS = 255
_INDENT = "  "


class Room(NamedTuple):
    """How much is told."""

    things: int
    """Files, processes, ports and places, of each."""

    lines: int
    """Of a diff and of output, of each."""


WHOLE = Room(1000, 2000)
"""For a person who asked for the preview."""

_ROOMS = (Room(12, 24), Room(8, 12), Room(6, 6), Room(4, 3), Room(2, 1))
"""For who approves, until it fits."""


def summary(report: PreviewReport) -> str:
    """Return in one line what came of it."""
    if report.problem:
        return bounded(f"not previewed: {report.problem}", MAX_LINE)
    said = [_ended(report)]
    said += [
        f"{_counted(count, 'file')} {what}"
        for what in (MADE, CHANGED, DELETED)
        if (count := sum(one.what == what for one in report.files))
    ]
    if report.files_left_out:
        said.append(f"{_counted(report.files_left_out, 'more file')} made or changed")
    for count, one, many in (
        (_all(report.processes, report.processes_left_out), "process", "processes"),
        (_all(report.ports, report.ports_left_out), "port", "ports"),
        (_all(report.tried, report.tried_left_out), "connection", "connections"),
    ):
        if count:
            said.append(f"{count} {one if count == 1 else many} {_DONE[one]}")
    return "; ".join(said)


_DONE = {"process": "left running", "port": "opened", "connection": "tried"}


def told(report: PreviewReport, room: Room = WHOLE) -> list[str]:
    """Return it line by line: what came of it first, its output last."""
    lines = [summary(report)]
    if report.problem:
        return lines
    lines += _part("files", map(_file, report.files), report.files_left_out, room)
    left = (f"{one.pid} {one.command}" for one in report.processes)
    lines += _part("left running", left, report.processes_left_out, room)
    lines += _part("listens on", report.ports, report.ports_left_out, room)
    tried = (
        f"{one.how} {one.to}" + (f", {one.times} times" if one.times > 1 else "")
        for one in report.tried
    )
    lines += _part("tried to reach", tried, report.tried_left_out, room)
    lines += _part("not observed", report.unseen, 0, room)
    lines += _text("diff", report.diff.splitlines(), room, is_cut=report.diff_is_cut)
    lines += _ending(report, room)
    if report.branch:
        lines.append(bounded(f"kept as {report.branch}", MAX_LINE))
    return lines


def brief(report: PreviewReport) -> Preview:
    """Return what approvers are told."""
    for room in _ROOMS:
        text = "\n".join(told(report, room))
        if len(text) <= MAX_PREVIEW:
            break
    else:
        text = summary(report)
    status = report.exit
    return Preview(
        ran=not report.problem,
        ended=report.ended,
        exit=None if status is None else min(max(status, 0), _MAX_STATUS),
        duration_ms=_number(report.duration_ms),
        files=_all(report.files, report.files_left_out),
        processes=_all(report.processes, report.processes_left_out),
        ports=_all(report.ports, report.ports_left_out),
        tried=_all(report.tried, report.tried_left_out),
        text=text,
        digest=report.digest(),
    )


def outdated(shown: Preview) -> Preview:
    """Return a brief that says that something has changed since it was made."""
    if shown.text.startswith(_OUTDATED):
        return shown
    text = f"{_OUTDATED}\n{shown.text}"[:MAX_PREVIEW]
    return msgspec.structs.replace(shown, text=text)


_OUTDATED = "what it runs has changed since this preview:"


def _ended(report: PreviewReport) -> str:
    after = f"after {report.duration_ms / 1000:.1f} s"
    if not report.ended:
        return f"still running {after}, and stopped"
    return f"exit {'unknown' if report.exit is None else report.exit} {after}"


def _file(one: FileChange) -> str:
    sizes = {
        MADE: f"{one.after} bytes",
        CHANGED: f"{one.before} to {one.after} bytes",
        DELETED: f"{one.before} bytes",
    }
    return f"{one.what:<7} {one.path} ({sizes.get(one.what, '')})"


def _part(head: str, things: Iterable[str], left_out: int, room: Room) -> Iterator[str]:
    found = list(things)
    if not found:
        return
    yield f"{head}:"
    for one in found[: room.things]:
        yield _INDENT + bounded(one, MAX_LINE)
    if more := max(0, len(found) - room.things) + left_out:
        yield f"{_INDENT}… and {more} more"


def _text(head: str, found: list[str], room: Room, *, is_cut: bool) -> Iterator[str]:
    """Tell how a text begins."""
    if not found:
        return
    yield f"{head}:"
    for one in found[: room.lines]:
        yield _INDENT + _line(one)
    if is_cut or len(found) > room.lines:
        yield f"{_INDENT}… the rest is not shown"


def _ending(report: PreviewReport, room: Room) -> Iterator[str]:
    """Tell how the output ends."""
    found = report.output.splitlines()
    if not found:
        return
    is_cut = report.output_left_out or len(found) > room.lines
    yield "output, its end:" if is_cut else "output:"
    for one in found[-room.lines :]:
        yield _INDENT + _line(one)


def _line(text: str) -> str:
    return bounded(text.expandtabs(4), MAX_LINE)


def _counted(count: int, what: str) -> str:
    return f"1 {what}" if count == 1 else f"{count} {what}s"


def _all(found: tuple[object, ...], left_out: int) -> int:
    return _number(len(found) + left_out)


def _number(count: int) -> int:
    return min(max(count, 0), MAX_NUMBER)
