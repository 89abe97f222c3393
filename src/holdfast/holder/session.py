"""The parts that an input passes through, joined for one session.

record       the book, and the note that outlives us
policy       what is judged, and what waits for approval
input        the input handler, the writer, who is here, the turn
provenance   who is behind what is typed and run
"""

from holdfast.core.relay.lease_term import LeaseTerm
from holdfast.holder.context import Context
from holdfast.holder.input.handover import HandOver
from holdfast.holder.input.input_handler import InputHandler
from holdfast.holder.input.interventions import Interventions
from holdfast.holder.input.presence import Presence
from holdfast.holder.input.succession import take_up
from holdfast.holder.input.writer import Writer
from holdfast.holder.links.notifications import Notifications
from holdfast.holder.moment import now
from holdfast.holder.policy.exec_record import ExecRecord
from holdfast.holder.policy.exec_requests import ExecRequests
from holdfast.holder.policy.exec_rules import ExecRules
from holdfast.holder.policy.policy_parts import PolicyParts
from holdfast.holder.policy.policy_trial import Trials
from holdfast.holder.processes.fence import Fence
from holdfast.holder.processes.freezer import Freezer
from holdfast.holder.provenance.process_owner import ProcessOwners
from holdfast.holder.record.note_memory import NoteMemory
from holdfast.linux.stored import operators


class Session:
    """One session, as its operators act in it."""

    def __init__(self, context: Context, note: NoteMemory) -> None:
        past = take_up(context, note)
        self.clients = context.clients
        self.attention, self.tally = context.attention, context.tally
        self.driver = driver = past.driver
        self.book = past.book
        intake, descriptors = driver.intake, context.descriptors
        self.notifications = Notifications(
            self.clients, intake, self.book.receipts.receipt
        )
        self.policy = PolicyParts(context, driver, self.notifications, past.line)
        self.owners = (
            ProcessOwners(descriptors, self.clients) if descriptors.gate else None
        )
        """Who is behind the session's processes, if that is needed."""

        settings, questions = self.policy.settings, self.policy.questions
        self.writer = Writer(
            context, driver, self.book, past.line, settings, self.owners
        )
        self.input_handler = InputHandler(
            context, driver, self.book, self.writer, self.notifications, self.policy
        )
        self.presence = Presence(
            context, driver, self.writer, self.notifications, self.policy.approvals
        )
        self.trials = Trials(context, driver, self.policy, self.presence)
        self.handover = HandOver(context, driver, questions, self.owners)
        self.handover.take_up(past.fresh, past.hands)
        if self.owners is not None:
            self.owners.take_up(past.recent, past.earlier)
        at = now()
        self.input_handler.limits.take_up(past.recent, past.found.holder, at)
        driver.do(intake.resume(past.found, at), at)
        self.book.sync()
        held = descriptors.held
        self.freezer = Freezer(
            descriptors.session, descriptors.record.pid, held.cgroup, held.capsule
        )
        self.fence = self._fenced(context, past.term)
        if intake.is_frozen or self.fence is None or self.fence.may_speak:
            self.freezer.take_up(is_frozen=intake.is_frozen)
        self.interventions = Interventions(
            context, driver, self.writer, self.freezer, self.fence
        )
        self.execs = self.gate_execs(context)

    def _fenced(self, context: Context, term: LeaseTerm | None) -> Fence | None:
        """Keep to a lease, if the session is movable."""
        if term is None:
            return None
        return Fence(context, self.driver, self.writer, self.freezer, term)

    def gate_execs(self, context: Context) -> ExecRequests | None:
        """Answer the session's execs, if it has a gate for them."""
        if self.owners is None:
            return None
        policy, driver = self.policy, self.driver
        made = ExecRequests(
            context,
            ExecRecord(driver, self.notifications),
            ExecRules(context.descriptors, policy.in_force, driver.intake),
            policy.in_force,
            self.owners,
            policy.judge,
        )
        policy.start.gate = made.kernel
        policy.approvals.execs = made
        return made

    def begin(self) -> None:
        """Judge the command that the session was made for, if it waits."""
        given = self.policy.start.given
        creator = None if given is None else operators.by_actor(given.actor)
        if creator is not None:
            self.presence.meet(creator.actor, creator.promised)
        self.input_handler.begin()

    def settle(self) -> None:
        """Book and make durable everything that was only counted or taken so far."""
        self.handover.conclude()
        if self.execs is not None:
            self.execs.settle()
        self.input_handler.settle()

    def exited(self, how: str) -> None:
        """Refuse everything from now on: the program is gone."""
        if self.fence is not None:
            self.fence.end()
        if self.execs is not None:
            self.execs.settle()
        self.input_handler.exited(how)
