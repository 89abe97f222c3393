"""Passes execs of the session's processes to the policy or a person, and replies.

The kernel holds every exec until we answer (linux/exec_gate.py). Most are answered
at once: if no rule could change the answer, the arguments are not even read. An exec
that has to wait for a plug-in or a person is kept by core/policy/exec_gate.py, and the
loop goes on. An exec allowed because of its arguments is traced (linux/exec_trace.py)
up to the first instruction of the new program, which has to be the one that was judged.

A predecessor's death loses nothing: what it had accepted but not answered is judged
again, and what it had not accepted is still with the kernel.
"""

import errno
import time
from functools import partial

from holdfast.core.input import gate
from holdfast.core.policy import exec_gate as machine
from holdfast.core.policy.policy import Judgement, combined, document
from holdfast.holder.context import Context
from holdfast.holder.policy.exec_record import ExecRecord
from holdfast.holder.policy.exec_rules import ExecRules, mark_of, wish_of
from holdfast.holder.policy.judge_link import Asked, JudgeLink
from holdfast.holder.policy.policy_in_force import PolicyInForce
from holdfast.holder.provenance.process_owner import ProcessOwners
from holdfast.linux import child_stops
from holdfast.linux.exec_gate import ExecGate, Notice
from holdfast.linux.exec_trace import ExecTracer, Expected
from holdfast.linux.exec_words import Wanted, read_wanted, with_tracer
from holdfast.linux.judge_packets import Answer, Ask
from holdfast.model.actors import Actor
from holdfast.model.errors import DeniedByPolicy
from holdfast.model.policy_questions import Question
from holdfast.model.verdicts import Verdict

MAX_CONSULTED = 4
"""Execs about which plug-ins or a webhook are asked at a time; the rest waits with
the kernel, since each question may keep a process busy."""

CHECK = 0.25
"""Seconds between looks whether those who wait are still there."""

COLLECT = 0.05
"""Seconds between looks at what is traced: a signal tells us sooner, as a rule."""

CHANGED = "changed-after-judgement"
"""What stands for a rule where a process was not let execute what it changed."""


