"""The next key of the client that typed last, prepared for while nothing happens.

Theory of operation
-------------------
While a holder waits, everything about the next key is known but the key and the time:
the frame that it comes in, its entry and its note. They are written down beforehand. If
the next that happens is that key, its entry and its note are put in place, its byte
goes to the terminal, and its echo to the clients. Then it passes the input
handler like any other input, as of the moment at which it came; its entry and its byte
are there then:

    typed ──QUIET──▶ prepared ──the key──▶ written ──echo, or ECHO_PATIENCE──▶ caught up
      ▲                 │ anything else                                            │
      └──────LATER──────┴────────────────────────QUIET─────────────────────────────┘

Nothing is decided here. A verdict stands for the key (core.input.standing_verdict), and
what changes without an event is looked at for it as for any other: the clock, the
policy's record, the terminal's settings, who reads the terminal.

Invariants:

I1  Between preparing and the key nothing has happened in this process.
I2  Between the key and the input handler nothing happens but that output is shown.
I3  What is written is what the input handler would write: the book compares it, and a
    holder that finds a difference ends. Its successor reads what is written.
"""

import time
from binascii import b2a_base64

import msgspec

from holdfast.core.input.standing_verdict import Foreseen
from holdfast.core.provenance.line_discipline import LineDiscipline
from holdfast.holder.context import Context
from holdfast.holder.input.intake_driver import IntakeDriver
from holdfast.holder.input.turn_limits import TurnLimits
from holdfast.holder.input.writer import ECHO_PATIENCE, Writer
from holdfast.holder.links.connection import READ, Connection
from holdfast.holder.moment import now
from holdfast.holder.policy.policy_parts import PolicyParts
from holdfast.holder.record.book import Book
from holdfast.holder.record.note_memory import Prepared
from holdfast.linux import pty
from holdfast.model.inputs import Input
from holdfast.model.moments import Moment  # noqa: TC001  # an annotation people read
from holdfast.wire.codec import around_key
from holdfast.wire.messages import Mode, Submit

QUIET = 0.003
"""Seconds after a key until the next is prepared for: it is booked and durable then,
and its echo is shown."""

LATER = 0.02
"""Seconds until the next attempt, if something else has happened. Shorter, and a
program that prints all the time would have it tried in vain for every line."""


class _Next(msgspec.Struct, frozen=True):
    """All that is known of the next key."""

    connection: Connection
    before: bytes
    after: bytes
    foreseen: Foreseen
    note: Prepared
    generation: int
    terminal: LineDiscipline


