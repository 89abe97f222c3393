"""What the policy is asked about an input, and its answer.

It is judged against the state now: how the turn was obtained, what has been typed but
not entered, where the foreground program works, the time.

Plug-ins and a webhook are asked through the judge, which takes time; the rules of the
file come first, and what they deny goes to nobody else.
"""

import base64
import os
from collections.abc import Callable, Iterable
from functools import partial

from holdfast.core.book.logbook import Entry, EntryKind
from holdfast.core.input.turn import PassReason
from holdfast.core.policy.policy import (
    Judgement,
    combined,
    commands_in,
    document,
    without_exec_gate,
)
from holdfast.core.policy.session_start import judge_start
from holdfast.core.provenance.line_discipline import LineDiscipline
from holdfast.core.provenance.staged import LINE_EDITOR, Staged, StagedLine
from holdfast.core.shell.heredocs import has_heredoc, is_long, typed_part
from holdfast.holder.input.secret_prompt import demand_question
from holdfast.holder.policy.judge_link import Asked, JudgeLink
from holdfast.holder.policy.line_resolution import Resolving, is_line
from holdfast.holder.policy.policy_in_force import Policing, local_time
from holdfast.holder.policy.session_start import Beginning
from holdfast.holder.session_descriptors import Vaulted
from holdfast.linux import pty
from holdfast.linux.judge_packets import NOTHING_VOUCHED, Answer, Ask
from holdfast.linux.secrecy import Secret
from holdfast.model.actors import Actor
from holdfast.model.errors import HoldfastError, PolicyUnavailable
from holdfast.model.ids import ActorId, Epoch
from holdfast.model.inputs import Input, InputKind
from holdfast.model.questions import Question, TurnHold
from holdfast.model.verdicts import Verdict

_TYPED = frozenset({InputKind.KEYS, InputKind.COMMAND, InputKind.ANSWER})

_HOLDS = {
    PassReason.TAKEN: TurnHold.TAKEN,
    PassReason.SEIZED: TurnHold.SEIZED,
}

REPLAYED = 4096
"""Entries looked at to find what stands typed: a line has few, each at most one
for every byte a terminal takes in a line."""


Then = Callable[[Judgement | PolicyUnavailable], None]


