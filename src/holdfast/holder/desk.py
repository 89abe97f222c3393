"""The one way in: carries inputs to the Intake, and does what it answers.

Until operators have keys of their own, every client of this user's is one
operator, who may do everything; the gate allows what it is asked.
"""

import hashlib
import os
import pwd
import time
from collections import deque
from collections.abc import Callable

from holdfast.core import serializer, turn
from holdfast.core.inheritance import inherit
from holdfast.core.intake import Consult, Effect, Intake, KeepNote, Settings
from holdfast.core.log_writer import Store
from holdfast.core.logbook import Head, Logbook, genesis
from holdfast.holder.connection import Connection
from holdfast.holder.log_file import LogFile
from holdfast.holder.note_memory import NoteMemory
from holdfast.holder.payloads import check, signal_of, size_of
from holdfast.holder.vaulted import Vaulted
from holdfast.linux import places, processes, pty
from holdfast.model.envelopes import Envelope, Right
from holdfast.model.errors import HoldfastError
from holdfast.model.geometry import Size
from holdfast.model.ids import (
    FIRST_INCARNATION,
    ActorId,
    ClientId,
    Epoch,
    Index,
    actor_id,
)
from holdfast.model.inputs import Input, InputKind
from holdfast.model.moments import Moment
from holdfast.model.outcomes import Applied, Cut, Dropped, Refused, Unknown
from holdfast.model.verdicts import Verdict
from holdfast.wire import messages as wire
from holdfast.wire.codec import Message, refusal
from holdfast.wire.frames import FrameKind

SYNC_PATIENCE = 0.002
"""Seconds the disk may be put off: what was typed is to be echoed first, and a
sync takes as long as several echoes. Nobody waits longer for an answer."""

ECHO_PATIENCE = 0.001
"""Seconds what the terminal took may stay unbooked: its echo goes first. Should
we be killed within them, the input's outcome is unknown, as it is during a write."""

RULE = "local user"
"""What the logbook names as the rule while there is no policy."""


