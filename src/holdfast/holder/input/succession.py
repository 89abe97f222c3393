"""The intake and the book of a session, as its past left them."""

import hmac
from collections.abc import Sequence
from typing import NamedTuple

from holdfast.core.book.checkpoint import Hands, standing_of
from holdfast.core.book.inheritance import Inheritance, inherit
from holdfast.core.book.logbook import Entry, Logbook
from holdfast.core.input.intake import Intake
from holdfast.core.input.intake_effects import Settings
from holdfast.holder.context import Context
from holdfast.holder.input.intake_driver import IntakeDriver
from holdfast.holder.provenance.typed_line import REPLAYED, TypedLine
from holdfast.holder.record.book import Book
from holdfast.holder.record.log_file import LogFile
from holdfast.holder.record.note_memory import NoteMemory
from holdfast.linux import pty
from holdfast.linux.stored import folders
from holdfast.linux.stored.host_key import host_seed
from holdfast.model.ids import ActorId


class Succession(NamedTuple):
    """What goes on where a predecessor was."""

    driver: IntakeDriver
    book: Book
    line: TypedLine
    found: Inheritance
    """What is left to the intake, once everybody is ready to do what it says."""

    recent: Sequence[Entry]
    """The last entries: who was behind what, and what they have spent."""

    earlier: Sequence[ActorId]
    """Who may have typed before those."""

    fresh: Sequence[Entry]
    """The entries after the last checkpoint."""

    hands: Hands | None
    """Who had the turn before those."""


def take_up(context: Context, note: NoteMemory) -> Succession:
    """Read what a predecessor has left, if there was one."""
    session, shell = context.vaulted.session, context.shell
    log = LogFile(folders.session_log(session), session)
    past = log.recover()
    secret = hmac.digest(host_seed(), b"holdfast secret\n" + session.encode(), "sha256")
    life = context.vaulted.incarnation
    settings = Settings(session, life, secret, kind_of=context.company.kind_of)
    driver = IntakeDriver(Intake(settings, Logbook(past.head)), note, context.timers)
    known = past.checkpoint
    before = None if known is None else standing_of(known)
    recent = past.entries[-REPLAYED:]
    line = TypedLine(shell)
    line.replay(recent, pty.discipline(context.vaulted.master), known)
    if past.entries and past.entries[-1].incarnation != life:
        shell.line.told(b"", ())  # What stood typed is gone with its shell.
    shell.take_up(past)
    found = inherit(past.entries, note.read(), life, before)
    return Succession(
        driver,
        Book(context, log, past, driver),
        line,
        context.vaulted.continued(found, shell.offset),
        recent,
        known.typists if known is not None and recent and recent[0].index else (),
        past.fresh,
        None if known is None else known.hands,
    )
