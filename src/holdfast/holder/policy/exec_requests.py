"""Passes execs of the session's processes to the policy or a person, and replies.

The kernel holds every exec until we answer (linux/exec_gate.py). Most are answered
at once: if no rule could change the answer, the arguments are not even read. An exec
that has to wait for a plug-in or a person is kept by core/policy/exec_gate.py, and the
loop goes on. An exec allowed because of its arguments is traced (linux/exec_trace.py)
up to the first instruction of the new program, which has to be the one that was judged.

A predecessor's death loses nothing: what it had accepted but not answered is judged
again, and what it had not accepted is still with the kernel.
"""

import contextlib
import errno
import hashlib
import json
import selectors
import shlex
import signal
import socket
import time
from functools import partial

from holdfast.core.book.entries import answered_fields, asked_fields, exec_fields
from holdfast.core.book.logbook import EntryKind
from holdfast.core.input import gate
from holdfast.core.policy import exec_gate as machine
from holdfast.core.policy.command_words import Match
from holdfast.core.policy.policy import (
    STRICTNESS,
    Judgement,
    Policy,
    combined,
    document,
)
from holdfast.holder.input.desk import Desk
from holdfast.holder.moment import now
from holdfast.holder.policy.judge_link import Asked, JudgeLink
from holdfast.holder.policy.policy_in_force import local_time
from holdfast.holder.policy.real_folders import placed
from holdfast.holder.provenance.process_owner import Attributing
from holdfast.holder.session_descriptors import Vaulted
from holdfast.linux.exec_gate import ExecGate, Notice
from holdfast.linux.exec_trace import ExecTracer, Expected
from holdfast.linux.exec_words import Wanted, read_wanted
from holdfast.linux.judge_packets import Answer, Ask
from holdfast.linux.procfs import read_stat
from holdfast.model.actors import Actor
from holdfast.model.envelopes import Right
from holdfast.model.errors import DeniedByPolicy, NotAllowed
from holdfast.model.ids import NO_EPOCH, ActorId
from holdfast.model.inputs import InputKind
from holdfast.model.questions import Execution, Question
from holdfast.model.text import printable
from holdfast.model.verdicts import Verdict
from holdfast.wire import messages as wire

AT_ONCE = 16
"""Execs answered before others get their turn: a few milliseconds at most."""

MAX_CONSULTED = 4
"""Execs about which plug-ins or a webhook are asked at a time; the rest waits with
the kernel, since each question may keep a process busy."""

CHECK = 0.25
"""Seconds between looks whether those who wait are still there."""

MAX_REMEMBERED = 64
"""Judgements kept for the next exec of the same words."""

COLLECT = 0.05
"""Seconds between looks at what is traced: a signal tells us sooner, as a rule."""

CHANGED = "changed-after-judgement"
"""What stands for a rule where a process was not let execute what it changed."""

MAX_SHOWN = 4096
"""Characters of a command that are shown to whoever approves it."""

_UNREAD = Execution(None, None, ())
_UNREAD_WORDS = Execution(None, None, (None,))


