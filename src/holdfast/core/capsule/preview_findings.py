"""Compares the state before and after a preview, in a bounded report."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from holdfast.model.preview_report import (
    FileChange,
    LeftProcess,
    PreviewReport,
    Tried,
)

MAX_FILES = 1000
MAX_THINGS = 200
"""Processes, ports and places in a report, of each."""

MAX_OUTPUT = 64 * 1024
MAX_DIFF = 64 * 1024
"""Characters of each."""


class Glance(NamedTuple):
    """What ran and listened in a capsule at one moment."""

    processes: Mapping[tuple[int, int], str]
    """Commands, by the capsule's number of a process and when it was started."""

    ports: frozenset[str]


class Command(NamedTuple):
    """How the command ended."""

    ended: bool
    exit: int | None
    duration_ms: int
    output: str
    output_left_out: int


class Seen(NamedTuple):
    """What was found out about a preview, whole."""

    command: Command
    before: Glance
    after: Glance
    files: Sequence[FileChange]
    diff: str
    diff_is_cut: bool
    tried: Sequence[Tried]
    tried_left_out: int
    unseen: tuple[str, ...]


def report_of(seen: Seen, made_ms: int) -> PreviewReport:
    """Return what is told of it: what is new, as much as there is room for."""
    command = seen.command
    left = [
        LeftProcess(number, line)
        for (number, started), line in sorted(seen.after.processes.items())
        if (number, started) not in seen.before.processes
    ]
    ports = sorted(seen.after.ports - seen.before.ports)
    cut = max(0, len(command.output) - MAX_OUTPUT)
    return PreviewReport(
        made_ms=made_ms,
        ended=command.ended,
        exit=command.exit,
        duration_ms=command.duration_ms,
        output=command.output[cut:],
        output_left_out=command.output_left_out + cut,
        files=tuple(seen.files[:MAX_FILES]),
        files_left_out=max(0, len(seen.files) - MAX_FILES),
        diff=seen.diff[:MAX_DIFF],
        diff_is_cut=seen.diff_is_cut or len(seen.diff) > MAX_DIFF,
        processes=tuple(left[:MAX_THINGS]),
        processes_left_out=max(0, len(left) - MAX_THINGS),
        ports=tuple(ports[:MAX_THINGS]),
        ports_left_out=max(0, len(ports) - MAX_THINGS),
        tried=tuple(seen.tried[:MAX_THINGS]),
        tried_left_out=seen.tried_left_out + max(0, len(seen.tried) - MAX_THINGS),
        unseen=seen.unseen,
    )