class Desk:
    """Where clients' inputs arrive."""

    def __init__(
        self,
        vaulted: Vaulted,
        note: NoteMemory,
        announce: Callable[[Message], None],
        resized: Callable[[Size], None],
    ) -> None:
        self._vaulted = vaulted
        self._resized = resized
        self._note = note
        self._announce = announce
        self._clients: dict[ClientId, Connection] = {}
        self._writing: tuple[serializer.Apply, int] | None = None
        self._taken: tuple[Index, int] | None = None
        self._book_by = 0.0
        self._sync_to: Index | None = None
        self._sync_by = 0.0
        self._has_echoed = False
        self.name = pwd.getpwuid(os.getuid()).pw_name[:64]
        self.actor = actor_id(f"uid {os.getuid()}".encode())
        self._log = LogFile(places.session_log(vaulted.session), vaulted.session)
        self._intake = self._take_up()

    @property
    def epoch(self) -> Epoch:
        """The turn's epoch."""
        return self._intake.turn.epoch

    @property
    def holder(self) -> ActorId:
        """Who has the turn; empty if nobody."""
        return self._intake.turn.holder or ActorId("")

    def came(self, client: ClientId) -> None:
        """Record that a client attached."""
        self._book()
        self._do(self._intake.attach(self.actor, client, _now()))

    def left(self, client: ClientId, *, last: bool) -> None:
        """Record that a client is gone."""
        self._book()
        self._clients.pop(client, None)
        self._do(self._intake.detach(self.actor, client, last=last, at=_now()))

    def submit(self, connection: Connection, submit: wire.Submit) -> None:
        """Take an input."""
        self._book()
        self._clients[submit.client] = connection
        given = submit.to_input(self.actor)
        try:
            check(given, is_canonical=pty.is_canonical(self._vaulted.master))
        except HoldfastError as error:
            connection.send(refusal(error, FrameKind.SUBMIT, given.id))
            return
        self._do(self._intake.submit(given, _now()))

    def request_turn(
        self, connection: Connection, asked: wire.Take | wire.Drop | wire.Seize
    ) -> None:
        """Take what a client does about the turn."""
        self._book()
        events: dict[type[Message], tuple[turn.Event, FrameKind]] = {
            wire.Take: (turn.Took(self.actor), FrameKind.TAKE),
            wire.Drop: (turn.Dropped(self.actor), FrameKind.DROP),
            wire.Seize: (turn.Seized(self.actor), FrameKind.SEIZE),
        }
        event, kind = events[type(asked)]
        for effect in self._do(self._intake.request(event, _now())):
            connection.send(refusal(effect.error, kind))

    def exited(self, how: str) -> None:
        """Refuse everything from now on."""
        self._book()
        self._do(self._intake.exited(how, _now()))

    def printed(self) -> None:
        """Take note that the program, or the terminal's echo, has said something."""
        self._has_echoed = True

    def must_sync(self, *, is_idle: bool) -> bool:
        """Tell whether the disk has waited long enough."""
        if self._sync_to is None:
            return False
        return (is_idle and self._has_echoed) or time.monotonic() >= self._sync_by

    def sync(self) -> None:
        """Make durable what waits for it, and acknowledge it."""
        while self._sync_to is not None:
            index, self._sync_to = self._sync_to, None
            try:
                self._log.sync()
            except OSError as error:
                self._do(self._intake.sync_failed(str(error), _now()))
                return
            self._do(self._intake.synced(index, _now()))

    def tick(self) -> None:
        """Do what the clock demands, and go on with what the terminal refused."""
        if self._has_echoed or time.monotonic() >= self._book_by:
            self._book()
        self._write()
        self._do(self._intake.tick(_now()))

    def next_deadline(self) -> float | None:
        """Return when to call `tick`, or None when there is nothing to wait for."""
        if self._taken is not None:
            return self._book_by
        if self._writing is not None:
            return time.monotonic() + 0.01
        return self._intake.next_deadline()

    def sync_at(self) -> float | None:
        """Return when the disk's turn comes, or None if nothing waits for it."""
        if self._sync_to is None:
            return None
        return 0.0 if self._has_echoed else self._sync_by

    # ── inside ────────────────────────────────────────────────────────────

    def _take_up(self) -> Intake:
        session = self._vaulted.session
        entries = self._log.recover().entries
        head = genesis(session)
        if entries:
            head = Head(session, entries[-1].index, entries[-1].hash)
        secret = hashlib.sha256(b"holdfast secret" + session.encode()).digest()
        settings = Settings(session, FIRST_INCARNATION, secret)
        self._intake = Intake(settings, Logbook(head))
        inherited = inherit(entries, self._note.read(), FIRST_INCARNATION)
        self._do(self._intake.resume(inherited, _now()))
        if self.actor not in inherited.envelopes:
            everything = Envelope(frozenset(Right))
            grant = self._intake.grant(self.actor, everything, self.actor, _now())
            self._do(grant)
        self.sync()
        return self._intake

    def _do(self, effects: list[Effect]) -> list[turn.Refuse]:
        """Do what the machines say, and return what a request was refused with."""
        work, refused = deque(effects), list[turn.Refuse]()
        while work:
            effect = work.popleft()
            if isinstance(effect, turn.Refuse):
                refused.append(effect)
            else:
                work.extendleft(reversed(self._perform(effect)))
        return refused

    def _perform(  # noqa: C901  # one case for each effect
        self, effect: Effect
    ) -> list[Effect]:
        match effect:
            case Store(entry):
                return self._store(entry.line)
            case KeepNote(note):
                self._note.keep(note)
            case serializer.Sync(index):
                if self._sync_to is None:
                    self._sync_by = time.monotonic() + SYNC_PATIENCE
                self._sync_to = max(self._sync_to or index, index)
            case serializer.Apply():
                self._writing = (effect, 0)
                return self._apply(effect)
            case serializer.Answer():
                self._answer(effect)
            case Consult(ticket):
                quiet = not pty.echoes(self._vaulted.master)
                return self._intake.judged(
                    ticket, Verdict.ALLOW, RULE, _now(), echo_off=quiet
                )
            case turn.PassTurn():
                self._passed(effect)
            case _:
                pass
        return []

    def _store(self, line: bytes) -> list[Effect]:
        try:
            self._log.append(line)
        except OSError as error:
            return self._intake.store_failed(error.strerror or str(error), _now())
        return self._intake.stored(_now())

    def _apply(self, apply: serializer.Apply) -> list[Effect]:
        given = apply.input
        if given.kind is InputKind.RESIZE:
            self._resize(given)
        elif given.kind is InputKind.SIGNAL:
            pid = self._vaulted.facts["pid"]
            assert isinstance(pid, int)  # noqa: S101  # we wrote it
            number = signal_of(given.payload)
            processes.signal_group(self._vaulted.pidfd, pid, number)
        else:
            return self._written()
        self._writing = None
        return self._intake.wrote(apply.index, len(given.payload), _now())

    def _write(self) -> None:
        if self._writing is not None:
            self._do(self._written())

    def _written(self) -> list[Effect]:
        assert self._writing is not None  # noqa: S101  # asked by both callers
        at = _now()
        apply, done = self._writing
        if self._intake.serializer.writing != apply.index:
            self._writing = None  # It was cut.
            return []
        if self._intake.blocked(at.now) is not None:
            return []
        rest = memoryview(apply.input.payload)[done:]
        taken = pty.write_available(self._vaulted.master, rest)
        if taken < len(rest):
            self._writing = (apply, done + taken)
            return self._intake.wrote(apply.index, taken, at) if taken else []
        self._writing = None
        if self._intake.serializer.queued_bytes:
            return self._intake.wrote(apply.index, taken, at)
        # Nobody waits behind it: the books are kept once its echo has been shown.
        self._taken, self._has_echoed = (apply.index, taken), False
        self._book_by = at.now + ECHO_PATIENCE
        return []

    def _book(self) -> None:
        if self._taken is not None:
            (index, count), self._taken = self._taken, None
            self._do(self._intake.wrote(index, count, _now()))

    def _resize(self, given: Input) -> None:
        size = size_of(given.payload)
        pty.set_size(self._vaulted.master, size)
        self._vaulted.facts["size"] = [size.columns, size.rows]
        self._resized(size)

    def _passed(self, passed: turn.PassTurn) -> None:
        self._announce(
            wire.TurnPassed(
                former=passed.giver or ActorId(""),
                holder=passed.taker or ActorId(""),
                epoch=passed.epoch,
                reason=passed.reason.value,
                dropped_inputs=0,
                dropped_bytes=0,
            )
        )

    def _answer(self, answer: serializer.Answer) -> None:
        connection = self._clients.get(answer.id.client)
        if connection is None or connection.is_closed:
            return
        client, sequence = answer.id.client, answer.id.sequence
        match answer.outcome:
            case Applied(index):
                connection.send(wire.Acknowledge(client, sequence, index, None))
            case Refused(error):
                connection.send(refusal(error, FrameKind.SUBMIT, answer.id))
            case Dropped(index):
                ending = wire.Ending.DROPPED
                connection.send(wire.Report(client, sequence, ending, index, 0))
            case Cut(index, written):
                ending = wire.Ending.CUT
                connection.send(wire.Report(client, sequence, ending, index, written))
            case Unknown(index):
                ending = wire.Ending.UNKNOWN
                connection.send(wire.Report(client, sequence, ending, index, 0))


def _now() -> Moment:
    return Moment(time.monotonic(), time.time_ns() / 1e9)
