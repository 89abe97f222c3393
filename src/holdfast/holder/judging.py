"""What is the policy asked about an input, and what does it answer?

The state it is judged against is the state now: how the turn was come by, what
stands typed and not entered, where the foreground program works, the time.

Plug-ins and a webhook are asked through the judge, which takes its time; the
rules of the file come first, and what they deny is put to nobody.
"""

import base64
import os
from collections.abc import Callable, Iterable
from functools import partial

from holdfast.core.logbook import Entry, EntryKind
from holdfast.core.policy import Judgement, combined, document
from holdfast.core.staged import Staged, StagedLine
from holdfast.core.turn import PassReason
from holdfast.holder.judge_link import Asked, JudgeLink
from holdfast.holder.policing import Policing, local_time
from holdfast.holder.vaulted import Vaulted
from holdfast.linux import pty
from holdfast.linux.judge_packets import Answer, Ask
from holdfast.model.actors import Actor
from holdfast.model.errors import PolicyUnavailable
from holdfast.model.ids import ActorId, Epoch
from holdfast.model.inputs import Input, InputKind
from holdfast.model.questions import Question, TurnHold

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
        self, vaulted: Vaulted, tell: Callable[[str], None], judge: JudgeLink
    ) -> None:
        self.policing = Policing(tell)
        self._judge = judge
        self._tickets = 0
        self._vaulted = vaulted
        self._line = StagedLine()
        self._hold = TurnHold.NONE

    @property
    def staged(self) -> Staged:
        """What has been typed and not entered."""
        return self._line.stands()

    def passed(self, reason: PassReason, *, is_held: bool) -> None:
        """Take note of how the turn was come by."""
        granted = TurnHold.GRANTED if is_held else TurnHold.NONE
        self._hold = _HOLDS.get(reason, granted)

    def typed(self, given: Input, *, echo_off: bool) -> None:
        """Take note of what the terminal has taken."""
        if given.kind in _TYPED:
            self._line.typed(given.actor, given.payload, echo_off=echo_off)

    def replay(self, entries: Iterable[Entry]) -> None:
        """Find out, after a predecessor's death, what stands typed."""
        for entry in entries:
            if entry.kind is EntryKind.INPUT and entry.fields["input"] in _TYPED:
                actor = ActorId(str(entry.fields["actor"]))
                data, size = entry.fields.get("data"), entry.fields["size"]
                if isinstance(data, str):
                    self._line.typed(actor, base64.b64decode(data), echo_off=False)
                elif isinstance(size, int):
                    self._line.typed(actor, b"?" * size, echo_off=True)

    def consult(
        self, actor: Actor, given: Input, epoch: Epoch, then: Then, *, secret: bool
    ) -> Judgement | Asked:
        """Return what the rules of this moment say, if nobody else is to be asked.

        Otherwise return what is asked, and call `then` later with what the rules
        and the others say together, or with why there is no answer.
        """
        self.policing.refresh()
        if self.policing.is_plain():
            return self.policing.plain(actor)
        question = self.question(actor, given, epoch, secret=secret)
        said = self.policing.judge(question)
        if self.policing.is_final(said):
            return said
        policy = self.policing.policy
        self._tickets += 1
        ask = Ask(self._tickets, document(question), policy.plugins, policy.webhook)
        return self._judge.ask(ask, partial(_pass_on, said, then))

    def question(
        self, actor: Actor, given: Input, epoch: Epoch, *, secret: bool
    ) -> Question:
        """Return everything that a policy may judge by."""
        staged = self._line.stands()
        is_known = not staged.is_edited and not staged.hidden
        return Question(
            actor=actor,
            kind=given.kind,
            payload=given.payload,
            session=self._vaulted.session,
            session_name=str(self._vaulted.facts["name"]),
            clock=local_time(),
            turn=self._hold,
            epoch=epoch,
            cwd=self._cwd(),
            staged=staged.data if is_known else None,
            secret=secret or given.kind is InputKind.ANSWER,
        )

    def _cwd(self) -> str | None:
        group = pty.foreground(self._vaulted.master)
        try:
            return None if group is None else os.readlink(f"/proc/{group}/cwd")  # noqa: PTH115
        except OSError:
            return None


def _pass_on(said: Judgement, then: Then, answer: Answer) -> None:
    if answer.failed:
        then(PolicyUnavailable(answer.failed))
    else:
        then(combined(said, answer.judgement))