class NextKey:
    """What is prepared in one session."""

    def __init__(
        self,
        context: Context,
        driver: IntakeDriver,
        book: Book,
        writer: Writer,
        limits: TurnLimits,
        policy: PolicyParts,
    ) -> None:
        self._context = context
        self._driver = driver
        self._book = book
        self._writer = writer
        self._limits = limits
        self._in_force = policy.in_force
        self._settings = policy.settings
        self._secrecy = policy.questions.secrecy
        self._consultation = policy.consultation
        self._poll = context.poll
        self._timer = context.timers.add(self._due, is_minor=True)
        self._typist: Connection | None = None
        self._next: _Next | None = None
        self._written: tuple[_Next, bytes, Moment, bytes, int] | None = None
        """The key that has not passed the input handler yet: how it was foreseen, when
        it came, its entry, and how much of it the terminal has taken."""

        self.is_due = False
        """Whether to call `prepare` before waiting."""

    def typed(self, connection: Connection, given: Input, at: float) -> None:
        """Note that a client has typed a key: it will type another.

        One that waits for answers, or does not tell what it has seen, does not type
        as people do.
        """
        if given.seen is not None and not given.waits:
            self._typist = connection
            self._timer.set(at + QUIET)

    def prepare(self) -> None:
        """Prepare for the next key, if nothing else can come of it."""
        self.is_due = False
        connection = self._typist
        if connection is not None:
            self._next = self._prepared(connection)
            if self._next is not None:
                link = connection.link
                self._poll.expect(link, self._press, otherwise=self._forget)

    def _due(self, _now: float) -> None:
        self.is_due = True

    def _forget(self) -> None:
        """Note that something else has happened."""
        self._next = None
        self._timer.set(time.monotonic() + LATER)

    def _prepared(self, connection: Connection) -> _Next | None:
        context, intake, writer = self._context, self._driver.intake, self._writer
        viewer = connection.viewer
        if (
            viewer is None
            or connection.mode is not Mode.OPERATE
            or not connection.is_quiet
            or context.timers.when_idle is not None
            or context.attention.is_on
            or context.shell.put_off is not None
            or not writer.is_free
            or self._driver.afterwards is not None
        ):
            return None
        self._limits.refresh()  # What the policy says of turns stands from here on.
        terminal = pty.discipline(context.descriptors.master)
        # A letter may be configured to end lines.
        if terminal.canonical and any(terminal.ends):
            return None
        found = self._consultation.standing.foresee(viewer.cursor)
        if found is None:
            return None
        given = found.given
        actor, clients = connection.actor, connection.clients
        is_typist = actor is not None and actor.id == given.actor
        if not is_typist or clients[-1:] != [given.id.client]:
            return None
        before, after = around_key(_submitted(given))
        note = self._driver.note.prepare(found.note)
        return _Next(connection, before, after, found, note, intake.changes, terminal)

    def _press(self) -> None:
        """Take what has come, which may be the key that was prepared for."""
        known, self._next = self._next, None
        assert known is not None, "nothing was prepared"  # noqa: S101
        connection = known.connection
        try:
            data = connection.link.recv(READ)
        except OSError:
            connection.receive(connection.handle)
            return
        place = len(known.before)
        key = data[place : place + 1]
        is_key = b" " <= key <= b"~" and data == known.before + key + known.after
        if not (is_key and self._wrote(known, key)):
            self._forget()
            connection.take(data, connection.handle)
            return
        # Its echo is what comes next, as a rule: to go round the loop would delay it.
        # Who shows it needs the processor then, more than what is left to do here.
        if not self._poll.try_last():
            self._poll.turn(ECHO_PATIENCE)
        self._poll.turn(ECHO_PATIENCE)
        if self._written is not None:
            self._writer.timer.set(self._written[2].now + ECHO_PATIENCE)

    def _wrote(self, known: _Next, key: bytes) -> bool:
        """Record a key and write it to the terminal; False if that is not for us."""
        at, intake, foreseen = now(), self._driver.intake, known.foreseen
        terminal = self._settings.read(at)
        if (
            terminal is not known.terminal
            or not self._in_force.is_unchanged
            or intake.changes != known.generation
            or at.wall >= foreseen.until_wall
            or intake.blocked(at.boot) is not None
            or (not terminal.echo and self._secrecy.look(terminal).is_on)
        ):
            return False
        before, between, after = foreseen.line
        text = b2a_base64(key, newline=False)
        line = b"%b%d%b%b%b" % (before, round(at.wall * 1000), between, text, after)
        try:
            self._book.log.append(line)
        except OSError:
            return False  # The handler finds out, and says so.
        self._driver.note.put(known.note)
        if self._writer.owners is not None:
            self._writer.attribute(foreseen.given)
        taken = self._writer.write(key)
        self._written = known, key, at, line, taken
        self._poll.late = self._catch_up
        return True

    def _catch_up(self) -> None:
        """Pass a key to the input handler."""
        assert self._written is not None, "nothing was written"  # noqa: S101
        known, key, at, self._book.ahead, self._writer.ahead = self._written
        self._written = None
        given = msgspec.structs.replace(known.foreseen.given, payload=key)
        effects = self._consultation.admit(given, at)
        assert effects, "it was foreseen otherwise"  # noqa: S101
        self._driver.do(effects, at)
        self._timer.set(at.now + QUIET)


def _submitted(given: Input) -> Submit:
    """Return the message by which an input is submitted."""
    return Submit(
        client=given.id.client,
        sequence=given.id.sequence,
        kind=given.kind,
        incarnation=given.incarnation,
        epoch=given.epoch,
        payload=given.payload,
        seen=given.seen,
        waits=given.waits,
    )
