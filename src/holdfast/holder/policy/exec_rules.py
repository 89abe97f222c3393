"""The rules that apply to an exec, and their verdict.

Most execs are answered without reading their arguments: no rule could change the
answer. The same exec again, as loops and builds have it, is not judged anew.
"""

import hashlib
import json
import shlex
from collections.abc import Callable, Iterable
from typing import TypeVar

from holdfast.core.input.intake import Intake
from holdfast.core.policy import exec_gate as machine
from holdfast.core.policy.command_words import Match
from holdfast.core.policy.policy import Judgement, Policy
from holdfast.holder.policy.policy_in_force import PolicyInForce
from holdfast.holder.policy.question_facts import question_about
from holdfast.holder.policy.real_folders import placed
from holdfast.holder.session_descriptors import SessionDescriptors
from holdfast.linux.exec_words import Wanted
from holdfast.linux.local_time import local_time
from holdfast.linux.procfs import read_stat
from holdfast.model.actors import Actor
from holdfast.model.inputs import InputKind
from holdfast.model.policy_questions import Execution, Question
from holdfast.model.text import printable
from holdfast.model.verdicts import STRICTNESS, Verdict

Key = TypeVar("Key")
Found = TypeVar("Found")

MAX_REMEMBERED = 64
"""Judgements kept for the next exec of the same words."""

MAX_SHOWN = 4096
"""Characters of a command that are shown to approvers."""

_UNREAD = Execution(None, None, ())
_UNREAD_WORDS = Execution(None, None, (None,))


class ExecRules:
    """The rules for the execs of one session."""

    def __init__(
        self, descriptors: SessionDescriptors, in_force: PolicyInForce, intake: Intake
    ) -> None:
        self._descriptors = descriptors
        self._in_force = in_force
        self._intake = intake
        self._remembered: dict[object, Judgement] = {}
        self._unruled: dict[object, bool] = {}
        self._remembered_of: Policy | None = None

    def is_free(self, actor: Actor) -> bool:
        """Tell whether an actor may do what no rule speaks of."""
        return self._in_force.policy.default[actor.kind] is Verdict.ALLOW

    def is_unruled(self, actor: Actor) -> bool:
        """Tell whether no rule fits, whatever the words are: they need not be read."""
        self._forget_others()
        # All that a condition may look at, but for the folder, which it is not told.
        key = (actor, local_time(), self._descriptors.first_name)
        return _remembered(self._unruled, key, lambda: self._is_unruled(actor))

    def _is_unruled(self, actor: Actor) -> bool:
        in_force = self._in_force
        is_final = in_force.is_final(in_force.plain(actor.kind))
        if not (self.is_free(actor) and is_final):
            return False
        question = self._question(actor, _UNREAD, None)
        return set(in_force.policy.index.contexts(question)) <= {Match.NO}

    def strictest(
        self, actors: Iterable[Actor], wanted: Wanted
    ) -> tuple[Judgement, Question]:
        """Return what holds for an exec, and for which question.

        Nobody can tell which of the actors it is, and each program is executed in the
        end: what holds for the strictest, holds.
        """
        judged = [
            (self._judge(question), question)
            for actor in actors
            for execution in _executions(wanted)
            for question in [self._question(actor, execution, wanted.cwd)]
        ]
        return max(judged, key=lambda one: STRICTNESS[one[0].verdict])

    def _judge(self, question: Question) -> Judgement:
        """Judge an exec; the same one again, as loops and builds have it, quickly."""
        in_force = self._in_force
        self._forget_others()
        question = placed(in_force.policy, question)
        # All that a rule may look at.
        key = (
            question.actor,
            question.execution,
            question.cwd,
            question.clock,
            question.session_name,
            *question.paths.items(),
        )
        return _remembered(self._remembered, key, lambda: in_force.judge(question))

    def _forget_others(self) -> None:
        """Forget what another policy than the one in force has said."""
        if self._remembered_of is not self._in_force.policy:
            self._remembered_of = self._in_force.policy
            self._remembered.clear()
            self._unruled.clear()

    def _question(
        self, actor: Actor, execution: Execution, cwd: str | None
    ) -> Question:
        policy = self._in_force.policy
        text = ""
        if policy.plugins or policy.webhook:  # No rule looks at it.
            text = shlex.join([word or "?" for word in execution.words])
        payload = text.encode("utf-8", "replace")
        ask = question_about(self._descriptors, actor, InputKind.COMMAND, payload)
        return ask(
            epoch=self._intake.turn.epoch,
            cwd=cwd,
            staged=b"",
            execution=execution,
        )


def _remembered(known: dict[Key, Found], key: Key, find: Callable[[], Found]) -> Found:
    """Return what is known for a key, or find it and remember it."""
    found = known.get(key)
    if found is None:
        if len(known) >= MAX_REMEMBERED:
            known.clear()
        found = known[key] = find()
    return found


def _executions(wanted: Wanted) -> list[Execution]:
    """Return all that is executed, one for another, as far as it is known."""
    first = Execution(wanted.path, wanted.real, wanted.words, wanted.is_elsewhere)
    further = [Execution(*step) for step in wanted.further]
    # What nobody can tell is judged like any program and any words.
    return [first, *further, *([_UNREAD_WORDS] if wanted.doubt else [])]


def wish_of(question: Question, mark: machine.Mark, wanted: Wanted) -> machine.Wish:
    """Return an exec as it is asked about."""
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


def mark_of(pid: int) -> machine.Mark | None:
    """Return which process has a number, if any that lives."""
    found = read_stat(pid)
    return None if found is None or not found.lives else (pid, found.started)