class Judging:
    """The gate's eyes: what is asked, and the rules that answer."""

    def __init__(
        self,
        vaulted: Vaulted,
        tell: Callable[[str], None],
        judge: JudgeLink,
        resolving: Resolving,
        line: StagedLine,
        beginning: Beginning,
    ) -> None:
        self._beginning = beginning
        self.policing = Policing(tell)
        self._judge = judge
        self._tickets = 0
        self._resolving = resolving
        self._vaulted = vaulted
        self._line = line
        self._hold = TurnHold.NONE
        self._long = b""
        """What was judged last, if it is a line with long heredocs."""

    @property
    def staged(self) -> Staged:
        """What has been typed and not entered."""
        return self._line.stands()

    @property
    def owners(self) -> tuple[ActorId, ...]:
        """Who typed each byte of it."""
        return self._line.owners()

    def passed(self, reason: PassReason, *, is_held: bool) -> None:
        """Take note of how the turn was come by."""
        granted = TurnHold.GRANTED if is_held else TurnHold.NONE
        self._hold = _HOLDS.get(reason, granted)

    def typed(
        self, given: Input, part: slice, terminal: LineDiscipline, *, echo_off: bool
    ) -> list[Staged]:
        """Take note of what the terminal has taken; return the lines it entered."""
        if given.kind not in _TYPED:
            return []
        is_secret = echo_off or given.kind is InputKind.ANSWER
        is_long = bool(self._long) and given.payload == self._long
        data = typed_part(given.payload, part) if is_long else given.payload[part]
        return self._line.typed(given.actor, data, terminal, echo_off=is_secret)

    def replay(self, entries: Iterable[Entry]) -> None:
        """Find out, after a predecessor's death, what stands typed.

        How the terminal was set is in no book: it is taken for what it is now.
        """
        now = pty.discipline(self._vaulted.master)
        terminal = now if now.edits else LINE_EDITOR
        for entry in entries:
            match entry.kind:
                case EntryKind.INPUT if entry.fields["input"] in _TYPED:
                    actor = ActorId(str(entry.fields["actor"]))
                    data, size = entry.fields.get("data"), entry.fields["size"]
                    is_known = isinstance(data, str)
                    count = size if isinstance(size, int) else 0
                    raw = base64.b64decode(str(data)) if is_known else b"?" * count
                    self._line.typed(actor, raw, terminal, echo_off=not is_known)
                case EntryKind.BEGAN:
                    self._line.began(str(entry.fields["line"]) or None)
                case EntryKind.FINISHED:
                    self._line.prompted()
                case _:
                    pass

    def asked(
        self, actor: Actor, given: Input, epoch: Epoch, secret: Secret
    ) -> Question | None:
        """Return what the policy of this moment is asked; None if it need not be."""
        self.policing.look()
        if given.kind is InputKind.START:
            return self._start_question(actor, given, epoch)
        # A line is looked into even so: the logbook says who staged what it runs.
        if self.policing.is_plain() and not is_line(given.kind, given.payload):
            return None
        return self.question(actor, given, epoch, secret)

    def consult(
        self, actor: Actor, given: Input, question: Question | None, then: Then
    ) -> Judgement | Asked:
        """Return what the rules of this moment say, if nobody else is to be asked.

        Otherwise return what is asked, and call `then` later with what the rules
        and the others say together, or with why there is no answer.
        """
        policing = self.policing
        is_start = given.kind is InputKind.START
        if question is None or (policing.is_plain() and not is_start):
            said = policing.plain(actor)
            return said if said.verdict is Verdict.ALLOW else policing.told(said)
        if not self._vaulted.gate and (
            lacking := without_exec_gate(policing.policy, question)
        ):
            return policing.told(lacking)
        said = self._judge_start(question) if is_start else policing.judge(question)
        if policing.is_final(said):
            return policing.told(said)
        policy = policing.policy
        self._tickets += 1
        ask = Ask(
            self._tickets,
            document(question),
            policy.plugins,
            policy.webhook,
            vouched=policing.applied.plugins or NOTHING_VOUCHED,
        )
        return self._judge.ask(ask, partial(self._pass_on, given, said, then))

    def _judge_start(self, question: Question) -> Judgement:
        policy, gated = self.policing.policy, bool(self._vaulted.gate)
        standing = self._beginning.standing(question.actor)
        further = self._beginning.further() if gated else ()
        return judge_start(policy, question, standing, is_gated=gated, further=further)

    def question(
        self, actor: Actor, given: Input, epoch: Epoch, secret: Secret
    ) -> Question:
        """Return everything that a policy may judge by."""
        if given.kind is InputKind.START:
            return self._start_question(actor, given, epoch)
        staged = self._line.stands()
        interrupts = given.kind is InputKind.KEYS and pty.interrupts(
            self._vaulted.master, given.payload
        )
        is_signal = interrupts or given.kind is InputKind.SIGNAL
        is_known = not staged.is_edited and not staged.hidden
        is_answer = given.kind is InputKind.ANSWER
        question = Question(
            actor=actor,
            kind=given.kind,
            payload=given.payload,
            session=self._vaulted.session,
            session_name=self._vaulted.first_name,
            clock=local_time(),
            turn=self._hold,
            epoch=epoch,
            cwd=self._cwd(),
            staged=staged.data if is_known else None,
            secret=secret.is_on or is_answer,
            interrupts=interrupts,
            started_by=self._resolving.started_by() if is_signal else None,
        )
        # What may be no secret at all is still looked into, here and nowhere else.
        if secret.is_certain or is_answer or not is_line(given.kind, given.payload):
            return question
        whole = self._resolving.completed(question, staged)
        is_one = whole.shell_reads and is_long(given.payload)
        is_one = is_one and has_heredoc(commands_in(whole))
        self._long = given.payload if is_one else b""
        return whole

    def _start_question(self, actor: Actor, given: Input, epoch: Epoch) -> Question:
        execution, resolution = self._beginning.execution()
        return Question(
            actor=actor,
            kind=given.kind,
            payload=given.payload,
            session=self._vaulted.session,
            session_name=self._vaulted.first_name,
            clock=local_time(),
            epoch=epoch,
            cwd=self._vaulted.record.cwd,
            staged=b"",
            execution=execution,
            resolution=resolution,
        )

    def _pass_on(
        self, given: Input, said: Judgement, then: Then, answer: Answer
    ) -> None:
        if answer.failed:
            then(PolicyUnavailable(answer.failed))
            return
        try:
            demand_question(given, self._vaulted, is_frozen=False)
        except HoldfastError as error:  # Whoever asked has given up meanwhile.
            then(Judgement(Verdict.DENY, error.code, str(error)))
        else:
            then(combined(said, answer.judgement))

    def _cwd(self) -> str | None:
        group = pty.foreground(self._vaulted.master)
        try:
            return None if group is None else os.readlink(f"/proc/{group}/cwd")  # noqa: PTH115
        except OSError:
            return None
