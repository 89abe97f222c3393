"""An act, from its arrival to its outcome.

Theory of operation
-------------------
The one way in. It joins turn, gate, serializer and logbook, and adds their order.

 1. A known input id is answered from memory first, so that a repeat learns what
    became of the original even if the turn has moved since (ADR 0004).
 2. When an input is first in line, and not earlier, it is checked against what
    holds *now*: budget, lease, freeze, life, envelope, turn, epoch. Then the gate
    is asked. If time has passed or anything has changed, all is checked again.
 3. It is drafted into the logbook. Once the line is in the file, and a note says
    that writing begins, its bytes go to the terminal.
 4. When the terminal has taken them all, the note says so, and then the book.
    When the disk has that for good, the input is acknowledged.

Typing takes a free turn, if its operator may take one and the gate does not deny the
input: otherwise an operator without rights could keep the turn from all others.
A resize leaves a free turn free.

Seizing skips all of this. It needs the right and nothing else: in one step the
turn changes hands, all that waits is dropped, and only the seizer's bytes reach the
terminal from then on. A log that cannot be written never delays a seize.

The *note* survives this process, in shared memory: epoch and holder of the turn,
which input's bytes may be on their way, and which went in last.

Invariants, checked by the simulator (holdfast.testing) in every run:

I1  Bytes reach the terminal only from the turn's holder, under its own epoch.
I2  Nothing reaches the terminal that the gate has not admitted and the logbook
    does not hold.
I3  Nothing is written while the session is frozen or its lease has run out.
I4  After a seize no byte of the former holder reaches the terminal.
"""

from collections import deque
from collections.abc import Mapping

from holdfast.core.book import entries
from holdfast.core.book.inheritance import Inheritance, Note
from holdfast.core.book.log_writer import LogWriter
from holdfast.core.book.logbook import Entry, EntryKind, Logbook
from holdfast.core.input import budget, gate, serializer, turn
from holdfast.core.input.intake_effects import (
    Consult,
    Effect,
    Judging,
    KeepNote,
    Settings,
)
from holdfast.core.input.rights import Rights
from holdfast.core.input.settlements import Settlements
from holdfast.core.relay.lease_term import Term
from holdfast.model import errors
from holdfast.model.envelopes import Envelope, Right
from holdfast.model.errors import HoldfastError
from holdfast.model.ids import ActorId, Epoch, Index
from holdfast.model.inputs import RIGHT_FOR, Input, InputId, InputKind
from holdfast.model.moments import Moment
from holdfast.model.outcomes import Cut, Dropped, Outcome
from holdfast.wire.lines import Value

Fields = Mapping[str, Value]
_APPLIED: Fields = {"as": "applied"}