class Executing:
    """The exec gate of one session."""

    def __init__(
        self,
        vaulted: Vaulted,
        selector: selectors.BaseSelector,
        desk: Desk,
        attributing: Attributing,
        judge: JudgeLink,
    ) -> None:
        self._vaulted = vaulted
        self._selector = selector
        self._desk = desk
        self._attributing = attributing
        self._judge = judge
        self._kernel = ExecGate(*vaulted.gate)
        self._tracer = ExecTracer(vaulted.record.pid)
        self._released: dict[int, tuple[Question, Wanted]] = {}
        self._held: dict[int, tuple[int, Question, Wanted]] = {}
        self._collect_at = 0.0
        self._watch_stops()
        self._machine = machine.ExecGate()
        self._waiting: dict[int, tuple[Question, Judgement]] = {}
        self._asked: dict[int, Asked] = {}
        self._questions = 0
        self._remembered: dict[object, Judgement] = {}
        self._remembered_of: Policy | None = None
        self._check_at = 0.0
        self._is_watched = False
        self._is_open = True
        for notice in self._kernel.inherited():
            self._take(notice)
        self._rewatch()

    @property
    def kernel(self) -> ExecGate:
        """Where execs are taken from, and answered."""
        return self._kernel

    # ── what operators do ─────────────────────────────────────────────────

    def knows(self, ticket: int) -> bool:
        """Tell whether a ticket is that of an exec."""
        return self._machine.knows(ticket)

    def approve(self, approved: gate.Approved) -> None:
        """Take an approval.

        Raises:
            HoldfastError: It does not count, and why.

        """
        self._demand_right(approved.approver)
        self._check()
        self._do(self._machine.handle(approved, time.monotonic()))

    def deny(self, denied: gate.Denied) -> None:
        """Take a denial; whoever is behind the exec may withdraw it.

        Raises:
            HoldfastError: It does not count, and why.

        """
        if self._machine.actor_of(denied.ticket) != denied.approver:
            self._demand_right(denied.approver)
        self._check()
        self._do(self._machine.handle(denied, time.monotonic()))

    # ── time ──────────────────────────────────────────────────────────────

    def next_deadline(self) -> float | None:
        """Return when to call `tick`, or None when there is nothing to wait for."""
        check_at = self._check_at if self._machine.marks else None
        collect_at = self._collect_at if self._tracer.is_busy else None
        clocks = (self._machine.next_deadline(), check_at, collect_at)
        return min((at for at in clocks if at is not None), default=None)

    def tick(self, at: float) -> None:
        """Do what the clock demands."""
        if self._tracer.is_busy and at >= self._collect_at:
            self._collect()
        if self._machine.marks and at >= self._check_at:
            self._check_at = at + CHECK
            self._check()
        due = self._machine.next_deadline()
        if due is not None and at >= due:
            self._check()
            self._do(self._machine.tick(at))
        for ticket, asked in [*self._asked.items()]:
            if not self._machine.is_consulting(ticket):
                del self._asked[ticket]
                self._judge.drop(asked)

    def settle(self) -> None:
        """Put on record what was only counted: the session is over, or we leave."""
        self._do([*self._machine.flush()])

    def _check(self) -> None:
        """Find out who of those that wait got a signal, or is gone."""
        at = time.monotonic()
        for notice in self._machine.notices:
            if not self._kernel.is_valid(notice):
                self._kernel.drop(notice)
                self._held.pop(notice, None)
                self._do(self._machine.handle(machine.Interrupted(notice), at))
        for mark in self._machine.marks:
            if _mark(mark[0]) != mark:
                self._do(self._machine.handle(machine.Gone(mark), at))
        self._rewatch()

    # ── what the kernel hands us ──────────────────────────────────────────

    @property
    def _is_full(self) -> bool:
        return self._kernel.is_full or len(self._asked) >= MAX_CONSULTED

    def _rewatch(self) -> None:
        wanted = self._is_open and not self._is_full
        if wanted and not self._is_watched:
            listener = self._kernel.listener
            self._selector.register(listener, selectors.EVENT_READ, self._ready)
        elif self._is_watched and not wanted:
            self._selector.unregister(self._kernel.listener)
        self._is_watched = wanted

    def _ready(self) -> None:
        self._desk.policing.refresh()
        for _ in range(AT_ONCE):
            if not self._is_open or self._is_full:
                break
            try:
                notice = self._kernel.receive()
            except BrokenPipeError:
                self._is_open = False
                break
            if notice is None:
                break
            self._take(notice)
        self._rewatch()

    def _take(self, notice: Notice) -> None:
        policing = self._desk.policing
        if policing.is_plain() and all(
            map(self._is_free, self._attributing.everybody())
        ):
            self._kernel.let(notice.id)
            return
        actors = self._attributing.behind(notice.thread)
        if all(map(self._is_unruled, actors)):
            self._kernel.let(notice.id)
        else:
            self._look(notice, actors)

    def _is_unruled(self, actor: Actor) -> bool:
        """Tell whether no rule fits, whatever the words are: they need not be read."""
        policing = self._desk.policing
        if not (self._is_free(actor) and policing.is_final(policing.plain(actor))):
            return False
        question = self._question(actor, _UNREAD, None)
        return set(policing.policy.index.contexts(question)) <= {Match.NO}

    def _is_free(self, actor: Actor) -> bool:
        return self._desk.policing.policy.default[actor.kind] is Verdict.ALLOW

    def _look(self, notice: Notice, actors: list[Actor]) -> None:
        wanted = read_wanted(notice)
        if not self._kernel.is_valid(notice.id):
            self._kernel.drop(notice.id)  # What was read may be another's.
            return
        if wanted.is_missing:
            # Said by us: a file that appears now has not been judged.
            self._kernel.refuse(notice.id, errno.ENOENT)
            return
        policing = self._desk.policing
        judged = [
            (self._judge_by_rules(question), question)
            for actor in actors
            for execution in _executions(wanted)
            for question in [self._question(actor, execution, wanted.cwd)]
        ]
        # Nobody can tell who of them it is, and each program is executed in the end:
        # what holds for the strictest, holds.
        said, question = max(judged, key=lambda one: STRICTNESS[one[0].verdict])
        is_final = policing.is_final(said)
        if is_final and said.verdict is Verdict.ALLOW and not self._machine.marks:
            self._release(notice.id, notice.thread, question, wanted)
            return
        mark = _mark(notice.thread)
        if mark is None:
            self._kernel.drop(notice.id)
            return
        wish = _wish(question, mark, wanted)
        if is_final and said.verdict is not Verdict.ASK:
            self._decide(notice, wish, said, (question, wanted))
        else:
            self._held[notice.id] = (notice.thread, question, wanted)
            self._ask(notice, wish, question, said)

    def _judge_by_rules(self, question: Question) -> Judgement:
        """Judge an exec; the same one again, as loops and builds have it, quickly."""
        policing = self._desk.policing
        if self._remembered_of is not policing.policy:
            self._remembered_of = policing.policy
            self._remembered.clear()
        question = placed(policing.policy, question)
        # All that a rule may look at.
        key = (
            question.actor,
            question.execution,
            question.cwd,
            question.clock,
            question.session_name,
            *question.paths.items(),
        )
        said = self._remembered.get(key)
        if said is None:
            if len(self._remembered) >= MAX_REMEMBERED:
                self._remembered.clear()
            said = self._remembered[key] = policing.judge(question)
        return said

    def _ask(
        self, notice: Notice, wish: machine.Wish, question: Question, said: Judgement
    ) -> None:
        if wish.mark in self._machine.marks:
            self._check()  # It has come back, before we saw that it was away.
        ticket = self._desk.issue_ticket()
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
        if wanted.doubt or wanted.is_elsewhere:
            self._kernel.let(notice)  # Somebody has let it happen, whatever it is.
            return
        if not self._tracer.seize(thread, Expected(wanted.mark, wanted.last)):
            self._kernel.refuse(notice)
            why = "another process began to trace it"
            self._changed(thread, question, wanted, why)
            return
        self._released[thread] = (question, wanted)
        self._kernel.let(notice)
        self._tracer.answered(thread)
        self._collect_at = time.monotonic() + COLLECT

    def _watch_stops(self) -> None:
        """Have the loop wake up when the kernel has stopped what we trace."""
        waked, waker = socket.socketpair()
        for one in (waked, waker):
            one.setblocking(False)  # noqa: FBT003  # as it is defined
        self._wakers = (waked, waker)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.set_wakeup_fd(waker.fileno(), warn_on_full_buffer=False)
        self._selector.register(waked, selectors.EVENT_READ, self._stirred)

    def _stirred(self) -> None:
        with contextlib.suppress(BlockingIOError):
            self._wakers[0].recv(4096)
        self._collect()

    def _collect(self) -> None:
        self._collect_at = time.monotonic() + COLLECT
        for killed in self._tracer.collect():
            question, wanted = self._released[killed.thread]
            why = "it was to execute something else in the end, and was killed"
            self._changed(killed.process, question, wanted, why)
        self._released = {
            thread: about
            for thread, about in self._released.items()
            if self._tracer.knows(thread)
        }

    def _changed(self, pid: int, question: Question, wanted: Wanted, why: str) -> None:
        wish = _wish(question, (pid, 0), wanted)
        error = DeniedByPolicy(CHANGED, why)
        self._do([*self._machine.refused(wish, error, time.monotonic())])

    def _question(
        self, actor: Actor, execution: Execution, cwd: str | None
    ) -> Question:
        policy = self._desk.policing.policy
        text = ""
        if policy.plugins or policy.webhook:  # No rule looks at it.
            text = shlex.join([word or "?" for word in execution.words])
        return Question(
            actor=actor,
            kind=InputKind.COMMAND,
            payload=text.encode("utf-8", "replace"),
            session=self._vaulted.session,
            session_name=self._vaulted.first_name,
            clock=local_time(),
            epoch=self._desk.epoch,
            cwd=cwd,
            staged=b"",
            execution=execution,
        )

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
                    self._show(effect)
                case machine.Settle():
                    self._settled(effect)
                case machine.Record(wish, error, by, count):
                    fields = exec_fields(wish, error, by, count)
                    self._desk.record(EntryKind.EXEC, fields)
                case gate.Refuse(_, error):
                    raise error
        self._rewatch()

    def _consult(self, ticket: int) -> None:
        question, said = self._waiting.pop(ticket)
        policy = self._desk.policing.policy
        if self._desk.policing.is_final(said):
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

    def _show(self, show: machine.Show) -> None:
        text = show.wish.text.encode("utf-8", "replace")
        self._desk.telling.show_exec(
            wire.Pending(
                ticket=show.ticket,
                actor=show.wish.actor,
                kind=InputKind.COMMAND,
                epoch=NO_EPOCH,
                digest=show.wish.digest,
                size=len(text),
                excerpt=text[: wire.MAX_EXCERPT],
                rule=wire.fitting(show.rule, wire.MAX_TEXT),
                program=wire.fitting(show.wish.program, wire.MAX_TEXT),
                runs="",
                uses=(),
            )
        )
        asked = asked_fields(show.ticket, show.wish.actor, show.rule)
        self._desk.record(EntryKind.ASKED, asked)

    def _settled(self, settled: machine.Settle) -> None:
        verdict = Verdict.ALLOW if settled.is_let else Verdict.DENY
        by = settled.by or ActorId("")
        self._desk.telling.settle_exec(settled.ticket, verdict, by)
        if settled.by is not None:
            yes = settled.is_let
            fields = answered_fields(settled.ticket, settled.by, yes=yes)
            self._desk.record(EntryKind.ANSWERED, fields)

    def _demand_right(self, actor: ActorId) -> None:
        if not self._desk.rights.may(actor, Right.APPROVE, now()):
            raise NotAllowed(actor, Right.APPROVE.value)


def _executions(wanted: Wanted) -> list[Execution]:
    """Return all that is executed, one for another, as far as it is known."""
    first = Execution(wanted.path, wanted.real, wanted.words, wanted.is_elsewhere)
    further = [Execution(*step) for step in wanted.further]
    # What nobody can tell is judged like any program and any words.
    return [first, *further, *([_UNREAD_WORDS] if wanted.doubt else [])]


def _wish(question: Question, mark: machine.Mark, wanted: Wanted) -> machine.Wish:
    bound = json.dumps([wanted.path, wanted.words, wanted.cwd, wanted.further]).encode()
    judged = question.execution
    if judged is None or judged == _UNREAD_WORDS:
        judged = _executions(wanted)[0]
    words = [word if word is not None else "?" for word in judged.words]
    return machine.Wish(
        question.actor.id,
        mark,
        hashlib.sha256(bound).digest(),
        printable(judged.path or "?", MAX_SHOWN),
        shlex.join(words)[:MAX_SHOWN],
    )


def _mark(pid: int) -> machine.Mark | None:
    found = read_stat(pid)
    return None if found is None or not found.lives else (pid, found.started)
