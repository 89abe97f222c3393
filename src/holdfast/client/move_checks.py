"""What is in the way of a session that is to leave this machine, and what it needs.

Nothing is stopped, and nothing is written.
"""

# ruff: noqa: PTH113, PTH115, PTH208  # names that programs chose

import os
from collections.abc import Iterator
from pathlib import Path

import msgspec

from holdfast.client import calls, host, keeper
from holdfast.linux import exec_filter
from holdfast.linux.criu.program import find
from holdfast.linux.image_facts import mapped_paths, this_machine
from holdfast.linux.stored.image_store import images_folder
from holdfast.linux.stored.move_notes import MoveNote
from holdfast.model.envelopes import Right
from holdfast.model.errors import MoveBlocked, NotAllowed
from holdfast.model.ids import SessionId
from holdfast.model.session_record import HeldRecord, SessionRecord, listed_in
from holdfast.model.session_requests import ListSessions, OfferMove
from holdfast.model.text import printable

ROOM = 64 * 1024 * 1024
"""Bytes of the disk that are left to others."""

MAX_PATHS = 400
"""Paths that are asked about; a packet has no room for more."""

MAX_LENGTH = 40 * 1024
MAX_COMMAND = 8 * 1024
"""Characters of a command that is told; a longer one is judged as any command."""

_STATM = 2
"""Columns of /proc/PID/statm: size, and what is in memory."""


def checked(session: SessionId, note: MoveNote) -> OfferMove:
    """Look whether a session can leave; return what the other host has to have.

    Raises:
        UsageError: Something is in the way.
        Forbidden: We may not move it.
        Unavailable: Nobody answers who would know.

    """
    facts = _facts_of(session)
    record, held = SessionRecord.from_facts(facts), HeldRecord.from_facts(facts)
    blocked = [*_in_the_way(record, held)]
    if not blocked:
        presence = calls.presence(session)
        if Right.MOVE.value not in presence.rights:
            raise NotAllowed(note.by, Right.MOVE.value)
        seen = calls.preflight(session)
        for one in seen.blockers:
            whose = f"{printable(one.program)} ({one.pid}): " if one.pid else ""
            blocked.append(f"{whose}{printable(one.what)} ({printable(one.remedy)})")
    pids = _members(held.cgroup)
    size = _memory(pids)
    disk = os.statvfs(images_folder())
    free = disk.f_bavail * disk.f_frsize - ROOM
    if size > free:
        mb = 1_000_000
        told = f"an image takes some {size // mb} MB here, and {free // mb} are free"
        blocked.append(f"{told} (`holdfast images rm` makes room)")
    program = find().program
    if blocked or program is None or held.capsule is None:
        why = (
            "; ".join(blocked) or "there is no CRIU here (`holdfast doctor` says more)"
        )
        raise MoveBlocked(note.name, note.host, why)
    major, minor, patch = (*program.version, 0, 0, 0)[:3]
    trees = held.capsule.trees
    return OfferMove(
        session,
        note.name,
        record.incarnation,
        note.relay,
        msgspec.to_builtins(this_machine(major * 10000 + minor * 100 + patch)),
        not exec_filter.is_privileged(),
        tuple(_fitting(_needed(record, pids, trees))),
        size,
        record.command if len(repr(record.command)) <= MAX_COMMAND else (),
        record.cwd,
        held.first_name,
        held.exec_gate,
    )


def _in_the_way(record: SessionRecord, held: HeldRecord) -> Iterator[str]:
    if not record.authority:
        yield "it was not started with --movable (`holdfast new --movable` starts one)"
    elif held.capsule is None:
        yield "it is not in a capsule"
    elif not held.leased:
        yield "its relay has not granted it yet (`holdfast leases` says why)"
    if host.status() is None:
        yield "no host runs here (`holdfast up` starts it)"


def _facts_of(session: SessionId) -> dict[str, object]:
    for one in listed_in(keeper.request(ListSessions())):
        if isinstance(one, dict) and one.get("id") == session:
            return one
    raise MoveBlocked(session, "", "it does not live here")


def _members(cgroup: str) -> list[int]:
    try:
        return [int(one) for one in Path(cgroup, "cgroup.procs").read_text().split()]
    except (OSError, ValueError):
        return []


def _memory(pids: list[int]) -> int:
    """Return the bytes that processes have in memory: about what an image takes."""
    total = 0
    for pid in pids:
        try:
            columns = Path(f"/proc/{pid}/statm").read_text().split()[:_STATM]
            total += int(columns[-1]) * os.sysconf("SC_PAGE_SIZE")
        except (OSError, ValueError, IndexError):
            continue
    return total


def _needed(
    record: SessionRecord, pids: list[int], trees: tuple[str, ...]
) -> Iterator[str]:
    """Yield the folders and files that have to be where they are here."""
    yield record.cwd
    for path in sorted({*mapped_paths(pids), *_open_paths(pids)}):
        if not any(path == one or path.startswith(f"{one}/") for one in trees):
            yield path


def _open_paths(pids: list[int]) -> Iterator[str]:
    """Yield what processes have open, and the folders of what they write to."""
    for pid in pids:
        try:
            yield os.readlink(f"/proc/{pid}/cwd")
            numbers = os.listdir(f"/proc/{pid}/fd")
        except OSError:
            continue
        for number in numbers:
            yield from _open_path(pid, number)


def _open_path(pid: int, number: str) -> Iterator[str]:
    try:
        path = os.readlink(f"/proc/{pid}/fd/{number}")
        lines = Path(f"/proc/{pid}/fdinfo/{number}").read_text().splitlines()
    except OSError:
        return
    is_file = path.startswith("/") and not path.endswith(" (deleted)")
    if not is_file or not os.path.isfile(path):
        return
    flags = next((one for one in lines if one.startswith("flags:")), "flags: 0")
    writes = int(flags.split()[1], 8) & os.O_ACCMODE != os.O_RDONLY
    # What is open for writing comes along, and is put there.
    yield path.rpartition("/")[0] or "/" if writes else path


def _fitting(paths: Iterator[str]) -> Iterator[str]:
    room = MAX_LENGTH
    for count, path in enumerate(paths):
        room -= len(path) + 4
        if room < 0 or count >= MAX_PATHS:
            return
        if path.isprintable():
            yield path