class Intake:
    """The one way into one incarnation of one session."""

    def __init__(
        self, settings: Settings, logbook: Logbook, lease: Term | None = None
    ) -> None:
        self._settings = settings
        self.incarnation = settings.incarnation
        """Which life of the session this is."""

        self.book = LogWriter(logbook, settings.incarnation)
        self._lease = lease
        self.turn = turn.Turn(settings.turn_rules, kind_of=settings.kind_of)
        self.budgets = budget.Budgets(settings.kind_of)
        self.gate = gate.Gate(settings.gate_rules)
        self.serializer = serializer.Serializer()
        self.rights = Rights(settings.session)
        self._tickets = 0
        self.changes = 0
        """The generation: raised by what may change what is allowed, or when something
        is due."""

        self._judging: Judging | None = None
        self._applied: Index | None = None
        self._unsettled: Index | None = None
        self.settlements = Settlements()
        """Which inputs the book is still to vouch for."""

        self.is_frozen = False
        """Whether an operator has stopped all writing."""

        self.over: str | None = None
        """How the program ended, if it has."""

        self.dropped = (0, 0)
        """Inputs and bytes thrown away when the turn last changed hands."""

    def note(self, writing: Index | None = None) -> Note:
        """Return what a successor must know of this very moment.

        Or of the next, in which the input at `writing` is on its way. An input counts
        as being written until the book says what became of it: should we die before
        that, its outcome is unknown and not "dropped".
        """
        writing = self.serializer.writing if writing is None else writing
        return Note(
            self.incarnation,
            self.turn.epoch,
            self.turn.holder,
            self._unsettled if writing is None else writing,
            self._applied,
            self.is_frozen,
        )

    def blocked(self, boot: float) -> HoldfastError | None:
        """Return why nothing may be written at `Moment.boot`, or None.

        Ask it before every write to the terminal, not only when an input is
        admitted: a process that slept wakes up in the middle of one.
        """
        if self._lease is not None and not self._lease.may_speak(boot):
            return errors.LeaseLost(self.incarnation)
        if self.is_frozen:
            return errors.Frozen()
        if self.over is not None:
            return errors.SessionOver(self.over)
        return None

    def resume(self, inherited: Inheritance, at: Moment) -> list[Effect]:
        """Take up what a predecessor left behind. Applies nothing.

        Call it first, and on a fresh Intake only. What is in its effects must be
        durable before any client is served: repeats are answered from memory.
        """
        self.changes += 1
        self.turn.resume(inherited.holder, inherited.epoch, at.now)
        self.serializer.forgotten = inherited.forgotten
        self.serializer.begin_turn(inherited.holder, inherited.epoch)
        self.rights.resume(inherited.envelopes)
        self.is_frozen, self._applied = inherited.frozen, inherited.applied
        for past in inherited.inputs:
            self.serializer.remember(past)
        self.over = inherited.over
        begun = inherited.beginning
        effects = [] if begun is None else self.record(begun, inherited.begun(), at)
        if inherited.doubtful is not None:
            index, word = inherited.doubtful.index, inherited.doubtful.word
            effects += self._log_settlement(index, {"as": word}, at)
        return [KeepNote(self.note()), *effects]

    # ── inputs ────────────────────────────────────────────────────────────

    def submit(self, submitted: Input, at: Moment) -> list[Effect]:
        """Take an input from whichever route."""
        return self._carry(self.serializer.submit(submitted), at)

    def inquire(self, actor: ActorId, asked: InputId) -> Outcome | None:
        """Return what became of an input of `actor`, None if open or unheard of."""
        return self.serializer.outcome_of(actor, asked)

    def judged(
        self,
        said: gate.Judged,
        at: Moment,
        *,
        echo_off: bool,
        originators: tuple[ActorId, ...] = (),
        actions: tuple[str, ...] = (),
    ) -> list[Effect]:
        """Take the policy's answer, and what else the book says of the input."""
        if self._judging is not None and self._judging.ticket == said.ticket:
            self._judging.echo_off = echo_off
            self._judging.originators = originators
            self._judging.verdict = said.verdict
            self._judging.policy = said.policy
            self._judging.actions = actions
        return self._admitted(self.gate.handle(said, at.now), at)

    def approve(self, approved: gate.Approved, at: Moment) -> list[Effect]:
        """Take an operator's approval of exactly these bytes."""
        refused = self.rights.refusals(approved.approver, Right.APPROVE, at)
        return [*refused] or self._admitted(self.gate.handle(approved, at.now), at)

    def deny(self, denied: gate.Denied, at: Moment) -> list[Effect]:
        """Take an operator's denial; the asker may withdraw its own."""
        waiting = self._judging
        if waiting is None or waiting.input.actor != denied.approver:
            refused = self.rights.refusals(denied.approver, Right.APPROVE, at)
            if refused:
                return [*refused]
        return self._admitted(self.gate.handle(denied, at.now), at)

    def resolve(self, said: gate.Result, at: Moment) -> list[Effect]:
        """Take what came of what waits: a preview, no answer, or nothing, and why."""
        return self._admitted(self.gate.handle(said, at.now), at)

    def issue_ticket(self) -> int:
        """Return a number that no other act of this session waits under."""
        self._tickets += 1
        return self._tickets

    # ── the turn ──────────────────────────────────────────────────────────

    def request(self, event: turn.Event, at: Moment) -> list[Effect]:
        """Take what an operator does about the turn, short of seizing it."""
        match event:
            case turn.Seized(actor):
                return self.seize(actor, at)
            case turn.Took(actor) | turn.AskedFor(actor):
                refused = self.rights.refusals(actor, Right.TAKE, at)
            case turn.Gave(giver, to):
                refused = self.rights.refusals(to, Right.INPUT, at, told=giver)
            case _:
                refused = []
        return [*refused] or self._turn(event, at)

    def seize(self, actor: ActorId, at: Moment) -> list[Effect]:
        """Take the turn by force, now."""
        refused = self.rights.refusals(actor, Right.SEIZE, at)
        return [*refused] or self._turn(turn.Seized(actor), at)

    # ── who may what, and whether anything may ────────────────────────────

    def grant(
        self, actor: ActorId, envelope: Envelope, by: ActorId, at: Moment
    ) -> list[Effect]:
        """Give `actor` an envelope; `by` is on record."""
        self.rights.give(actor, envelope)
        self.changes += 1
        return self.record(
            EntryKind.GRANTED, entries.granted_fields(actor, envelope, by), at
        )

    def revoke(self, actor: ActorId, by: ActorId, at: Moment) -> list[Effect]:
        """Take everything from `actor` at once, also what it has in line."""
        self.rights.take_all(actor)
        self.changes += 1
        effects = self.record(EntryKind.REVOKED, {"actor": actor, "by": by}, at)
        return [*effects, *self._turn(turn.Revoked(actor), at)]

    def attach(
        self, actor: ActorId, client: str, at: Moment, *, news: bool = True
    ) -> list[Effect]:
        """Note that a client is here; the book says so if its program was not."""
        fields = {"actor": actor, "client": client}
        effects = self.record(EntryKind.ATTACHED, fields, at) if news else []
        return [*effects, *self._turn(turn.Returned(actor), at)]

    def detach(
        self,
        actor: ActorId,
        client: str,
        *,
        last: bool,
        at: Moment,
        news: bool = True,
        by: ActorId | None = None,
    ) -> list[Effect]:
        """Note that a client left, or was dismissed; `last` if it was its actor's."""
        fields = {"actor": actor, "client": client}
        if by is not None:
            fields["by"] = by
        effects = self.record(EntryKind.DETACHED, fields, at) if news else []
        return [*effects, *(self._turn(turn.Left(actor), at) if last else [])]

    def freeze(self, by: ActorId, at: Moment) -> list[Effect]:
        """Write nothing from now on, and throw away what waits."""
        self.is_frozen = True
        return self._cut(errors.Frozen(), EntryKind.FROZEN, {"by": by}, at)

    def thaw(self, by: ActorId, at: Moment) -> list[Effect]:
        """Accept input again."""
        self.is_frozen = False
        self.changes += 1
        thawed = self.record(EntryKind.THAWED, {"by": by}, at)
        return [KeepNote(self.note()), *thawed]

    def fenced(self, at: Moment) -> list[Effect]:
        """Throw away what waits: the lease has run out."""
        return self._cut(errors.LeaseLost(self.incarnation), EntryKind.FENCED, {}, at)

    def exited(self, how: str, at: Moment) -> list[Effect]:
        """Refuse everything from now on: the program is gone."""
        self.over = how
        return self._cut(errors.SessionOver(how), EntryKind.EXITED, {"how": how}, at)

    def adopt(self, rules: turn.TurnRules, budgets: budget.ByKind) -> None:
        """Go by other rules from now on: another policy is in force."""
        self.changes += 1
        self.turn.adopt(rules)
        self.budgets.adopt(budgets)

    def record(
        self, kind: EntryKind, fields: Mapping[str, Value], at: Moment
    ) -> list[Effect]:
        """Write something into the logbook."""
        return [*self.book.record(kind, fields, self.turn.epoch, at)]

    # ── what the disk and the terminal answer ─────────────────────────────

    def stored(self, at: Moment) -> list[Effect]:
        """Go on: the drafted line is in the file."""
        del at  # What is done with it was decided when it was drafted.
        entry, following = self.book.stored()
        effects: list[Effect] = []
        if entry.kind is EntryKind.INPUT:
            effects += self._begin(entry)
        elif entry.kind is EntryKind.SETTLED:
            effects += self._settled(entry)
        elif entry.kind in (EntryKind.GRANTED, EntryKind.REVOKED):
            # Rights must not come back when the host is lost.
            effects.append(serializer.Sync(entry.index))
        return [*effects, *following]

    def store_failed(self, why: str, at: Moment) -> list[Effect]:
        """Refuse what cannot be logged; what has happened is logged later."""
        self.book.store_failed(at.now)
        self.changes += 1
        return self._carry(self.serializer.store_failed(why), at)

    def wrote(self, index: Index, count: int, at: Moment) -> list[Effect]:
        """Count what the terminal accepted."""
        was_writing = self.serializer.writing
        answers = self.serializer.wrote(index, count)
        effects: list[Effect] = []
        if was_writing == index and self.serializer.writing is None:
            self._applied = index
            effects.append(KeepNote(self.note()))
        return [*effects, *self._carry(answers, at)]

    def synced(self, index: Index, at: Moment) -> list[Effect]:
        """Acknowledge what the book vouches for, as far as it is durable now."""
        effects: list[Effect] = []
        for applied in self.settlements.durable(index):
            effects += self._carry(self.serializer.synced(applied), at)
        return effects

    def settle(self, at: Moment) -> list[Effect]:
        """Record the outcome of every input: nobody waits for the next."""
        held = self.settlements.release()
        return [] if held is None else self._log_settlement(held, _APPLIED, at)

    def sync_failed(self, why: str, at: Moment) -> list[Effect]:
        """Stop acknowledging: the disk may have lost what it was given."""
        self.settlements.release()
        self.changes += 1
        return self._carry(self.serializer.sync_failed(why), at)

    # ── time ──────────────────────────────────────────────────────────────

    def tick(self, at: Moment) -> list[Effect]:
        """Do what the clock demands. Call it at or after `next_deadline()`."""
        effects = self._passed(self.turn.tick(at.now), at)
        effects += self._admitted(self.gate.tick(at.now), at)
        if (held := self.settlements.due(at.now)) is not None:
            effects += self._log_settlement(held, _APPLIED, at)
        return [*effects, *self.book.tick(at.now)]

    def next_deadline(self) -> float | None:
        """Return when to call `tick`, or None when there is nothing to wait for."""
        first = self.turn.next_deadline()
        held = self.gate.next_deadline() if self.gate.open else None
        for at in (held, self.book.retry_at, self.settlements.by):
            if at is not None and (first is None or at < first):
                first = at
        return first

    # ── inside: the order of things ───────────────────────────────────────

    def _carry(self, given: list[serializer.Effect], at: Moment) -> list[Effect]:
        effects: list[Effect] = []
        work = deque(given)
        # A loop, not a recursion: a whole line may be refused in one go.
        while work:
            effect = work.popleft()
            match effect:
                case serializer.Judge(first):
                    done, more = self._judge(first, at)
                    effects += done
                    work.extend(more)
                case serializer.Sync(index, waits=True):
                    # The book must hold that the input went in before the
                    # operator is told so: a host that dies takes the note along.
                    effects += self._log_settlement(index, _APPLIED, at)
                case serializer.Sync(index):
                    if self.settlements.hold(index, at.now):
                        effects.append(effect)
                case _:
                    effects.append(effect)
        return effects

    def _judge(
        self, first: Input, at: Moment
    ) -> tuple[list[Effect], list[serializer.Effect]]:
        # An input of another life may have happened: no budget speaks of it.
        known = self._settings.owes(first)
        if known and (spent := self.budgets.spend(first, at.now)):
            return [], self.serializer.reject(spent)  # A flood is not logged.
        if error := self.objection(first, at):
            logged = self._log_refusal(Judging(0, first), error, at)
            return logged, self.serializer.reject(error)
        self._tickets += 1
        self._judging = Judging(self._tickets, first, (self.changes, at.now))
        # What takes a free turn waits under the epoch that it will have then.
        epoch = Epoch(self.turn.epoch + self._takes_turn(first, at))
        digest = entries.binding(first, self._settings.secret_key)
        submitted = gate.Submitted(self._tickets, first.actor, epoch, digest)
        return self._admitted(self.gate.handle(submitted, at.now), at), []

    def _takes_turn(self, given: Input, at: Moment) -> bool:
        """Tell whether the turn is free, and comes with this input."""
        takes = given.kind not in (InputKind.START, InputKind.RESIZE)
        is_free = takes and self.turn.is_free_under(given.epoch)
        return is_free and self.rights.may(given.actor, Right.TAKE, at)

    def _take_if_free(self, given: Input, at: Moment) -> list[Effect]:
        if not self._takes_turn(given, at):
            return []
        return self._turn(turn.Took(given.actor), at)

    def objection(self, given: Input, at: Moment) -> HoldfastError | None:
        """Return why `given` may not be written as things stand now, or None."""
        # First, because it alone does not claim that nothing was done.
        if not self._settings.owes(given):
            return errors.StaleIncarnation(given.incarnation, self.incarnation)
        if blocked := self.blocked(at.boot):
            return blocked
        if self.book.retry_at is not None or self.serializer.broken is not None:
            return errors.LogbookFailed(self.serializer.broken or "it is behind")
        right = RIGHT_FOR[given.kind]
        if not self.rights.may(given.actor, right, at):
            return errors.NotAllowed(given.actor, right.value)
        is_free = self.turn.is_free_under(given.epoch)
        is_apart = given.kind is InputKind.START  # It is typed nowhere.
        try:
            if not (is_apart or (is_free and given.kind is InputKind.RESIZE)):
                self.turn.demand(given.actor, given.epoch)
        except HoldfastError as error:
            return None if self._takes_turn(given, at) else error
        return None

    def _admitted(self, given: list[gate.Effect], at: Moment) -> list[Effect]:
        effects: list[Effect] = []
        for effect in given:
            match effect:
                case gate.Consult(ticket):
                    effects.append(Consult(ticket, self._waiting(ticket).input))
                case gate.Preview():
                    effects.append(effect)
                case gate.SeekApproval(ticket, actor, _, _, rule, report):
                    asked = entries.asked_fields(ticket, actor, rule, report)
                    effects += self._take_if_free(self._waiting(ticket).input, at)
                    effects += [effect, *self.record(EntryKind.ASKED, asked, at)]
                case gate.Admit():
                    effects += self._admit(effect, at)
                case gate.Reject(ticket, error):
                    effects += self._rejected(ticket, error, at)
                case gate.Refuse(actor, error):
                    effects.append(turn.Refuse(actor, error))
        return effects

    def _waiting(self, ticket: int) -> Judging:
        waiting = self._judging
        assert waiting is not None, "a ticket without an input"  # noqa: S101
        assert waiting.ticket == ticket, "another ticket's input"  # noqa: S101
        return waiting

    def _admit(self, admitted: gate.Admit, at: Moment) -> list[Effect]:
        waiting = self._waiting(admitted.ticket)
        effects: list[Effect] = []
        if admitted.approver is not None:
            answered = entries.answered_fields(
                admitted.ticket, admitted.approver, yes=True
            )
            effects += self.record(EntryKind.ANSWERED, answered, at)
        # An answer may have taken minutes, and much may have changed meanwhile.
        # Without either, nothing can speak against it that did not before.
        is_same = waiting.seen == (self.changes, at.now)
        error = None if is_same else self.objection(waiting.input, at)
        if error is not None:
            return [*effects, *self._rejected(admitted.ticket, error, at)]
        if self.turn.holder is None:
            effects += self._take_if_free(waiting.input, at)
        self._judging = None
        self.serializer.admit(self.book.next_index)
        kind = self._settings.kind_of(waiting.input.actor)
        fields = waiting.fields(admitted, kind, self._settings)
        effects += self.book.record(EntryKind.INPUT, fields, self.turn.epoch, at)
        return effects

    def _rejected(self, ticket: int, error: HoldfastError, at: Moment) -> list[Effect]:
        refused, self._judging = self._waiting(ticket), None
        logged: list[Effect] = []
        if isinstance(error, errors.DeniedByOperator):
            by = ActorId(str(error.facts["approver"]))
            answered = entries.answered_fields(ticket, by, yes=False)
            logged += self.record(EntryKind.ANSWERED, answered, at)
        logged += self._log_refusal(refused, error, at)
        return [*logged, *self._carry(self.serializer.reject(error), at)]

    def _settled(self, entry: Entry) -> list[Effect]:
        if entry.fields["as"] == "applied":
            self.settlements.vouch(entry.index, Index(int(entry.fields["of"] or 0)))
            return [serializer.Sync(entry.index)]
        self._unsettled = None
        return [KeepNote(self.note())]

    def _begin(self, entry: Entry) -> list[Effect]:
        follows = self.settlements.followed(entry.index)
        synced: list[Effect] = [serializer.Sync(entry.index)] if follows else []
        applied = self.serializer.stored(entry.index)
        # Nothing to apply: it was cut meanwhile, and the entry that says so is next.
        return [KeepNote(self.note()), *applied, *synced] if applied else synced

    def _turn(self, event: turn.Event, at: Moment) -> list[Effect]:
        self.changes += 1
        return self._passed(self.turn.handle(event, at.now), at)

    def _passed(self, given: list[turn.Effect], at: Moment) -> list[Effect]:
        effects: list[Effect] = []
        for effect in given:
            if isinstance(effect, turn.PassTurn):
                effects += self._pass(effect, at)
            else:
                effects.append(effect)
        return effects

    def _pass(self, passed: turn.PassTurn, at: Moment) -> list[Effect]:
        # All that can wait under a free turn is what is being judged and those
        # behind it; and the input that takes the turn by being typed must go on.
        # A seize is a cut for all operators, including the one who seizes.
        moved = errors.TurnMoved(passed.taker or "", passed.epoch)
        is_own = self._judging is None or self._judging.input.actor == passed.taker
        is_taken = passed.giver is None and passed.reason is not turn.PassReason.SEIZED
        goes_on = is_taken and is_own
        self.changes += 1
        report = serializer.CutReport() if goes_on else self._drop(moved)
        self.dropped = (report.inputs, report.bytes)
        self.serializer.begin_turn(passed.taker, passed.epoch)
        settled = self._settle_cut(report, at)
        logged = self.record(EntryKind.TURN, entries.turn_fields(passed, report), at)
        return [KeepNote(self.note()), passed, *settled, *logged]

    def _cut(
        self,
        error: HoldfastError,
        kind: EntryKind,
        why: Mapping[str, Value],
        at: Moment,
    ) -> list[Effect]:
        report = self._drop(error)
        settled = self._settle_cut(report, at)
        logged = self.record(kind, {**why, **entries.cut_fields(report)}, at)
        return [KeepNote(self.note()), *settled, *logged]

    def _drop(self, error: HoldfastError) -> serializer.CutReport:
        self.changes += 1
        # The gate's rejections are not carried: the cut settles their inputs.
        self.gate.handle(gate.CutShort(error), 0)
        self._judging = None
        return self.serializer.cut(error)

    def _settle_cut(self, report: serializer.CutReport, at: Moment) -> list[Effect]:
        effects = self._carry(report.effects, at)
        settled, lost = report.settled, report.unstored
        if settled is None and lost is not None and not self.book.withdraw_input(lost):
            settled = Dropped(lost)
        match settled:
            case Cut(index, written):
                how: Fields = {"as": "cut", "written": written}
                effects += self._log_settlement(index, how, at)
            case Dropped(index):
                effects += self._log_settlement(index, {"as": "dropped"}, at)
            case None:
                pass
        return effects

    # ── inside: the logbook ───────────────────────────────────────────────

    def _log_refusal(
        self, refused: Judging, error: HoldfastError, at: Moment
    ) -> list[Effect]:
        kind = self._settings.kind_of(refused.input.actor)
        actions = () if refused.echo_off else refused.actions
        judged = refused.verdict, error, refused.policy, actions
        fields = entries.refused_fields(refused.input, kind, *judged)
        return self.record(EntryKind.REFUSED, fields, at)

    def _log_settlement(self, index: Index, how: Fields, at: Moment) -> list[Effect]:
        if how["as"] in ("cut", "unknown"):
            self._unsettled = index
        return self.record(EntryKind.SETTLED, {"of": index, **how}, at)
