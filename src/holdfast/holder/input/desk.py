"""The single entry point for input: passes it to the Intake and acts on the reply."""

import hmac
import math
import time
from collections import deque
from collections.abc import Callable, Mapping

from holdfast.core.book.checkpoint import standing_of
from holdfast.core.book.inheritance import inherit
from holdfast.core.book.log_writer import Store
from holdfast.core.book.logbook import Entry, EntryKind, Logbook
from holdfast.core.input import gate, serializer, turn
from holdfast.core.input.attendance import Attendance
from holdfast.core.input.intake import Intake
from holdfast.core.input.intake_effects import Consult, Effect, KeepNote, Settings
from holdfast.core.input.rights import Rights
from holdfast.core.provenance.line_discipline import LineDiscipline
from holdfast.core.provenance.staged import Staged
from holdfast.holder.input.handover import HandOver
from holdfast.holder.input.line_question import LineQuestion
from holdfast.holder.input.refusals import Refusals
from holdfast.holder.input.secret_prompt import demand_question
from holdfast.holder.input.signatures import Signing
from holdfast.holder.input.turn_limits import Limits
from holdfast.holder.input.writer import Writing
from holdfast.holder.links.attached_clients import Company
from holdfast.holder.links.connection import Connection
from holdfast.holder.links.notifications import NOBODY, Telling, told
from holdfast.holder.moment import now
from holdfast.holder.policy import trial
from holdfast.holder.policy.consultation import Consulting, tell_tried
from holdfast.holder.policy.judge_link import JudgeLink
from holdfast.holder.policy.judgement import REPLAYED, Judging
from holdfast.holder.policy.line_resolution import Resolving
from holdfast.holder.policy.policy_in_force import Policing
from holdfast.holder.policy.session_start import Beginning
from holdfast.holder.processes.daemon_sweep import Swept
from holdfast.holder.provenance.process_owner import Attributing
from holdfast.holder.provenance.process_starters import Starting
from holdfast.holder.provenance.shell_commands import Following
from holdfast.holder.record.checkpoints import Checkpoints
from holdfast.holder.record.disk import Disk
from holdfast.holder.record.log_file import LogFile
from holdfast.holder.record.note_memory import NoteMemory
from holdfast.holder.record.receipts import Vouching
from holdfast.holder.session_descriptors import Vaulted
from holdfast.linux.secrecy import Secrecy
from holdfast.linux.stored import folders, operators
from holdfast.linux.stored.host_key import host_seed
from holdfast.model.actors import Actor
from holdfast.model.envelopes import Envelope, Right, first_envelope
from holdfast.model.errors import (
    ApprovalMismatch,
    HoldfastError,
    NotAllowed,
)
from holdfast.model.events import EventName
from holdfast.model.geometry import Size
from holdfast.model.ids import FIRST_INCARNATION, ActorId, Epoch
from holdfast.model.inputs import RIGHT_FOR, Input, InputId, InputKind
from holdfast.wire import messages as wire
from holdfast.wire.codec import refusal
from holdfast.wire.frames import FrameKind
from holdfast.wire.lines import Value
from holdfast.wire.signatures import Sign

AGAIN = 0.01
"""Seconds between two attempts to write what the terminal refused, and between two
looks for a moment in which nobody waits."""


