"""`holdfast log`: show what happened in a session, verify it, or export it."""

import argparse
import contextlib
import datetime as dt
import itertools
import os
import sys
import time
from collections.abc import Callable, Iterator, Sequence

from holdfast.cli.log_export import write_export
from holdfast.cli.log_page import Page
from holdfast.cli.log_tail import LogTail, kept_logs
from holdfast.cli.log_verdict import verify, vouched_head
from holdfast.cli.since import Since, since_from
from holdfast.cli.story import RUN_GAP_MS, Story, actors_of
from holdfast.client import keeper
from holdfast.client.directory import actor_called
from holdfast.client.past_sessions import ended_as
from holdfast.client.session_location import home_of
from holdfast.core.book.logbook import Entry, EntryKind
from holdfast.linux import login
from holdfast.linux.stored import operators
from holdfast.linux.stored.book_end import undone_in
from holdfast.model import errors
from holdfast.model.ids import SessionId, actor_id
from holdfast.model.session_requests import ReadLog
from holdfast.model.text import printable, shown_name

STEP = 0.1
"""Seconds between checks of a followed file: one system call each."""

PAGE = 1000
"""Entries shown of a long logbook unless more are asked for."""

MIN_ACTOR = 4
"""Letters of an id that are enough to name an operator."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of the verb."""
    parser.add_argument("session", metavar="NAME", nargs="?")
    parser.add_argument("--host", action="store_true")
    parser.add_argument("--set-aside", action="store_true")
    parser.add_argument("--follow", action="store_true")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--since", metavar="WHEN")
    parser.add_argument("--last", metavar="N", type=int)
    parser.add_argument("--actor", metavar="A")
    parser.add_argument("--verify", action="store_true")
    parser.add_argument("--export", metavar="FILE")
    parser.add_argument("--force", action="store_true")
    parser.add_argument("--strict", action="store_true")


def run(options: argparse.Namespace) -> int:
    """Read the logbook, and show, verify or export it."""
    if (options.session is None) != options.host or options.set_aside > options.host:
        raise errors.MalformedArgument("log", "called with a session, or with --host")
    names = _names()
    if options.host:
        from holdfast.cli.verbs import log_host  # noqa: PLC0415  # slow to load

        return log_host.run(options, names)
    now = dt.datetime.now().astimezone()
    since = Since() if options.since is None else since_from(options.since, now)
    tail = _open(options.session)
    actor = None if options.actor is None else _concerns(options.actor, names, tail)
    try:
        if options.verify:
            return verify(tail, as_json=options.json, is_strict=options.strict)
        if options.export is not None:
            return _export(tail, options)
        _skip(tail, options, since)
        wanted = _wanted(_entries(tail, follow=options.follow), since, actor)
        undone = [] if options.json else undone_in(tail.session)
        _print(wanted, names, undone, as_json=options.json)
    finally:
        tail.close()
    return 0


def _export(tail: LogTail, options: argparse.Namespace) -> int:
    """Write the logbook to a file; read twice, because it may not fit in memory."""
    tail.pass_over()
    signed = vouched_head(tail, is_strict=options.strict)
    if signed is not None:
        tail.pass_over(signed.receipt.head.index)  # The file has grown since.
    count = tail.head.index + 1
    again = LogTail(tail.session)
    try:
        lines = (entry.line for entry in itertools.islice(again.entries(), count))
        name = options.export
        write_export(name, tail.session, count, lines, signed, force=options.force)
        if again.head.index + 1 < count:
            raise errors.LogTampered(count, "the file became shorter")
    finally:
        again.close()
    return 0


def _skip(tail: LogTail, options: argparse.Namespace, since: Since) -> None:
    """Skip entries that are not wanted: a logbook may be very long."""
    if options.since is not None:
        tail.skip(since.asked())
    elif options.last is not None:
        tail.skip(ReadLog(last=max(0, options.last)))
    elif options.actor is None and not options.json:
        first = tail.skip(ReadLog(last=PAGE))
        if first > 0:
            print(f"… {first} earlier entries: --since 0 shows them all")


