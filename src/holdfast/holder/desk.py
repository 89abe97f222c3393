"""The one way in: carries inputs to the Intake, and does what it answers."""

import hmac
import time
from collections import deque
from collections.abc import Callable, Mapping
from functools import partial

from holdfast.core import gate, serializer, turn
from holdfast.core.declining import Declining, Tell
from holdfast.core.demands import Consult, Effect, KeepNote, Settings
from holdfast.core.entries import declined_fields
from holdfast.core.inheritance import inherit
from holdfast.core.intake import Intake
from holdfast.core.log_writer import Store
from holdfast.core.logbook import Entry, EntryKind, Head, Logbook, genesis
from holdfast.core.policy import Judgement
from holdfast.core.rights import Rights
from holdfast.holder.company import Company
from holdfast.holder.connection import Connection
from holdfast.holder.following import Following
from holdfast.holder.handover import inherited
from holdfast.holder.judge_link import Asked, JudgeLink
from holdfast.holder.judging import REPLAYED, Judging
from holdfast.holder.limits import Limits
from holdfast.holder.log_file import LogFile
from holdfast.holder.note_memory import NoteMemory
from holdfast.holder.payloads import check, signal_of, size_of, staged_after
from holdfast.holder.telling import NOBODY, Telling, told
from holdfast.holder.vaulted import Vaulted
from holdfast.holder.vouching import Vouching
from holdfast.linux import folders, processes, pty
from holdfast.linux.host_key import host_seed
from holdfast.linux.secrecy import Secrecy
from holdfast.model.actors import Actor
from holdfast.model.envelopes import Envelope, Right, default_rights
from holdfast.model.errors import (
    BudgetSpent,
    HoldfastError,
    InputTooLarge,
    NotAllowed,
    NotYourTurn,
    PolicyUnavailable,
)
from holdfast.model.geometry import Size
from holdfast.model.ids import FIRST_INCARNATION, ActorId, Epoch, Index
from holdfast.model.inputs import RIGHT_FOR, Input, InputId, InputKind
from holdfast.model.moments import Moment
from holdfast.model.outcomes import Refused
from holdfast.model.verdicts import Verdict
from holdfast.wire import messages as wire
from holdfast.wire.codec import refusal
from holdfast.wire.frames import FrameKind
from holdfast.wire.lines import Value

SYNC_PATIENCE = 0.002
"""Seconds the disk may be put off: what was typed is to be echoed first, and a
sync takes as long as several echoes. Nobody waits longer for an answer."""

ECHO_PATIENCE = 0.001
"""Seconds what the terminal took may stay unbooked: its echo goes first. Should
we be killed within them, the input's outcome is unknown, as it is during a write."""


MAX_ASKED = 2
"""Questions with the judge when another "what if" is refused: one of them may be
the gate's own, which is never refused, and each may keep a process busy."""


