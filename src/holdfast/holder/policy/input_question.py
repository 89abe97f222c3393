"""What the policy is asked about an input, as things stand now.

How the turn was obtained, what has been typed but not entered, where the foreground
program works, the time, and what a line would run.
"""

import os

from holdfast.core.autonomy.action_kind import actions_of
from holdfast.core.input.turn import PassReason
from holdfast.core.policy.policy import Judgement, commands_in
from holdfast.core.shell.heredocs import has_heredoc, is_long
from holdfast.holder.context import Context
from holdfast.holder.input.terminal_settings import TerminalSettings
from holdfast.holder.policy.line_resolution import LineResolver
from holdfast.holder.policy.policy_in_force import PolicyInForce
from holdfast.holder.policy.question_facts import question_about
from holdfast.holder.policy.session_start import SessionStart
from holdfast.holder.provenance.typed_line import TypedLine
from holdfast.linux import pty
from holdfast.linux.secrecy import SHOWN, Secrecy, Secret
from holdfast.model.actors import Actor, ActorKind
from holdfast.model.ids import Epoch
from holdfast.model.inputs import Input, InputKind
from holdfast.model.moments import Moment
from holdfast.model.policy_questions import Question, TurnHold

_HOLDS = {
    PassReason.TAKEN: TurnHold.TAKEN,
    PassReason.SEIZED: TurnHold.SEIZED,
}


class InputQuestions:
    """Makes the questions about the inputs of one session."""

    def __init__(
        self,
        context: Context,
        in_force: PolicyInForce,
        start: SessionStart,
        line: TypedLine,
        settings: TerminalSettings,
    ) -> None:
        descriptors, shell = context.descriptors, context.shell
        self._descriptors = descriptors
        self._shell = shell
        self._in_force = in_force
        self._start = start
        self._resolver = LineResolver(descriptors, shell, context.clients)
        self.line = line
        """What is typed."""

        self._settings = settings
        self.secrecy = Secrecy(
            descriptors.master, descriptors.record.pid, lambda: shell.runs_nothing
        )
        """Tells what must not be written down."""

        self._hold = TurnHold.NONE

    def passed(self, reason: PassReason, *, is_held: bool) -> None:
        """Note how the turn was obtained."""
        granted = TurnHold.GRANTED if is_held else TurnHold.NONE
        self._hold = _HOLDS.get(reason, granted)

    def secret(self, given: Input, at: Moment) -> Secret:
        """Tell whether an input is a secret.

        What a session begins with is none: it is shown to approvers.
        """
        if given.kind is InputKind.START:
            return SHOWN
        return self.secrecy.look(self._settings.read(at))

    def is_needed(self, given: Input) -> bool:
        """Tell whether the policy has to be asked more than who it is."""
        # A line is looked into even so: the logbook says who staged what it runs.
        if given.kind is InputKind.KEYS and self._in_force.is_plain:
            return b"\r" in given.payload or b"\n" in given.payload
        lines = (InputKind.START, InputKind.COMMAND)
        return not self._in_force.is_plain or given.kind in lines

    def judge(self, question: Question) -> Judgement:
        """Return what the rules say."""
        if question.kind is InputKind.START:
            return self._start.question.judge(self._in_force.policy, question)
        return self._in_force.judge(question)

    def actions(self, asked: Question | None) -> tuple[str, ...]:
        """Return the kinds of action of a line, unless a human enters it."""
        if asked is None or asked.resolution is None or asked.secret:
            return ()
        if asked.actor.kind is ActorKind.HUMAN:
            return ()
        return actions_of(commands_in(asked), asked)

    def question(
        self, actor: Actor, given: Input, epoch: Epoch, secret: Secret, at: Moment
    ) -> Question:
        """Return everything that a policy may judge by."""
        if given.kind is InputKind.START:
            return self._start.question.question(actor, given, epoch)
        staged = self._shell.line.stands()
        terminal = self._settings.read(at)
        is_keys = given.kind is InputKind.KEYS
        interrupts = is_keys and terminal.is_interrupt(given.payload)
        is_signal = interrupts or given.kind is InputKind.SIGNAL
        is_known = not staged.is_edited and not staged.hidden
        is_answer = given.kind is InputKind.ANSWER
        ask = question_about(self._descriptors, actor, given.kind, given.payload)
        question = ask(
            turn=self._hold,
            epoch=epoch,
            cwd=self._cwd(),
            staged=staged.data if is_known else None,
            secret=secret.is_on or is_answer,
            interrupts=interrupts,
            started_by=self._resolver.started_by() if is_signal else None,
        )
        # What may be no secret at all is still looked into, here and nowhere else.
        if secret.is_certain or is_answer or not _is_line(given.kind, given.payload):
            return question
        whole = self._resolver.completed(question, staged)
        is_one = whole.shell_reads and is_long(given.payload)
        is_one = is_one and has_heredoc(commands_in(whole))
        self.line.long = given.payload if is_one else b""
        return whole

    def _cwd(self) -> str | None:
        group = pty.foreground(self._descriptors.master)
        try:
            return None if group is None else os.readlink(f"/proc/{group}/cwd")  # noqa: PTH115
        except OSError:
            return None


def _is_line(kind: InputKind, payload: bytes) -> bool:
    """Tell whether an input enters a line, so that something will run."""
    if kind is InputKind.COMMAND:
        return True
    return kind is InputKind.KEYS and (b"\r" in payload or b"\n" in payload)
