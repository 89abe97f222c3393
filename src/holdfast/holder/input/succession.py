"""The intake and the book of a session, as its past left them."""

import hmac
from collections.abc import Sequence
from typing import NamedTuple

from holdfast.core.book.checkpoint import Hands, standing_of
from holdfast.core.book.inheritance import Inheritance, inherit
from holdfast.core.book.logbook import Entry, Logbook
from holdfast.core.input.intake import Intake
from holdfast.core.input.intake_effects import Settings
from holdfast.core.relay.lease_term import LeaseTerm
from holdfast.holder.context import Context
from holdfast.holder.input.intake_driver import IntakeDriver
from holdfast.holder.provenance.typed_line import (
    REPLAYED,
    TypedLine,
    stand_again,
)
from holdfast.holder.record.book import Book
from holdfast.holder.record.log_file import LogFile
from holdfast.holder.record.note_memory import NoteMemory
from holdfast.linux import pty
from holdfast.linux.stored import folders
from holdfast.linux.stored.host_key import host_seed
from holdfast.model.ids import ActorId, Incarnation


class Succession(NamedTuple):
    """The state that a successor starts from."""

    driver: IntakeDriver
    book: Book
    line: TypedLine
    found: Inheritance
    """What is left to the intake, once all performers are ready."""

    recent: Sequence[Entry]
    """The last entries: who was behind what, and what they have spent."""

    earlier: Sequence[ActorId]
    """Who may have typed before those."""

    fresh: Sequence[Entry]
    """The entries after the last checkpoint."""

    hands: Hands | None
    """Who had the turn before those."""

    term: LeaseTerm | None
    """Until when a movable session may speak; None if it is not movable."""


def take_up(context: Context, note: NoteMemory) -> Succession:
    """Read what a predecessor has left, if there was one."""
    session, shell = context.descriptors.session, context.shell
    log = LogFile(folders.session_log(session), session)
    past = log.recover()
    secret = hmac.digest(host_seed(), b"holdfast secret\n" + session.encode(), "sha256")
    life = context.descriptors.incarnation
    descriptors, term = context.descriptors, None
    since = Incarnation(descriptors.held.since or life)
    settings = Settings(
        session, life, secret, kind_of=context.clients.kind_of, since=since
    )
    if descriptors.record.authority:
        term = LeaseTerm(life, descriptors.held.expires)
    intake = Intake(settings, Logbook(past.head), term)
    driver = IntakeDriver(intake, note, context.timers)
    known = past.checkpoint
    before = None if known is None else standing_of(known)
    recent = past.entries[-REPLAYED:]
    line = TypedLine(shell)
    line.replay(recent, pty.discipline(context.descriptors.master), known)
    if past.entries and past.entries[-1].incarnation != life:
        # Unsubmitted input is gone with its shell, or stands there again.
        restored = descriptors.restored
        stand_again(shell.line, () if restored is None else restored.hands)
    shell.take_up(past)
    restored = descriptors.restored
    is_moved = restored is not None and bool(restored.origin)
    found = inherit(past.entries, note.read(), life, before, is_moved=is_moved)
    return Succession(
        driver,
        Book(context, log, past, driver),
        line,
        context.descriptors.continued(found, shell.offset),
        recent,
        known.typists if known is not None and recent and recent[0].index else (),
        past.fresh,
        None if known is None else known.hands,
        term,
    )