class Desk:
    """Where operators' inputs arrive."""

    def __init__(
        self,
        vaulted: Vaulted,
        note: NoteMemory,
        company: Company,
        resized: Callable[[Size], None],
        judge: JudgeLink,
        following: Following,
    ) -> None:
        self._vaulted = vaulted
        self._resized = resized
        self._note = note
        self._company = company
        self._vouching = Vouching(vaulted.session)
        self._secrecy = Secrecy(vaulted.master)
        self.telling = Telling(company, self._may_approve, self._vouching.receipt)
        self._judge = judge
        self._following = following
        self._judging = Judging(vaulted, self._warn, judge)
        self._limits = Limits(self._judging.policing, company)
        self._asked: tuple[int, Asked] | None = None
        self._declining = Declining()
        self._echo_off = False
        self._is_canonical = True
        self._staged = 0  # Bytes of an unfinished line, as far as we have seen.
        self._writing: tuple[serializer.Apply, int] | None = None
        self._taken: tuple[Index, int] | None = None
        self._book_by = 0.0
        self._sync_to: Index | None = None
        self._sync_by = 0.0
        self._has_echoed = False
        self._log = LogFile(folders.session_log(vaulted.session), vaulted.session)
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
    def is_frozen(self) -> bool:
        """Whether the session stands still."""
        return self._intake.is_frozen

    @property
    def is_writing(self) -> bool:
        """Whether an input is half written."""
        return self._writing is not None

    @property
    def is_busy(self) -> bool:
        """Whether an input is half written, or waits for the terminal."""
        return self._writing is not None or bool(self._intake.serializer.queued_bytes)

    # ── coming and going ──────────────────────────────────────────────────

    def meet(self, actor: Actor) -> None:
        """Let an operator in: give it what its kind has, unless it is known here."""
        self._company.meet(actor)
        if self.rights.envelope_of(actor.id) is None:
            began_it = self._vaulted.facts.get("creator") == actor.id
            rights = default_rights(actor.kind, began_it=began_it)
            envelope = Envelope(rights, self._vaulted.session)
            self._do(self._intake.grant(actor.id, envelope, NOBODY, now()))

    def came(self, connection: Connection) -> None:
        """Record that a client attached."""
        self._book()
        actor, client = connection.operator, connection.client
        assert client is not None  # noqa: S101  # it has just attached
        self._do(self._intake.attach(actor.id, client, now()))

    def brief(self, connection: Connection) -> None:
        """Tell a client that has just attached what waits for an answer."""
        self.telling.welcome(connection, connection.operator.id)

    def left(self, connection: Connection) -> None:
        """Record that a client is gone."""
        self._book()
        actor, client = connection.operator, connection.client
        assert client is not None  # noqa: S101  # only who came can leave
        last = not self._company.clients_of(actor.id)
        self.telling.left(actor.id, client, connection)
        self._do(self._intake.detach(actor.id, client, last=last, at=now()))

    # ── acting ────────────────────────────────────────────────────────────

    def submit(self, connection: Connection, submit: wire.Submit) -> None:
        """Take an input."""
        self._book()
        actor = connection.operator.id
        given = submit.to_input(actor)
        self.telling.sent_by(actor, submit.client, connection)
        try:
            if connection.mode is wire.Mode.OBSERVE:
                raise NotAllowed(actor, RIGHT_FOR[given.kind].value)
            self._is_canonical = pty.is_canonical(self._vaulted.master)
            check(given, is_canonical=self._is_canonical, staged=self._staged)
            if not self._intake.is_known(given):
                self._following.demand_prompt(given, self._judging.staged)
        except HoldfastError as error:
            self.declined(actor, FrameKind.SUBMIT, error)
            connection.send(refusal(error, FrameKind.SUBMIT, given.id))
            return
        self._limits.refresh(self._intake)
        effects = self._intake.submit(given, now())
        self._note_arrival(given, effects)
        self._do(effects)

    def request(self, event: turn.Event) -> bool:
        """Take what an operator does about the turn; False if it was refused."""
        self._book()
        if not isinstance(event, turn.Seized):  # It waits for no file to be read.
            self._limits.refresh(self._intake)
        return self._do(self._intake.request(event, now()))

    def approve(self, approved: gate.Approved) -> None:
        """Take an approval."""
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
        self._do(self._decline(actor, asked, error))

    def record(self, kind: EntryKind, fields: Mapping[str, Value]) -> None:
        """Put on record what decides nothing here."""
        self._do(self._intake.record(kind, fields, now()))

    def record_end(self, by: ActorId, number: int) -> None:
        """Put on record who ends the session, and how."""
        self.record(EntryKind.ENDING, {"by": by, "signal": number})

    def exited(self, how: str) -> None:
        """Refuse everything from now on."""
        if self._is_over:
            return  # A predecessor has written it down.
        self._book()
        self._do(self._told(self._declining.flush()))
        self._do(self._intake.exited(how, now()))

    # ── asking ────────────────────────────────────────────────────────────

    def try_out(self, connection: Connection, given: Input) -> None:
        """Tell a client what would happen to an input now."""
        actor = self._company.actor(given.actor)
        error = self._intake.objection(given, now())
        # Typing takes a free turn, so that nobody has it is no objection.
        if isinstance(error, NotYourTurn) and not self.holder:
            may_take = self.rights.may(given.actor, Right.TAKE, now())
            error = None if may_take else error
        error = error or self._intake.budgets.refusal(given, time.monotonic())
        if error is None and self._judge.count >= MAX_ASKED:
            error = PolicyUnavailable("is asked too much at once")
        if error is not None:
            tell_tried(connection, error)
            return
        then = partial(tell_tried, connection)
        secret = self._secrecy.is_on()
        said = self._judging.consult(actor, given, self.epoch, then, secret=secret)
        if isinstance(said, Judgement):
            then(said)

    def inquire(self, connection: Connection, actor: ActorId, asked: InputId) -> None:
        """Tell a client what became of an input, once that is known."""
        outcome = self._intake.inquire(actor, asked)
        if outcome is not None:
            connection.send(told(asked, outcome))

    # ── time and the disk ─────────────────────────────────────────────────

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
                self._do(self._intake.sync_failed(str(error), now()))
                return
            self._do(self._intake.synced(index, now()))

    def settle(self) -> None:
        """Book and make durable whatever the terminal has taken."""
        self._book()
        self._do(self._told(self._declining.flush()))
        self.sync()

    def tick(self) -> None:
        """Do what the clock demands, and go on with what the terminal refused."""
        if self._has_echoed or time.monotonic() >= self._book_by or self._is_due():
            self._book()
        if self._writing is not None:
            self._do(self._written())
        self._do(self._intake.tick(now()))
        self._judge.tick(time.monotonic())
        self._drop_question()
        self._do(self._told(self._declining.tick(time.monotonic())))

    def _is_due(self) -> bool:
        """Tell whether the turn may be about to end: what is written is booked first.

        Else what the terminal has taken would count as thrown away.
        """
        due = self._intake.next_deadline()
        return due is not None and time.monotonic() >= due

    def next_deadline(self) -> float | None:
        """Return when to call `tick`, or None when there is nothing to wait for."""
        if self._taken is not None:
            return self._book_by
        if self._writing is not None:
            return time.monotonic() + 0.01
        clocks = (
            self._intake.next_deadline(),
            self._declining.next_deadline(),
            self._judge.next_deadline(),
        )
        return min((at for at in clocks if at is not None), default=None)

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
        secret = hmac.digest(
            host_seed(), b"holdfast secret\n" + session.encode(), "sha256"
        )
        kind_of = self._limits.kind_of
        settings = Settings(session, FIRST_INCARNATION, secret, kind_of=kind_of)
        self._intake = Intake(settings, Logbook(head))
        found = inherit(entries, self._note.read(), FIRST_INCARNATION)
        self._is_over = found.over is not None
        self._judging.replay(entries[-REPLAYED:])
        self._following.take_up(entries)
        self._limits.take_up(self._intake, entries[-REPLAYED:], found.holder, now())
        self._do(self._intake.resume(found, now()))
        self.sync()
        return self._intake

    def _do(self, effects: list[Effect]) -> bool:
        """Do what the machines say; return whether nothing was refused."""
        work, is_refused = deque(effects), False
        while work:
            effect = work.popleft()
            if isinstance(effect, turn.Refuse):
                asked = self.telling.refuse(effect)
                work.extend(self._decline(effect.actor, asked, effect.error))
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
                if self._sync_to is None:
                    self._sync_by = time.monotonic() + SYNC_PATIENCE
                self._sync_to = max(self._sync_to or index, index)
            case serializer.Apply():
                self._writing = (effect, 0)
                return self._apply(effect)
            case serializer.Answer():
                self.telling.answer(effect)
                return self._note_spent(effect)
            case Consult(ticket, given):
                return self._consult(ticket, given)
            case turn.PassTurn():
                self._passed(effect)
            case turn.AskHolder():
                self.telling.asked(effect)
            case gate.SeekApproval():
                self.telling.seek_approval(effect, self._consulted)
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
        return self._intake.stored(now())

    def _consult(self, ticket: int, given: Input) -> list[Effect]:
        self._drop_question()
        self._consulted, self._echo_off = given, self._secrecy.is_on()
        actor = self._company.actor(given.actor)
        then = partial(self._judged_later, ticket)
        said = self._judging.consult(
            actor, given, self.epoch, then, secret=self._echo_off
        )
        if isinstance(said, Judgement):
            return self._judged(ticket, said)
        # Everything but this line of inputs goes on; a seize drops the question.
        self._asked = (ticket, said)
        return []

    def _judged_later(self, ticket: int, said: Judgement | PolicyUnavailable) -> None:
        self._asked = None
        # What was a secret when it was typed, or is one now, is none to be told.
        self._echo_off = self._echo_off or self._secrecy.is_on()
        if isinstance(said, Judgement):
            self._do(self._judged(ticket, said))
        else:
            why = str(said.facts["why"])
            self._do(self._intake.policy_failed(ticket, why, now()))

    def _judged(self, ticket: int, said: Judgement) -> list[Effect]:
        judged = gate.Judged(ticket, said.verdict, said.rule, said.why)
        return self._intake.judged(judged, now(), echo_off=self._echo_off)

    def _drop_question(self) -> None:
        """Hang up on a judge whose answer no longer counts."""
        if self._asked is not None:
            ticket, asked = self._asked
            if not self._intake.gate.is_consulting(ticket):
                self._asked = None
                self._judge.drop(asked)

    # ── inside: the terminal ──────────────────────────────────────────────

    def _apply(self, apply: serializer.Apply) -> list[Effect]:
        given = apply.input
        self.telling.admitted(given)
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
        return self._intake.wrote(apply.index, len(given.payload), now())

    def _written(self) -> list[Effect]:
        assert self._writing is not None  # noqa: S101  # asked by both callers
        at = now()
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
        self._judging.typed(apply.input, echo_off=self._echo_off)
        self._following.entered(apply.input)
        kept = self._staged if self._is_canonical else 0
        self._staged = staged_after(kept, apply.input.payload)
        if self._intake.serializer.queued_bytes:
            return self._intake.wrote(apply.index, taken, at)
        # Nobody waits behind it: the books are kept once its echo has been shown.
        self._taken, self._has_echoed = (apply.index, taken), False
        self._book_by = at.now + ECHO_PATIENCE
        return []

    def _book(self) -> None:
        if self._taken is not None:
            (index, count), self._taken = self._taken, None
            self._do(self._intake.wrote(index, count, now()))

    def _resize(self, given: Input) -> None:
        size = size_of(given.payload)
        pty.set_size(self._vaulted.master, size)
        self._vaulted.facts["size"] = [size.columns, size.rows]
        self._resized(size)

    # ── inside: what was turned away ──────────────────────────────────────

    def _note_arrival(self, given: Input, effects: list[Effect]) -> None:
        match effects:
            case [serializer.Answer(outcome=Refused(error) as outcome)]:
                # What is remembered stood in line, and has an entry of its own.
                if self._intake.inquire(given.actor, given.id) is not outcome:
                    self.declined(given.actor, FrameKind.SUBMIT, error)
            case _:
                pass

    def _note_spent(self, answer: serializer.Answer) -> list[Effect]:
        """Put on record what a budget refused: counted, for it may be a flood."""
        match answer.outcome:
            case Refused(BudgetSpent() | InputTooLarge() as error) as outcome:
                is_judged = self._intake.inquire(answer.actor, answer.id) is outcome
                if is_judged:
                    return self._decline(answer.actor, FrameKind.SUBMIT, error)
            case _:
                pass
        return []

    def _decline(
        self, actor: ActorId, asked: FrameKind, error: HoldfastError
    ) -> list[Effect]:
        word = asked.name.lower()
        at = time.monotonic()
        return self._told(self._declining.decline(actor, word, error.code, at))

    def _told(self, declined: list[Tell]) -> list[Effect]:
        return [
            effect
            for one in declined
            for effect in self._intake.record(
                EntryKind.DECLINED, declined_fields(one), now()
            )
        ]

    # ── inside: who is told ───────────────────────────────────────────────

    def _passed(self, passed: turn.PassTurn) -> None:
        self._judging.passed(passed.reason, is_held=passed.taker is not None)
        self.telling.passed(passed, self._intake.dropped)
        if passed.taker is not None and passed.giver is not None:
            takes_over = inherited(self._vaulted, self._judging.staged, passed.epoch)
            if takes_over is not None:
                self._company.tell(passed.taker, takes_over)

    def _may_approve(self, actor: ActorId) -> bool:
        return self.rights.may(actor, Right.APPROVE, now())

    def _warn(self, text: str) -> None:
        fields = {"text": wire.fitting(text, wire.MAX_TEXT)}
        self._company.announce(wire.Event("policy.kept", self._vaulted.session, fields))


def tell_tried(connection: Connection, said: Judgement | HoldfastError) -> None:
    """Tell a client what would happen, if it is still there."""
    if isinstance(said, HoldfastError):
        said = Judgement(Verdict.DENY, said.code, str(said))
    rule, why = (wire.fitting(one, wire.MAX_TEXT) for one in (said.rule, said.why))
    if not connection.is_closed:
        connection.send(wire.Tried(said.verdict, rule, why))


def now() -> Moment:
    """Return both clocks."""
    return Moment(time.monotonic(), time.time_ns() / 1e9)