def _open(text: str) -> LogTail:
    """Open the logbook of the session that `text` names, running or ended."""
    session = _session(text)
    try:
        return LogTail(session)
    except FileNotFoundError:
        raise errors.SessionNotFound(printable(text, 64)) from None


def _session(text: str) -> SessionId:
    if "/" in text:
        return SessionId(keeper.find(text).id)
    kept = kept_logs()
    if text in kept:
        return SessionId(text)
    try:
        return SessionId(keeper.resolve(text, keeper.sessions(start=False)).id)
    except (errors.NoKeeper, errors.SessionNotFound):
        if (past := ended_as(text)) is not None:
            return past.id
        found = [one for one in kept if one.startswith(text)]
        if len(text) < keeper.MIN_PREFIX or len(found) != 1:
            raise
        return found[0]


def _names() -> dict[str, str]:
    """Return the names of the operators of this machine."""
    known: list[operators.Enrolled] = []
    with contextlib.suppress(OSError, errors.HoldfastError):  # Fall back to ids.
        known = operators.enrolled()
    uid = os.getuid()
    name = shown_name(login.name()) or str(uid)
    names = {str(actor_id(f"uid {uid}".encode())): name}
    return names | {one.actor.id: shown_name(one.actor.name) for one in known}


def _concerns(text: str, names: dict[str, str], tail: LogTail) -> Callable[[str], bool]:
    if (home := home_of(tail.session)) and not text.startswith("a_"):
        found = actor_called(home, text.removeprefix("@"))
        names = {} if found is None else {found.id: found.name}
    return _actor_from(text, names)


def _actor_from(text: str, names: dict[str, str]) -> Callable[[str], bool]:
    wanted = text.removeprefix("@")
    ids = {one for one, name in names.items() if name.lower() == wanted.lower()}
    letters = wanted.removeprefix("a_")
    if not ids and len(letters) < MIN_ACTOR:
        raise errors.MalformedArgument(printable(text, 64), "an operator's name or id")
    return lambda actor: (
        actor in ids or (not ids and actor.removeprefix("a_").startswith(letters))
    )


# ── which entries ─────────────────────────────────────────────────────────


def _entries(tail: LogTail, *, follow: bool) -> Iterator[Entry | None]:
    """Yield the entries; with `follow` new ones too, and None in between."""
    is_over = False
    while True:
        fresh = tail.read()
        for entry in fresh:
            yield entry
            is_over = (is_over or entry.kind is EntryKind.EXITED) and (
                entry.kind is not EntryKind.RECOVERED
            )
        if fresh:
            continue
        if not follow or is_over or tail.is_gone:
            return
        yield None
        time.sleep(STEP)


def _wanted(
    entries: Iterator[Entry | None],
    since: Since,
    is_wanted: Callable[[str], bool] | None,
) -> Iterator[Entry | None]:
    has_begun = False
    inputs: set[int] = set()
    for entry in entries:
        if entry is None:
            yield None
            continue
        has_begun = has_begun or since.begins(entry.index, entry.at_wall_ms)
        concerns = (
            is_wanted is None
            or any(map(is_wanted, actors_of(entry)))
            or (entry.kind is EntryKind.SETTLED and entry.fields.get("of") in inputs)
        )
        if has_begun and concerns:
            if is_wanted is not None and entry.kind is EntryKind.INPUT:
                inputs.add(entry.index)
            yield entry


# ── how they are shown ────────────────────────────────────────────────────


def _print(
    entries: Iterator[Entry | None],
    names: dict[str, str],
    undone: Sequence[range],
    *,
    as_json: bool,
) -> None:
    if as_json:
        for entry in entries:
            if entry is None:
                sys.stdout.flush()
            else:
                print(entry.line.decode())
        return
    page = Page(names)
    story = Story(page.name, undone)
    rested_at: float | None = None
    for entry in entries:
        if entry is not None:
            rested_at = None
            page.show(story.tell(entry))
            continue
        rested_at = rested_at or time.monotonic()
        if time.monotonic() - rested_at > RUN_GAP_MS / 1000:
            page.show(story.rest())  # Nothing more can be added to it.
        sys.stdout.flush()
    page.show(story.rest())
