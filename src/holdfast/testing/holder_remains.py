"""What a simulated holder leaves on its machine, and how the next takes it up."""

import hashlib
from dataclasses import dataclass
from random import Random

from holdfast.core.book import logbook
from holdfast.core.book.book_state import Standing
from holdfast.core.book.checkpoint import Account, read_checkpoint, standing_of
from holdfast.core.book.inheritance import Inheritance, Note, inherit
from holdfast.core.input.budget import stranger
from holdfast.core.input.gate import GateRules
from holdfast.core.input.intake import Intake
from holdfast.core.input.intake_effects import Settings
from holdfast.core.input.standing_verdict import StandingVerdict
from holdfast.core.input.turn import AskDefault, TurnRules
from holdfast.core.relay.lease import LeaseHolder
from holdfast.core.session.doze import DozeTimer, Glimpse, Nap
from holdfast.model.ids import Incarnation, SessionId
from holdfast.testing.simulated_terminal import Terminal
from holdfast.testing.volume import LogFile
from holdfast.wire.lines import decode_line

SECRET_KEY = b"sim"

DOZE_AFTER = 0.06
"""Seconds without anything after which a session dozes: programs print all the time."""


@dataclass(slots=True)
class HolderRemains:
    """What a dead holder leaves on its machine."""

    session: SessionId
    incarnation: Incarnation
    log: LogFile
    terminal: Terminal
    memory: bytearray
    note: Note | None = None
    lease_expires_at: float | None = None
    is_frozen: bool = False
    is_held: bool = False
    """Whether an operator has frozen the program."""

    is_fenced: bool = False

    nap: Nap | None = None
    """What the holder left that let the session doze; None if it died."""

    @property
    def runs(self) -> bool:
        """Whether the kernel lets the program run: not while anything freezes it."""
        return not self.is_held and not self.is_fenced


def drowsiness(left: HolderRemains, now: float) -> DozeTimer:
    """Return what says when the session dozes."""
    return DozeTimer(DOZE_AFTER, now, left.nap)


def glimpse(left: HolderRemains, offset: int, *, is_free: bool) -> Glimpse:
    """Return how far the session has come."""
    return Glimpse(offset, len(left.log.raw), is_free)


def take_up(
    left: HolderRemains, lease: LeaseHolder, rng: Random
) -> tuple[Intake, Inheritance]:
    """Return an intake that goes on where the last holder was, and what it left."""
    recovered = logbook.recover(left.log.raw, left.session)
    left.log.truncate(len(left.log.raw) - recovered.torn)
    left.log.sync()
    entries = recovered.entries
    head = logbook.genesis(left.session)
    if entries:
        head = logbook.Head(left.session, entries[-1].index, entries[-1].hash)
    settings = Settings(
        left.session,
        left.incarnation,
        SECRET_KEY,
        TurnRules(limit=40.0, grace=5.0, ask_default=AskDefault.GRANT),
        GateRules(policy_timeout=1.0, approval_timeout=6.0),
    )
    before, begin = _checkpoint(left.session, entries, rng)
    inherited = inherit(entries[begin:], left.note, left.incarnation, before)
    return Intake(settings, logbook.Logbook(head), lease), inherited


def _checkpoint(
    session: SessionId, entries: tuple[logbook.Entry, ...], rng: Random
) -> tuple[Standing, int]:
    """Return how things stood at some entry, and from where the rest is read.

    A successor must come to the same wherever the last checkpoint was.
    """
    through = rng.randint(0, len(entries))
    account = Account(session)
    for entry in entries[:through]:
        account.read(entry)
    raw = account.checkpoint().to_bytes()
    past = read_checkpoint(raw, session)
    return standing_of(past), max(0, through - rng.randint(0, 64))


def receipt_of(lines: list[bytes], index: int, session: SessionId) -> logbook.Receipt:
    """Return the signed head that an operator gets with an acknowledgement."""
    head = logbook.Head(session, index, hashlib.sha256(lines[index]).digest())
    incarnation = Incarnation(int(decode_line(lines[index])["incarnation"] or 0))
    return logbook.Receipt(head, incarnation, sign(head.signed_bytes(incarnation)))


def sign(message: bytes) -> bytes:
    """Sign as the simulated host: cheap, and only checked by ourselves."""
    return hashlib.sha256(SECRET_KEY + message).digest()


def standing_verdict(intake: Intake) -> StandingVerdict:
    """Return the verdict for the next key; every operator is an agent here."""
    return StandingVerdict(intake, stranger)
