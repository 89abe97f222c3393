"""A simulated holder: the real core of one session, and the world around it.

The holder is the process; its *remains* (testing/holder_remains.py) outlive it on
its machine: the terminal, the stream window, the note, the log file and the lease's
expiry.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from holdfast.core.book.log_writer import Store
from holdfast.core.book.logbook import Entry, EntryKind
from holdfast.core.input import gate, intake_effects, serializer, turn
from holdfast.core.relay import lease
from holdfast.core.session import stream
from holdfast.model.envelopes import Envelope, Right
from holdfast.model.ids import ActorId, Incarnation, Index
from holdfast.model.inputs import Input
from holdfast.model.outcomes import Applied
from holdfast.model.verdicts import Verdict
from holdfast.testing.holder_remains import (
    HolderRemains,
    drowsiness,
    glimpse,
    standing_verdict,
    take_up,
)
from holdfast.testing.ledger import error_code
from holdfast.testing.volume import Refused
from holdfast.testing.world import demand

if TYPE_CHECKING:
    from holdfast.testing.host_node import HostNode
    from holdfast.testing.operator_node import OperatorNode

CHUNK = 64


class HolderNode:
    """One process that holds one incarnation of one session."""

    def __init__(self, host: "HostNode", left: HolderRemains, *, born: bool) -> None:
        self.host = host
        self.world = host.world
        self.ledger = host.ledger
        self.left = left
        self.is_alive = True
        self.is_asleep = False
        """Whether it has let the session doze: then something will wake another."""

        now = host.machine.clock()
        self._drowsiness = drowsiness(left, now.now)
        self.lease = lease.LeaseHolder(
            host.id,
            now.now,
            incarnation=left.incarnation,
            expires_at=left.lease_expires_at,
        )
        self._operators: dict[ActorId, OperatorNode] = {}
        self._writing: tuple[Index, Input, int] | None = None
        self._revoked: list[tuple[int, ActorId]] = []
        self._consulted: dict[int, Input] = {}
        self._views: dict[ActorId, stream.Viewer] = {}
        self._syncing = 0
        self._timer: float | None = None
        view = memoryview(left.memory)
        make = stream.StreamWindow.create if born else stream.StreamWindow.open
        self.window = make(view)
        self._take_up()
        left.nap = None
        self._arm()
        self._look_later()

    def kill(self) -> None:
        """Die at once: nothing scheduled by this process happens any more."""
        self.is_alive = False
        if self.left.log.raw and self.world.rng.random() < 0.1:
            self.left.log.raw += b'{"index":'
            self.world.reached["log torn"] += 1

    def may_speak(self) -> bool:
        """Tell whether this process believes it may speak, by its own clock."""
        return self.is_alive and self.lease.may_speak(self.host.machine.clock().now)

    # ── from operators ────────────────────────────────────────────────────

    def submit(self, operator: "OperatorNode", given: Input) -> None:
        """Take an input from the network."""
        self._operators[operator.actor] = operator
        self.ledger.submitted(self.left.session, given)
        at = self.host.machine.clock()
        if pressed := self.standing.press(given, at):
            self.world.reached["pressed"] += 1
            self.ledger.judged(self.left.session, given, Verdict.ALLOW)
        self._perform(pressed or self.intake.submit(given, at))

    def request(self, operator: "OperatorNode", event: turn.Event) -> None:
        """Take what an operator does about the turn."""
        self._operators[operator.actor] = operator
        self._perform(self.intake.request(event, self.host.machine.clock()))
        envelope = self.intake.rights.envelope_of(operator.actor)
        may_seize = envelope is not None and Right.SEIZE in envelope.rights
        if isinstance(event, turn.Seized) and may_seize and self.is_alive:
            self.world.reached["seize"] += 1
            demand(
                self.intake.turn.holder == operator.actor
                and self.intake.serializer.queued_bytes == 0
                and (self._writing is None or self._writing[1].actor == operator.actor),
                "I5",
                "a seize was delayed",
            )

    def approve(
        self,
        operator: "OperatorNode",
        incarnation: Incarnation,
        approved: gate.Approved,
    ) -> None:
        """Take an approval, honest or not, from a channel to this incarnation."""
        if incarnation != self.left.incarnation:
            return
        self._operators[operator.actor] = operator
        given = self._consulted.get(approved.ticket)
        if given is not None and approved.epoch is not None:
            self.ledger.approved(
                self.left.session,
                given,
                approved.approver,
                approved.digest,
                approved.epoch,
            )
        waiting = len(self.intake.gate.pending())
        self._perform(self.intake.approve(approved, self.host.machine.clock()))
        accepted = len(self.intake.gate.pending()) < waiting
        self.world.reached["approval accepted"] += accepted
        self.world.reached["approval refused"] += not accepted

    def deny(self, operator: "OperatorNode", denied: gate.Denied) -> None:
        """Take a denial."""
        self._operators[operator.actor] = operator
        self._perform(self.intake.deny(denied, self.host.machine.clock()))

    def freeze_or_thaw(self, operator: "OperatorNode", thaw: bool) -> None:  # noqa: FBT001  # a message's field
        """Freeze or thaw the session."""
        at = self.host.machine.clock()
        act = self.intake.thaw if thaw else self.intake.freeze
        self.world.reached["thaw" if thaw else "freeze"] += 1
        self.left.is_held = not thaw
        self._perform(act(operator.actor, at))

    def grant(self, actor: ActorId, envelope: Envelope) -> None:
        """Give an operator rights."""
        at = self.host.machine.clock()
        self.ledger.account(self.left.session).revoked.pop(actor, None)
        self._perform(self.intake.grant(actor, envelope, ActorId("root"), at))

    def revoke(self, actor: ActorId, by: ActorId) -> None:
        """Take an operator's rights away for good."""
        self.world.reached["revoke"] += 1
        self._perform(self.intake.revoke(actor, by, self.host.machine.clock()))
        demand(self.intake.turn.holder != actor, "I4", f"{actor} has the turn still")

    def depart(self, actor: ActorId) -> None:
        """Notice that an operator's last client is gone."""
        at = self.host.machine.clock()
        self._perform(self.intake.detach(actor, "client", last=True, at=at))

    def view(
        self, operator: "OperatorNode", life: Incarnation, after: int | None
    ) -> None:
        """Let an operator watch from `after` on, which it saw in `life`."""
        session, incarnation = self.left.session, self.left.incarnation
        if life != incarnation:
            after = None  # An offset of another life means nothing in this one.
        if not self.lease.may_speak(self.host.machine.clock().now):
            return
        plan = stream.plan_resume(self.window, after)
        if plan.gap:
            self.world.reached["resume with a gap"] += 1
        self._views[operator.actor] = stream.Viewer(plan.at)
        self._operators[operator.actor] = operator
        args = (session, incarnation, plan.at, plan.gap, after)
        self._reply(operator, operator.on_resumed, *args)

    # ── from the relay ────────────────────────────────────────────────────

    def lease_event(self, event: lease.Event) -> None:
        """Take what the relay said about the lease."""
        self._perform_lease(self.lease.handle(event, self.host.machine.clock().now))
        self._arm()

    # ── from the program ──────────────────────────────────────────────────

    def pump(self) -> None:
        """Move output into the window and on to the viewers."""
        if not self.may_speak():
            return
        self.window.append(self.left.terminal.drain())
        for actor, viewer in self._views.items():
            operator, before = self._operators[actor], viewer.cursor
            for effect in viewer.pull(self.window, CHUNK):
                if isinstance(effect, stream.Skip):
                    demand(effect.at - effect.gap == before, "I6", "gap miscounted")
                    self._show(operator, effect)
                elif operator.is_reading:
                    self._show(operator, effect)
                    viewer.accepted(len(effect.data))

    def _show(
        self, operator: "OperatorNode", effect: stream.Send | stream.Skip
    ) -> None:
        session, incarnation = self.left.session, self.left.incarnation
        self.ledger.lived(session, incarnation)
        if isinstance(effect, stream.Skip):
            self.world.reached["viewer skipped"] += 1
            args = (session, incarnation, effect.at, effect.gap)
            self._reply(operator, operator.on_gap, *args)
        else:
            data = bytes(effect.data)
            args_out = (session, incarnation, effect.offset, data)
            self._reply(operator, operator.on_output, *args_out)

    # ── effects ───────────────────────────────────────────────────────────

    def _perform(  # noqa: C901, PLR0912  # one case for each effect
        self, effects: list[intake_effects.Effect]
    ) -> None:
        for effect in effects:
            if self._dies("between two effects"):
                return
            match effect:
                case intake_effects.KeepNote(note):
                    self.left.note = note
                    self.left.is_frozen = note.frozen
                case Store(entry):
                    self._later(self._disk_delay(), self._store, entry)
                case serializer.Apply(index, given):
                    self._writing = (index, given, 0)
                    self._later(0.0005, self._write)
                case serializer.Sync(index):
                    self._syncing += 1
                    self._later(self._disk_delay() * 3, self._sync, index)
                case serializer.Answer():
                    self._answer(effect)
                case intake_effects.Consult(ticket, given):
                    self._consult(ticket, given)
                case turn.PassTurn():
                    self._announce(effect)
                case gate.Preview(ticket):
                    self._later(0.5, self._previewed, ticket)
                case gate.SeekApproval():
                    self._seek_approval(effect)
                case turn.AskHolder(holder, asker):
                    self._tell(holder, "on_asked", self.left.session, asker)
                case turn.Refuse(actor, error):
                    self._tell(actor, "on_refused", self.left.session, error)
        if self._writing is not None and self.intake.serializer.writing is None:
            self._writing = None  # It was cut.
        self._arm()

    def _perform_lease(self, effects: list[lease.Effect]) -> None:
        self.left.lease_expires_at = self.lease.expires_at
        for effect in effects:
            match effect:
                case lease.Renew(incarnation, is_speaking):
                    self.host.ask_lease(
                        self.left.session,
                        incarnation,
                        incarnation,
                        is_speaking=is_speaking,
                    )
                case lease.SelfFence():
                    self.world.reached["self-fence"] += 1
                    self.left.is_fenced = True
                    self._perform(self.intake.fenced(self.host.machine.clock()))
                case lease.Unfence():
                    self.world.reached["unfence"] += 1
                    self.left.is_fenced = False
                case lease.Retire():
                    self.world.reached["retired"] += 1
                    self.host.discard(self)
                case lease.ReportRollback():
                    self.world.reached["rollback seen by a host"] += 1
                case _:
                    pass

    def _dies(self, where: str, odds: int = 1) -> bool:
        """Perhaps be killed exactly here."""
        if self.world.rng.random() < self.host.failpoint_rate * odds:
            self.world.reached[f"killed {where}"] += 1
            self.host.kill_holder(self)
        return not self.is_alive

    def _store(self, entry: Entry) -> None:
        at = self.host.machine.clock()
        try:
            self.left.log.append(entry.line)
        except Refused as error:
            self.world.reached["disk full"] += 1
            self._perform(self.intake.store_failed(str(error), at))
            return
        if entry.kind is EntryKind.REVOKED:
            self._revoked.append((entry.index, ActorId(str(entry.fields["actor"]))))
        if not self._dies("between the log and the knowledge of it", odds=3):
            self._perform(self.intake.stored(at))

    def _sync(self, index: Index) -> None:
        at = self.host.machine.clock()
        self._syncing -= 1
        try:
            self.left.log.sync()
        except Refused as error:
            self.world.reached["sync failed"] += 1
            self._perform(self.intake.sync_failed(str(error), at))
            return
        while self._revoked and self._revoked[0][0] <= index:
            self.ledger.revoked(self.left.session, self._revoked.pop(0)[1])
        self._perform(self.intake.synced(index, at))

    def _write(self) -> None:
        if self._writing is None:
            return
        at = self.host.machine.clock()
        if self.intake.blocked(at.boot) is not None:
            self.world.reached["write held back"] += 1
            return
        index, given, done = self._writing
        accepted = self.left.terminal.write(len(given.payload) - done)
        if accepted:
            session, incarnation = self.left.session, self.left.incarnation
            self.ledger.wrote(session, incarnation, index, given, accepted)
            demand(not self.left.is_frozen, "I4", "written while frozen")
            demand(
                self._holds_entry(index),
                "I4",
                f"{given.id} written before it is logged",
            )
        if accepted and self._dies("between the terminal and the note", odds=10):
            return
        done += accepted
        self._writing = (index, given, done) if done < len(given.payload) else None
        if self._writing is not None:
            self.world.reached["terminal full"] += not accepted
            self._later(0.02, self._write)
        if accepted:
            self._perform(self.intake.wrote(index, accepted, at))

    def _holds_entry(self, index: Index) -> bool:
        return self.left.log.raw.count(b"\n") > index

    def _answer(self, answer: serializer.Answer) -> None:
        session = self.left.session
        account = self.ledger.account(session)
        mine = account.inputs.get((answer.actor, answer.id))
        if mine is not None:
            durable = len(self.left.log.replica.lines)
            self.ledger.answered(session, mine.input, answer.outcome, durable)
        self.world.reached[f"answered {type(answer.outcome).__name__.lower()}"] += 1
        if code := error_code(answer.outcome):
            self.world.reached[f"refused: {code}"] += 1
        receipt = None
        if isinstance(answer.outcome, Applied):
            receipt = self.host.receipt(session, answer.outcome.index)
        self._tell(
            answer.actor, "on_answer", session, answer.id, answer.outcome, receipt
        )

    def _consult(self, ticket: int, given: Input) -> None:
        self._consulted[ticket] = given
        chance = self.world.rng.random()
        delay = self.world.rng.uniform(0.0002, 0.002)
        if chance < 0.02:
            self.world.reached["policy hangs"] += 1
            self.ledger.judged(self.left.session, given, None)
            return
        if chance < 0.04:
            self.world.reached["policy crashes"] += 1
            self.ledger.judged(self.left.session, given, None)
            self._later(delay, self._policy_failed, ticket)
            return
        verdict = Verdict.ALLOW
        if chance < 0.22:
            prevents = Verdict.PREVIEW if chance < 0.08 else Verdict.ASK
            verdict = prevents if chance < 0.18 else Verdict.DENY
        self.world.reached[f"policy says {verdict}"] += 1
        self.ledger.judged(self.left.session, given, verdict)
        self._later(delay, self._judged, ticket, verdict)

    def _judged(self, ticket: int, verdict: Verdict) -> None:
        at = self.host.machine.clock()
        said = gate.Judged(ticket, verdict, "sim")
        effects = self.intake.judged(said, at, echo_off=False)
        self.standing.learn(self._consulted[ticket], effects)
        self._perform(effects)

    def _policy_failed(self, ticket: int) -> None:
        at = self.host.machine.clock()
        self._perform(self.intake.resolve(gate.PolicyFailed(ticket, "crashed"), at))

    def _previewed(self, ticket: int) -> None:
        at = self.host.machine.clock()
        self._perform(self.intake.resolve(gate.Previewed(ticket, "simulated"), at))

    def _seek_approval(self, asked: gate.SeekApproval) -> None:
        for actor in self._operators:
            args = (self.left.session, self.left.incarnation, asked)
            self._tell(actor, "on_pending", *args)

    def _announce(self, passed: turn.PassTurn) -> None:
        session, incarnation = self.left.session, self.left.incarnation
        self.ledger.passed(session, incarnation, passed.taker, passed.epoch)
        self.world.reached[f"turn {passed.reason}"] += 1
        self.world.trace(passed.epoch, passed.taker)
        for actor in self._operators:
            args = (session, incarnation, passed.epoch, passed.taker)
            self._tell(actor, "on_turn_passed", *args)

    def _tell(self, actor: ActorId, what: str, *args: object) -> None:
        operator = self._operators.get(actor)
        if operator is not None:
            self._reply(operator, getattr(operator, what), *args)

    def _reply(
        self, operator: "OperatorNode", action: Callable[..., None], *args: object
    ) -> None:
        """Answer over the channel between this process and the operator."""
        self.host.reply(operator, operator.hear, self, action, args)

    # ── time ──────────────────────────────────────────────────────────────

    def _later(self, delay: float, action: Callable[..., None], *args: object) -> None:
        self.host.machine.after(delay, self._if_alive, action, args)

    def _if_alive(self, action: Callable[..., None], args: tuple[object, ...]) -> None:
        if self.is_alive:
            action(*args)

    def _arm(self) -> None:
        deadlines = (self.intake.next_deadline(), self.lease.next_deadline())
        first = min((at for at in deadlines if at is not None), default=None)
        if first is None or (self._timer is not None and self._timer <= first):
            return
        self._timer = first
        now = self.host.machine.clock().now
        self._later(max(first - now, 0) + 1e-4, self._tick, first)

    def _tick(self, timer: float) -> None:
        if self._timer != timer:
            return
        self._timer = None
        at = self.host.machine.clock()
        self._perform_lease(self.lease.tick(at.now))
        self._perform(self.intake.tick(at))

    def _disk_delay(self) -> float:
        slow = self.host.disk_is_slow
        return self.world.rng.uniform(0.0001, 1.5 if slow else 0.002)

    # ── dozing ────────────────────────────────────────────────────────────

    def _look_later(self) -> None:
        now = self.host.machine.clock().now
        self._later(max(self._drowsiness.next_deadline() - now, 0) + 1e-4, self._look)

    def _look(self) -> None:
        """Let the session doze, if nothing happens in it."""
        at = self.host.machine.clock()
        seen = glimpse(self.left, self.window.end, is_free=self._is_free())
        is_time = self._drowsiness.look(seen, at.now) and self.host.lets_doze
        if is_time and self._settles():
            self.left.nap = self._drowsiness.nap(at.now)
            self.host.doze(self)
        elif self.is_alive:
            self._look_later()

    def _is_free(self) -> bool:
        line = self.intake.serializer
        is_quiet = self._writing is None and line.writing is None
        return (
            is_quiet
            and not line.queued_bytes
            and not self._syncing
            and not self.intake.gate.pending()
            and not self.intake.is_frozen
            and self.intake.book.is_idle
            and self.may_speak()
        )

    def _settles(self) -> bool:
        """Put down what is still open, and make it durable, before nobody is here."""
        self._perform(self.intake.settle(self.host.machine.clock()))
        if not self.is_alive or not self.intake.book.is_idle:
            return False
        try:
            self.left.log.sync()
        except Refused:
            return False
        return True

    # ── birth and rebirth ─────────────────────────────────────────────────

    def _take_up(self) -> None:
        left, at = self.left, self.host.machine.clock()
        self.intake, inherited = take_up(left, self.lease, self.world.rng)
        self.standing = standing_verdict(self.intake)
        if left.nap is not None:
            demand(inherited.doubtful is None, "I1", "it dozed amid an input")
            inherited = replace(inherited, beginning=None)
        if inherited.doubtful is not None:
            self.world.reached[f"inherited {inherited.doubtful.word}"] += 1
        self.ledger.resumed(
            left.session, left.incarnation, inherited.epoch, inherited.holder
        )
        begun = inherited.beginning
        self.world.reached["woken" if begun is None else begun.value] += 1
        self._perform(self.intake.resume(inherited, at))
