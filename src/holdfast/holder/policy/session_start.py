"""Whether the session's command may start, and whether it has.

The leader exists from the first moment on, and waits (linux/spawn.py). The command it
is to run is an input from its creator, handled like every other input; when that is
applied the leader is told to start, and when it is refused, to exit.

What this needs is deposited with everything else, so that the successor of a holder
that died while approval was pending asks again, under the same id. What the
logbook says was admitted is not asked about a second time: the leader is told again,
which does nothing if it had already heard.

What is executed is what was judged (policy/start_question.py).
With an exec gate the program is checked once more when it is in memory, before its
first instruction, and is killed if it is a different one.
"""

import json
import os

from holdfast.core.input import serializer
from holdfast.holder.policy.refused_starts import note_refusal
from holdfast.holder.policy.start_question import StartQuestion
from holdfast.holder.session_descriptors import SessionDescriptors
from holdfast.linux import packets, spawn
from holdfast.linux.exec_gate import ExecGate  # noqa: TC001  # an annotation people read
from holdfast.model import errors
from holdfast.model.ids import NO_EPOCH, ActorId, ClientId
from holdfast.model.inputs import Input, InputId, InputKind
from holdfast.model.outcomes import Applied, Refused, Unknown
from holdfast.model.session_record import HeldStart
from holdfast.model.text import printable

STARTING = "starting"
"""The state of a session whose command has not begun."""

ROOM = 2048
"""Bytes of a packet that are added to the facts of a session."""

CHANGED = "changed-after-judgement"
"""The rule that is named when another program would run than was judged."""

_WHY_CHANGED = "its program was changed after it was judged"


class SessionStart:
    """The command of one session, until it has begun."""

    def __init__(self, descriptors: SessionDescriptors) -> None:
        self._descriptors = descriptors
        self.question = StartQuestion(descriptors)
        """What the policy is asked about it."""

        self.is_held = bool(descriptors.start)
        """Whether the command waits for the word."""

        if descriptors.start and spawn.has_begun(descriptors.start[1]):
            self._close()
        self._input = self._asked()
        self.gate: ExecGate | None = None
        """The session's exec gate, through which the command has to pass."""

        self.refusal: errors.HoldfastError | None = None
        """Why the command does not begin, if that is so."""

    @property
    def given(self) -> Input | None:
        """What is to be judged; None if the command has begun, or has ended."""
        return self._input if self.is_held else None

    def demand_room(self) -> None:
        """Do nothing if a command that waits can be deposited.

        Raises:
            UsageError: It is too long for that.

        """
        size = len(json.dumps(self._descriptors.facts()))
        if self.is_held and size > packets.MAX_PACKET - ROOM:
            raise errors.RequestTooLarge(size)

    def go(self) -> None:
        """Tell the command to begin: it was judged, and the book says so."""
        if not self._descriptors.start:
            return
        if self.question.is_changed():
            self._refuse(errors.DeniedByPolicy(CHANGED, _WHY_CHANGED))
            return
        word, report = self._descriptors.start
        program = self._start.program
        spawn.say(word, spawn.GO)
        why = spawn.why_not_begun(report, program, self.gate, self.question.expected())
        if why == spawn.CHANGED:
            self.refusal = errors.DeniedByPolicy(CHANGED, _WHY_CHANGED)
        elif why:
            first = self._descriptors.record.command[0]
            self.refusal = errors.CannotStart(printable(first, spawn.SHOWN), why)
        self._close()

    def answered(self, answer: serializer.Answer) -> None:
        """Take what became of the input."""
        given = self._input if self._descriptors.start else None
        if given is None or (answer.actor, answer.id) != (given.actor, given.id):
            return
        match answer.outcome:
            case Applied() | Unknown():
                self.go()
            case Refused(error):
                self._refuse(error)
            case _:
                self._refuse(errors.TurnMoved("", NO_EPOCH))

    def _refuse(self, error: errors.HoldfastError) -> None:
        self.refusal = error
        note_refusal(self._starter)
        spawn.say(self._descriptors.start[0], spawn.NO)
        self._close()

    def _close(self) -> None:
        for fd in self._descriptors.start:
            os.close(fd)
        self._descriptors.start.clear()
        self.is_held = False
        self._descriptors.held = self._descriptors.held._replace(start=None)

    def _asked(self) -> Input | None:
        if not self._descriptors.start:
            return None
        return Input(
            InputId(ClientId(self._start.client), 1),
            self._starter,
            InputKind.START,
            self._descriptors.incarnation,
            NO_EPOCH,
            self._start.text.encode(),
        )

    @property
    def _starter(self) -> ActorId:
        """Who asks for it: the creator, or who recovers the session."""
        return ActorId(self._descriptors.held.begun_by)

    @property
    def _start(self) -> HeldStart:
        return self._descriptors.held.start or HeldStart()