class Desk:
    """Where operators' inputs arrive."""

    _due_at = 0.0
    """When the clock demands something, as far as `next_deadline` has seen."""

    def __init__(
        self,
        vaulted: Vaulted,
        note: NoteMemory,
        company: Company,
        resized: Callable[[Size], None],
        judge: JudgeLink,
        following: Following,
    ) -> None:
        self.beginning = beginning = Beginning(vaulted)
        """The command that the session is for, until it has begun."""

        self._vaulted = vaulted
        self._note = note
        self._company = company
        self._vouching = Vouching(vaulted.session)
        self.telling = Telling(company, self._may_approve, self._vouching.receipt)
        self._judge = judge
        self._following = following
        self._starting = Starting(vaulted, following)
        self._handover = HandOver(vaulted, following, self._starting)
        resolving = Resolving(vaulted, following, company)
        self._judging = Judging(
            vaulted, self._warn, judge, resolving, following.line, beginning
        )
        self._limits = Limits(self._judging.policing, company)
        self.attributing = Attributing(vaulted, company) if vaulted.gate else None
        """Who is behind the session's processes, if anybody asks."""

        self._line = LineQuestion(vaulted, following)
        secrecy = _secrecy(vaulted, following)
        self._consulting = Consulting(
            self._judging, judge, company, secrecy, self._line, self._do
        )
        self._attendance = Attendance()
        self._refusals = Refusals()
        self._signing = Signing(self.record)
        self._writing = Writing(vaulted, resized, self._took, beginning.go)
        self._lines: list[Staged] = []
        """What the input that is being written has entered so far."""

        self._log_path = folders.session_log(vaulted.session)
        self._log = LogFile(self._log_path, vaulted.session)
        self.disk = Disk(self._log)
        self._intake = self._take_up()

    # ── how things stand ──────────────────────────────────────────────────

    @property
    def epoch(self) -> Epoch:
        """The turn's epoch."""
        return self._intake.turn.epoch

    @property
    def holder(self) -> ActorId:
        """Who has the turn; empty if nobody."""
        return self._intake.turn.holder or NOBODY

    @property
    def waiting(self) -> tuple[ActorId, ...]:
        """Who waits for the turn, first in line first."""
        return self._intake.turn.waiting

    @property
    def rights(self) -> Rights:
        """Who may do what."""
        return self._intake.rights

    @property
    def policing(self) -> Policing:
        """The policy that holds."""
        return self._judging.policing

    def issue_ticket(self) -> int:
        """Return a number under which something may wait for approval."""
        return self._intake.issue_ticket()

    @property
    def is_frozen(self) -> bool:
        """Whether the session stands still."""
        return self._intake.is_frozen

    @property
    def staged(self) -> tuple[Staged, tuple[ActorId, ...]]:
        """What has been typed and not entered, and who typed each byte of it."""
        return self._judging.staged, self._judging.owners

    @property
    def is_writing(self) -> bool:
        """Whether an input is half written."""
        return self._writing.is_on

    @property
    def is_busy(self) -> bool:
        """Whether an input is half written, or waits for the terminal."""
        return self._writing.is_on or bool(self._intake.serializer.queued_bytes)

    # ── the command that the session is for ───────────────────────────────

    def begin(self) -> None:
        """Have the command judged that the session was made for, if it waits."""
        given = self.beginning.given
        if given is None:
            return
        creator = operators.by_actor(given.actor)
        if creator is not None:
            self.meet(creator.actor, creator.promised)
        self._limits.refresh(self._intake)
        self._do(self._intake.submit(given, now()))

    # ── coming and going ──────────────────────────────────────────────────

    def meet(self, actor: Actor, promised: Envelope | None = None) -> None:
        """Let an operator in: give it what is its due, unless it is known here."""
        self._company.meet(actor)
        if self.rights.envelope_of(actor.id) is None:
            given = self._first_envelope(actor, promised)
            self._do(self._intake.grant(actor.id, given, NOBODY, now()))

    def _first_envelope(self, actor: Actor, promised: Envelope | None) -> Envelope:
        began_it = self._vaulted.held.creator == actor.id
        session = self._vaulted.session
        return first_envelope(actor.kind, session, promised, began_it=began_it)

    def came(self, connection: Connection) -> None:
        """Record that a client attached."""
        self._book()
        actor, client = connection.operator, connection.client
        assert client is not None  # noqa: S101  # it has just attached
        news = self._company.is_first(connection)
        self._do(self._intake.attach(actor.id, client, now(), news=news))

    def brief(self, connection: Connection) -> None:
        """Tell a client that has just attached what waits for an answer."""
        self.telling.welcome(connection, connection.operator.id)
        self._company.brief(connection)

    def left(self, connection: Connection) -> None:
        """Record that a client is gone."""
        self._book()
        actor, client = connection.operator, connection.client
        assert client is not None  # noqa: S101  # only who came can leave
        last = not self._company.clients_of(actor.id)
        news = self._company.is_first(connection)
        self._do(self._intake.settle(now()))
        self.telling.left(actor.id, connection)
        self._do(self._intake.detach(actor.id, client, last=last, at=now(), news=news))
        self._attend()

    # ── acting ────────────────────────────────────────────────────────────

    def submit(self, connection: Connection, submit: wire.Submit) -> None:
        """Take an input."""
        if self._writing.book_by < math.inf:
            self._book()
        actor = connection.operator.id
        given = submit.to_input(actor)
        self.telling.sent_by(actor, submit.client, connection)
        try:
            # What is known is answered with what became of it, whatever holds now.
            if not self._intake.is_known(given):
                _demand_sent(given)
                if connection.mode is wire.Mode.OBSERVE:
                    raise NotAllowed(actor, RIGHT_FOR[given.kind].value)
                self._writing.demand_room(given)
                self._following.demand_prompt(given)
                if given.kind is InputKind.ANSWER:
                    demand_question(given, self._vaulted, is_frozen=self.is_frozen)
        except HoldfastError as error:
            self.declined(actor, FrameKind.SUBMIT, error)
            connection.send(refusal(error, FrameKind.SUBMIT, given.id))
            return
        self._limits.refresh(self._intake)
        policing = self._judging.policing
        policing.is_fresh = True
        try:
            effects = self._intake.submit(given, now())
            if len(effects) == 1:
                self._do(self._refusals.arrived(given, effects, self._intake))
            self._do(effects)
        finally:
            policing.is_fresh = False

    def sign(self, connection: Connection, said: Sign) -> None:
        """Take what an operator has signed of its inputs."""
        try:
            self._signing.take(connection, said)
        except HoldfastError as error:
            self.declined(connection.operator.id, FrameKind.SIGN, error)
            connection.send(refusal(error, FrameKind.SIGN))

    def request(self, event: turn.Event) -> bool:
        """Take what an operator does about the turn; False if it was refused."""
        self._book()
        if not isinstance(event, turn.Seized):  # It waits for no file to be read.
            self._limits.refresh(self._intake)
        return self._do(self._intake.request(event, now()))

    def approve(self, approved: gate.Approved) -> None:
        """Take an approval, of what was shown and of nothing else.

        Raises:
            Forbidden: What the input runs has changed; it is shown anew.

        """
        if any(one.ticket == approved.ticket for one in self.telling.pending):
            waiting = self._consulting.given
            demand_question(waiting, self._vaulted, is_frozen=self.is_frozen)
            if self._may_approve(approved.approver):
                if self._consulting.has_changed(self.epoch):
                    self.telling.show_again(self._consulting.resolution)
                    raise ApprovalMismatch(approved.ticket)
                if approved.approver != self._consulting.given.actor:
                    self._consulting.approve(approved, self._intake)
                    return
        self._do(self._intake.approve(approved, now()))

    def deny(self, denied: gate.Denied) -> None:
        """Take a denial."""
        self._do(self._intake.deny(denied, now()))

    def grant(self, actor: ActorId, envelope: Envelope, by: ActorId) -> None:
        """Give an operator an envelope."""
        self._do(self._intake.grant(actor, envelope, by, now()))

    def revoke(self, actor: ActorId, by: ActorId) -> None:
        """Take everything from an operator, and throw away what it has in line."""
        self._book()
        self._do(self._intake.revoke(actor, by, now()))

    def freeze(self, by: ActorId) -> None:
        """Write nothing more."""
        self._book()
        self._do(self._intake.freeze(by, now()))

    def thaw(self, by: ActorId) -> None:
        """Take inputs again."""
        self._do(self._intake.thaw(by, now()))

    def declined(self, actor: ActorId, asked: FrameKind, error: HoldfastError) -> None:
        """Put on record that a request was turned away."""
        self._do(self._refusals.declined(actor, asked, error, self._intake))

    def record(self, kind: EntryKind, fields: Mapping[str, Value]) -> None:
        """Put on record what decides nothing here."""
        self._do(self._intake.record(kind, fields, now()))

    def record_swept(self, swept: Swept) -> wire.Event:
        """Put on record what was ended with the session, and tell who is here."""
        told: dict[str, str | int] = {"names": swept.names, "left": swept.left}
        self.record(EntryKind.SWEPT, {"by": swept.by, "count": swept.ended, **told})
        told = {"leftovers": swept.ended, **told}
        event = wire.Event(EventName.SESSION_SWEPT, self._vaulted.session, told)
        self._company.announce(event)
        return event

    def exited(self, how: str) -> None:
        """Refuse everything from now on."""
        if self._is_over:
            return  # A predecessor has written it down.
        self._book()
        self._do(self._refusals.flush(self._intake))
        self._do(self._intake.exited(how, now()))

    # ── asking ────────────────────────────────────────────────────────────

    def try_out(
        self, connection: Connection, given: Input, candidate: bytes | None = None
    ) -> None:
        """Tell a client what would happen to an input now, perhaps by another policy.

        Of somebody who was never here it is told as if it had just come in.
        """
        try:
            _demand_sent(given)
            known = self.policing, self._company, self.rights, self._first_envelope
            with trial.supposing(*known, given.actor, candidate) as actor:
                if error := self._intake.objection(given, now()):
                    raise error
                if error := self._intake.budgets.refusal(given, time.monotonic()):
                    raise error
                self._consulting.try_out(connection, actor, given, self.epoch)
        except HoldfastError as error:
            tell_tried(connection, self.policing.digest, error)

    def inquire(self, connection: Connection, actor: ActorId, asked: InputId) -> None:
        """Tell a client what became of an input, once that is known."""
        outcome = self._intake.inquire(actor, asked)
        if outcome is not None:
            connection.send(told(asked, outcome))
        else:
            self._do(self._intake.settle(now()))  # Whoever asks is waiting.

    # ── time and the disk ─────────────────────────────────────────────────

    def printed(self) -> None:
        """Take note that the program, or the terminal's echo, has said something."""
        self._writing.has_echoed = True

    def must_sync(self, *, is_idle: bool) -> bool:
        """Tell whether the disk has waited long enough."""
        has_echoed = is_idle and self._writing.has_echoed
        is_due = has_echoed or time.monotonic() >= self.disk.due_at
        return self.disk.is_wanted and is_due

    def sync(self) -> None:
        """Make durable what waits for it, and acknowledge it."""
        while self.disk.is_wanted:
            self._do(self.disk.sync(self._intake))
            if self.disk.has_failed:
                return

    def settle(self) -> None:
        """Book and make durable whatever the terminal has taken."""
        self._book()
        self._do(self._refusals.flush(self._intake))
        self._do(self._intake.settle(now()))
        self.sync()

    def tick(self, at: float) -> bool:
        """Go on with what waits; return whether the clock demanded something.

        Call it at every turn.
        """
        writing = self._writing
        is_due = at >= self._due_at
        # If the turn is about to end, what is written is booked first. Else what the
        # terminal has taken would count as thrown away.
        if writing.book_by < math.inf and (
            writing.has_echoed or at >= writing.book_by or is_due
        ):
            self._book()
        if writing.current is not None:
            self._do(writing.go_on(self._intake))
        if self._line.waiting is not None:
            self._line.tick()
        if self._consulting.open is not None:
            self._consulting.drop(self._intake)
        if self.telling.held_input is not None:
            self._attend()
        if is_due:
            self._do(self._intake.tick(now()))
            self._attend()
            self._judge.tick(at)
            self._do(self._refusals.tick(self._intake))
            self._vouching.tick(self._log.sync)
        return is_due

    def next_deadline(self) -> float:
        """Return when to call `tick` at the latest; infinity if nothing waits."""
        deadline = self._intake.next_deadline()
        self._due_at = min(
            math.inf if deadline is None else deadline,
            self._attendance.alone_until,
            self._refusals.due_at,
            self._judge.due_at,
            self._vouching.due_at,
        )
        first = min(self._due_at, self._writing.book_by, self.disk.due_at)
        if self._writing.has_echoed and self.disk.is_wanted:
            return 0.0
        if self._line.waiting is not None:
            first = min(first, self._line.next_deadline())
        if self._writing.current is not None or self.checkpoints.is_full:
            first = min(first, time.monotonic() + AGAIN)
        return first

    # ── inside ────────────────────────────────────────────────────────────

    def _take_up(self) -> Intake:
        session = self._vaulted.session
        past = self._log.recover()
        self.checkpoints = Checkpoints(self._log_path, session, past)
        secret = hmac.digest(
            host_seed(), b"holdfast secret\n" + session.encode(), "sha256"
        )
        kind_of = self._limits.kind_of
        settings = Settings(session, FIRST_INCARNATION, secret, kind_of=kind_of)
        self._intake = Intake(settings, Logbook(past.head))
        before = None if past.checkpoint is None else standing_of(past.checkpoint)
        found = inherit(past.entries, self._note.read(), FIRST_INCARNATION, before)
        self._is_over = found.over is not None
        recent = past.entries[-REPLAYED:]
        self._judging.replay(recent)
        self._following.take_up(past)
        self._signing.take_up(past)
        self._intake.serializer.signed_by = self._signing.signed_by
        hands = None if past.checkpoint is None else past.checkpoint.hands
        self._handover.take_up(past.fresh, hands)
        if self.attributing is not None:
            self.attributing.take_up(recent)
        self._limits.take_up(self._intake, recent, found.holder, now())
        self._do(self._intake.resume(found, now()))
        self.sync()
        return self._intake

    def checkpoint(self, *, is_idle: bool) -> None:
        """Write down what a successor need not read, if it is time to."""
        kept = self.checkpoints
        if kept.is_due(is_idle=is_idle) and self._intake.book.is_idle:
            made = kept.make(self._log, self._following.last)
            if made is not None:
                self.record(EntryKind.CHECKPOINT, made)

    def _do(self, effects: list[Effect]) -> bool:
        """Do what the machines say; return whether nothing was refused."""
        work, is_refused = deque(effects), False
        while work:
            effect = work.popleft()
            if isinstance(effect, turn.Refuse):
                asked = self.telling.refuse(effect)
                work.extend(
                    self._refusals.declined(
                        effect.actor, asked, effect.error, self._intake
                    )
                )
                is_refused = True
            else:
                work.extendleft(reversed(self._perform(effect)))
        return not is_refused

    def _perform(  # noqa: C901  # one case for each effect
        self, effect: Effect
    ) -> list[Effect]:
        match effect:
            case Store(entry):
                return self._store(entry)
            case KeepNote(note):
                self._note.keep(note)
            case serializer.Sync(index):
                self.disk.want(index)
            case serializer.Apply():
                self.telling.admitted(effect.input)
                if effect.input.kind is InputKind.START:
                    return self._writing.apply(effect, self._intake)
                self._following.enters()
                if self.attributing is not None:
                    self.attributing.types(effect.input.actor)
                return self._writing.apply(effect, self._intake)
            case serializer.Answer():
                self.beginning.answered(effect)
                self.telling.answer(effect)
                return self._refusals.answered(effect, self._intake)
            case Consult():
                return self._consulting.consult(effect, self.epoch, self._intake)
            case turn.PassTurn():
                self._passed(effect)
            case turn.AskHolder():
                self.telling.asked(effect)
            case gate.SeekApproval():
                asked = self._consulting
                self.telling.seek_approval(
                    effect, asked.given, asked.resolution, echo_off=asked.is_hidden
                )
            case _:
                pass
        return []

    def _store(self, entry: Entry) -> list[Effect]:
        try:
            self._log.append(entry.line)
        except OSError as error:
            return self._intake.store_failed(error.strerror or str(error), now())
        if entry.kind is EntryKind.INPUT:
            is_command = entry.fields["input"] == InputKind.COMMAND
            self._vouching.stored(entry.index, entry.hash, is_command=is_command)
        elif entry.kind is EntryKind.SIGNED:
            self.disk.want(entry.index)
        self._vouching.wrote(entry.index, entry.hash)
        self._signing.stored(entry)
        self.checkpoints.stored(len(entry.line))
        return self._intake.stored(now())

    def _took(self, given: Input, part: slice, terminal: LineDiscipline) -> None:
        echo_off = self._consulting.echo_off
        lines = self._judging.typed(given, part, terminal, echo_off=echo_off)
        self._lines = [*self._lines, *lines] if part.start else lines
        if part.stop == len(given.payload):
            self._following.entered(given, self._lines)

    def _book(self) -> None:
        self._do(self._writing.booked(self._intake))

    # ── inside: who is told ───────────────────────────────────────────────

    def _passed(self, passed: turn.PassTurn) -> None:
        self._judging.passed(passed.reason, is_held=passed.taker is not None)
        if self.attributing is not None and passed.taker is not None:
            self.attributing.types(passed.taker)
        self.telling.passed(passed, self._intake.dropped)
        takes_over = self._handover.passed(passed, self._judging.staged)
        if takes_over is not None and passed.taker is not None:
            self._company.tell(passed.taker, takes_over)

    def _attend(self) -> None:
        """Give up what waits for approval, and whose client has gone for good."""
        held, at = self.telling.held, now()
        alone = held[0] if held and not self._company.has(*held[1:]) else None
        self._attendance.look(alone, self.policing.policy.turn.grace, at.now)
        ticket = self._attendance.tick(at.now)
        if ticket is not None:
            self._do(self._intake.abandon(gate.Abandoned(ticket), at))

    def _may_approve(self, actor: ActorId) -> bool:
        return self.rights.may(actor, Right.APPROVE, now())

    def _warn(self, text: str) -> None:
        fields = {"text": wire.fitting(text, wire.MAX_TEXT)}
        event = wire.Event(EventName.POLICY_KEPT, self._vaulted.session, fields)
        self._company.announce(event)


def _secrecy(vaulted: Vaulted, following: Following) -> Secrecy:
    leader = vaulted.record.pid
    return Secrecy(vaulted.master, leader, lambda: following.runs_nothing)


def _demand_sent(given: Input) -> None:
    """Do nothing if an input is one that clients make."""
    if given.kind is InputKind.START:  # A session is begun once, by its holder.
        raise NotAllowed(given.actor, Right.CREATE.value)