class ExecRequests:
    """The exec gate of one session."""

    def __init__(
        self,
        context: Context,
        record: ExecRecord,
        rules: ExecRules,
        in_force: PolicyInForce,
        owners: ProcessOwners,
        judge: JudgeLink,
    ) -> None:
        descriptors = context.descriptors
        self._record = record
        self._rules = rules
        self._in_force = in_force
        self._owners = owners
        self._judge = judge
        self._poll = context.poll
        self._timer = context.timers.add(self.tick)
        self.kernel = self._kernel = ExecGate(*descriptors.gate)
        """Where execs are taken from, and answered."""

        self._tracer = ExecTracer(descriptors.record.pid)
        self._released: dict[int, tuple[Question, Wanted]] = {}
        self._held: dict[int, tuple[int, Question, Wanted]] = {}
        self._collect_at = 0.0
        self._stops = child_stops.watch()
        self._poll.watch(self._stops, self._stirred)
        self._machine = machine.ExecGate()
        self._waiting: dict[int, tuple[Question, Judgement]] = {}
        self._asked: dict[int, Asked] = {}
        self._questions = 0
        self._check_at = 0.0
        self._is_watched = False
        self._is_open = True
        for notice in self._kernel.inherited():
            self._take(notice)
        self._rewatch()

    # ── what operators do ─────────────────────────────────────────────────

    def knows(self, ticket: int) -> bool:
        """Tell whether a ticket is that of an exec."""
        return self._machine.knows(ticket)

    def approve(self, approved: gate.Approved) -> None:
        """Take an approval.

        Raises:
            HoldfastError: It does not count, and why.

        """
        self._record.demand_right(approved.approver)
        self._check()
        self._do(self._machine.handle(approved, time.monotonic()))

    def deny(self, denied: gate.Denied) -> None:
        """Take a denial; the operator behind the exec may withdraw it.

        Raises:
            HoldfastError: It does not count, and why.

        """
        if self._machine.actor_of(denied.ticket) != denied.approver:
            self._record.demand_right(denied.approver)
        self._check()
        self._do(self._machine.handle(denied, time.monotonic()))

    # ── time ──────────────────────────────────────────────────────────────

    def tick(self, at: float) -> None:
        """Do what the clock demands."""
        if self._tracer.is_busy and at >= self._collect_at:
            self._collect_at = at + COLLECT
            self._collect(is_late=True)
        if self._machine.is_busy and at >= self._check_at:
            self._check_at = at + CHECK
            self._check()
        due = self._machine.next_deadline()
        if due is not None and at >= due:
            self._check()
            self._do(self._machine.tick(at))
        self._rewatch()

    def settle(self) -> None:
        """Put on record what was only counted: the session is over, or we leave."""
        self._do([*self._machine.flush()])

    def _check(self) -> None:
        """Find out which waiters got a signal, or are gone."""
        at = time.monotonic()
        for notice in self._machine.notices:
            if not self._kernel.is_valid(notice):
                self._kernel.drop(notice)
                self._held.pop(notice, None)
                self._do(self._machine.handle(machine.Interrupted(notice), at))
        for mark in self._machine.marks:
            if mark_of(mark[0]) != mark:
                self._do(self._machine.handle(machine.Gone(mark), at))
        self._rewatch()

    # ── what the kernel hands us ──────────────────────────────────────────

    @property
    def _is_full(self) -> bool:
        return self._kernel.is_full or len(self._asked) >= MAX_CONSULTED

    def _rewatch(self) -> None:
        wanted = self._is_open and not self._is_full
        if wanted is not self._is_watched:
            self._is_watched = wanted
            if wanted:
                self._poll.watch(self._kernel.listener, self._ready)
            else:
                self._poll.unwatch(self._kernel.listener)
        for ticket in [*self._asked]:
            if not self._machine.is_consulting(ticket):
                self._judge.drop(self._asked.pop(ticket))
        self._timer.set(self._next_deadline())

    def _next_deadline(self) -> float | None:
        due = self._machine.next_deadline()
        collect_at = self._collect_at if self._tracer.is_busy else None
        if due is None and not self._machine.is_busy:
            return collect_at  # As a rule: nobody is waited for.
        check_at = self._check_at if self._machine.is_busy else None
        clocks = (due, check_at, collect_at)
        return min((at for at in clocks if at is not None), default=None)

    def _ready(self) -> None:
        self._in_force.refresh()
        # One at a time: others get their turn, and the loop finds out if there is more.
        try:
            notice = self._kernel.receive()
        except BrokenPipeError:
            self._is_open = False
        else:
            if notice is not None:
                self._take(notice)
        self._rewatch()

    def _take(self, notice: Notice) -> None:
        if self._in_force.is_plain and all(
            map(self._rules.is_free, self._owners.everybody())
        ):
            self._kernel.let(notice.id)
            return
        actors = self._owners.behind(notice.thread)
        if all(map(self._rules.is_unruled, actors)):
            self._kernel.let(notice.id)
        else:
            self._look(notice, actors)

    def _look(self, notice: Notice, actors: list[Actor]) -> None:
        wanted = read_wanted(notice)
        if wanted.is_missing:
            # Said by us: a file that appears now has not been judged.
            self._kernel.refuse(notice.id, errno.ENOENT)
            return
        if self._passes(notice, actors, wanted):
            return
        if not self._kernel.is_valid(notice.id):
            self._kernel.drop(notice.id)  # What was read may be another's.
            return
        wanted = with_tracer(wanted, notice.thread)
        said, question = self._rules.strictest(actors, wanted)
        is_final = self._in_force.is_final(said)
        mark = mark_of(notice.thread)
        if mark is None:
            self._kernel.drop(notice.id)
            return
        wish = wish_of(question, mark, wanted)
        if is_final and said.verdict not in (Verdict.ASK, Verdict.PREVIEW):
            self._decide(notice, wish, said, (question, wanted))
        else:
            self._held[notice.id] = (notice.thread, question, wanted)
            self._ask(notice, wish, question, said)

    def _passes(self, notice: Notice, actors: list[Actor], wanted: Wanted) -> bool:
        """Let happen what the rules allow, if nobody else is waited for or traces it.

        This is the way of almost every exec. False says that nothing was done. An
        answer reaches the process that asked or nobody: if what was read is another's,
        which has its number by now, nothing runs for it.
        """
        said, question = self._rules.strictest(actors, wanted)
        if (
            said.verdict is not Verdict.ALLOW
            or self._machine.is_busy
            or not self._in_force.is_final(said)
        ):
            return False
        if _is_unsure(wanted):
            # An operator has approved it, whatever it is.
            self._kernel.let(notice.id)
            return True
        # Whom we trace nobody else does, so that need not be found out first.
        if not self._tracer.seizes(notice.thread, _expected(wanted)):
            return False
        self._go_on(notice.id, notice.thread, question, wanted)
        return True

    def _ask(
        self, notice: Notice, wish: machine.Wish, question: Question, said: Judgement
    ) -> None:
        if wish.mark in self._machine.marks:
            self._check()  # It has come back, before we saw that it was away.
        ticket = self._record.issue_ticket()
        self._waiting[ticket] = (question, said)
        asked = machine.Asked(ticket, notice.id, wish)
        self._do(self._machine.handle(asked, time.monotonic()))
        self._waiting.pop(ticket, None)  # It came back, or is one too many.

    def _decide(
        self,
        notice: Notice,
        wish: machine.Wish,
        said: Judgement,
        about: tuple[Question, Wanted],
    ) -> None:
        at = time.monotonic()
        # It came back with another wish, or the rules have changed meanwhile.
        effects = self._machine.handle(machine.Gone(wish.mark), at)
        if said.verdict is Verdict.ALLOW:
            self._release(notice.id, notice.thread, *about)
        else:
            self._kernel.refuse(notice.id)
            error = DeniedByPolicy(said.rule, said.why)
            effects += self._machine.refused(wish, error, at)
        self._do(effects)

    # ── what becomes of what is let go on ─────────────────────────────────

    def _release(
        self, notice: int, thread: int, question: Question, wanted: Wanted
    ) -> None:
        """Let an exec happen, and see that it is the one that was judged."""
        if _is_unsure(wanted):
            self._kernel.let(notice)  # An operator has approved it, whatever it is.
        elif self._tracer.seize(thread, _expected(wanted)):
            self._go_on(notice, thread, question, wanted)
        else:
            self._kernel.refuse(notice)
            why = "another process began to trace it"
            self._changed(thread, question, wanted, why)

    def _go_on(
        self, notice: int, thread: int, question: Question, wanted: Wanted
    ) -> None:
        if not self._released:
            self._collect_at = time.monotonic() + COLLECT
        self._released[thread] = (question, wanted)
        self._kernel.let(notice)

    def _stirred(self) -> None:
        child_stops.heard(self._stops)
        self._collect()

    def _collect(self, *, is_late: bool = False) -> None:
        for killed in self._tracer.collect(is_late=is_late):
            question, wanted = self._released[killed.thread]
            why = "it was to execute something else in the end, and was killed"
            self._changed(killed.process, question, wanted, why)
        if not self._tracer.is_busy:
            self._released.clear()
            return
        self._released = {
            thread: about
            for thread, about in self._released.items()
            if self._tracer.knows(thread)
        }

    def _changed(self, pid: int, question: Question, wanted: Wanted, why: str) -> None:
        wish = wish_of(question, (pid, 0), wanted)
        error = DeniedByPolicy(CHANGED, why)
        self._do([*self._machine.refused(wish, error, time.monotonic())])

    # ── what is decided ───────────────────────────────────────────────────

    def _do(  # noqa: C901  # one case for each effect
        self, effects: list[machine.Effect]
    ) -> None:
        for effect in effects:
            match effect:
                case machine.Answer(notice, None):
                    self._release(notice, *self._held.pop(notice))
                case machine.Answer(notice):
                    self._held.pop(notice, None)
                    self._kernel.refuse(notice)
                case machine.Consult(ticket):
                    self._consult(ticket)
                case machine.Show():
                    self._record.show(effect)
                case machine.Settle():
                    self._record.settle(effect)
                case machine.Record():
                    self._record.record(effect)
                case gate.Refuse(_, error):
                    raise error
        self._rewatch()

    def _consult(self, ticket: int) -> None:
        question, said = self._waiting.pop(ticket)
        policy = self._in_force.policy
        if self._in_force.is_final(said):
            self._judged(ticket, said)
            return
        self._questions += 1
        ask = Ask(self._questions, document(question), policy.plugins, policy.webhook)
        then = partial(self._heard, ticket, said)
        self._asked[ticket] = self._judge.ask(ask, then)

    def _heard(self, ticket: int, said: Judgement, answer: Answer) -> None:
        self._asked.pop(ticket, None)
        if answer.failed:
            failed = gate.PolicyFailed(ticket, answer.failed)
            self._check()
            self._do(self._machine.handle(failed, time.monotonic()))
        else:
            self._judged(ticket, combined(said, answer.judgement))

    def _judged(self, ticket: int, said: Judgement) -> None:
        judged = gate.Judged(ticket, said.verdict, said.rule, said.why)
        self._do(self._machine.handle(judged, time.monotonic()))


def _is_unsure(wanted: Wanted) -> bool:
    """Tell whether there is nothing to compare with what is executed in the end."""
    return bool(wanted.doubt) or wanted.is_elsewhere


def _expected(wanted: Wanted) -> Expected:
    return Expected(wanted.mark, wanted.last)
