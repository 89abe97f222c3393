"""Whether the session's command may start, and whether it has.

The leader exists from the first moment on, and waits (linux/spawn.py). The command it
is to run is an input from its creator, handled like every other input; when that is
applied the leader is told to start, and when it is refused, to exit.

What this needs is deposited with everything else, so that the successor of a holder
that died while somebody was being asked asks again, under the same id. What the
logbook says was admitted is not asked about a second time: the leader is told again,
which does nothing if it had already heard.

What is executed is what was judged: if the file, a link on the way to it or a script's
interpreter has changed since, even while somebody was being asked, it does not start.
With an exec gate the program is checked once more when it is in memory, before its
first instruction, and is killed if it is a different one.
"""

import json
import os
from dataclasses import replace
from typing import NamedTuple

from holdfast.core.input import serializer
from holdfast.core.provenance.line_resolution import Found, Unseen
from holdfast.holder.moment import now
from holdfast.holder.policy.refused_starts import note_refusal
from holdfast.holder.session_descriptors import Vaulted
from holdfast.linux import packets, spawn
from holdfast.linux.exec_files import Mark
from holdfast.linux.exec_gate import ExecGate  # noqa: TC001  # an annotation people read
from holdfast.linux.exec_trace import Expected
from holdfast.linux.exec_words import Step, Wanted, wanted_by
from holdfast.linux.lookups import Digests
from holdfast.linux.stored import operators
from holdfast.model.actors import Actor
from holdfast.model.envelopes import Standing, standing_to_create
from holdfast.model.errors import (
    CannotStart,
    DeniedByPolicy,
    HoldfastError,
    RequestTooLarge,
    TurnMoved,
)
from holdfast.model.ids import FIRST_INCARNATION, NO_EPOCH, ActorId, ClientId
from holdfast.model.inputs import Input, InputId, InputKind
from holdfast.model.outcomes import Applied, Refused, Unknown
from holdfast.model.questions import Execution
from holdfast.model.resolutions import Link, Resolution, Resolved, Sort
from holdfast.model.session_record import HeldStart
from holdfast.model.text import printable

STARTING = "starting"
"""The state of a session whose command has not begun."""

ROOM = 2048
"""Bytes of a packet that are added to the facts of a session."""

CHANGED = "changed-after-judgement"
"""The rule that is named when another program would run than was judged."""

LOOKS = 5
"""How often it is looked which files those are; what still changes then is unknown."""

_UNSTEADY = "its files change all the time"
_WHY_CHANGED = "its program was changed after it was judged"
_SHEBANG = b"#!"
_UNREAD = Execution(None, None, (None,))
"""What nobody can tell is judged like any program and any words."""


class _Program(NamedTuple):
    """Which files are executed."""

    seen: tuple[object, ...]
    """Of each, the path behind every link, and a digest of what is in it."""

    real: str | None
    mark: Mark | None
    further: tuple[Step, ...]
    doubt: str


class Beginning:
    """The command of one session, until it has begun."""

    def __init__(self, vaulted: Vaulted) -> None:
        self._vaulted = vaulted
        self._digests = Digests()
        if vaulted.start and spawn.has_begun(vaulted.start[1]):
            self._close()
        self._input = self._asked()
        self.gate: ExecGate | None = None
        """The session's exec gate, through which the command has to pass."""

        self.refusal: HoldfastError | None = None
        """Why the command does not begin, if that is so."""

        self._shown: Resolution | None = None
        self._judged: _Program | None = None

    @property
    def is_held(self) -> bool:
        """Whether the command waits for the word."""
        return bool(self._vaulted.start)

    @property
    def given(self) -> Input | None:
        """What is to be judged; None if the command has begun, or has ended."""
        return self._input if self.is_held else None

    def standing(self, creator: Actor) -> Standing:
        """Return whether the creator may start anything, as things are now."""
        known = operators.by_actor(creator.id)
        if known is None:
            return Standing.BARRED
        return standing_to_create(known.actor.kind, known.promised, now().wall)

    def execution(self) -> tuple[Execution, Resolution]:
        """Return what would be executed now."""
        words, start = self._vaulted.record.command, self._start
        program = start.program
        seen = self._program()
        found = seen.seen[0]
        real = found.path if isinstance(found, Found) else None
        resolution = Resolution((_resolved(program, found),))
        if resolution != self._shown:  # Else people have been shown the same before.
            self._shown, self._judged = resolution, seen
        execution = Execution(program or None, real, words, variables=start.variables)
        return execution, resolution

    def further(self) -> tuple[Execution, ...]:
        """Return what the kernel executes in the place of a script, step by step."""
        judged = self._judged or self._program()
        steps = [Execution(*step) for step in judged.further]
        return (*steps, *([_UNREAD] if judged.doubt else []))

    def _wanted(self) -> Wanted:
        record = self._vaulted.record
        return wanted_by(record.pid, self._start.program, record.command, record.cwd)

    def _program(self) -> "_Program":
        """Return which files would be executed now, all of them at one moment."""
        for _ in range(LOOKS):
            wanted = self._wanted()
            look = self._digests.lookup(wanted.cwd)
            paths = [wanted.path, *(step.path for step in wanted.further)]
            seen = tuple(look(one) if one else None for one in paths)
            if _is_one(seen[0], wanted) and self._wanted() == wanted:
                break
        else:
            wanted, seen = replace(wanted, mark=None, doubt=_UNSTEADY), (Unseen(),)
        return _Program(seen, wanted.real, wanted.mark, wanted.further, wanted.doubt)

    def _is_changed(self) -> bool:
        if self._judged is None:
            return False  # A predecessor was told so, and the book says so.
        return self._program() != self._judged

    def _expected(self) -> Expected | None:
        """Return what an exec gate sees to; None if nobody could tell what it is."""
        judged = self._judged
        if judged is None or judged.mark is None:
            return None
        # The words are our own: a shell that says what it runs is told more.
        return Expected(judged.mark, (None,))

    def demand_room(self) -> None:
        """Do nothing if a command that waits can be deposited.

        Raises:
            UsageError: It is too long for that.

        """
        size = len(json.dumps(self._vaulted.facts()))
        if self.is_held and size > packets.MAX_PACKET - ROOM:
            raise RequestTooLarge(size)

    def go(self) -> None:
        """Tell the command to begin: it was judged, and the book says so."""
        if not self._vaulted.start:
            return
        if self._is_changed():
            self._refuse(DeniedByPolicy(CHANGED, _WHY_CHANGED))
            return
        word, report = self._vaulted.start
        program = self._start.program
        spawn.say(word, spawn.GO)
        why = spawn.why_not_begun(report, program, self.gate, self._expected())
        if why == spawn.CHANGED:
            self.refusal = DeniedByPolicy(CHANGED, _WHY_CHANGED)
        elif why:
            first = self._vaulted.record.command[0]
            self.refusal = CannotStart(printable(first, spawn.SHOWN), why)
        self._close()

    def answered(self, answer: serializer.Answer) -> None:
        """Take what became of the input."""
        given = self._input if self._vaulted.start else None
        if given is None or (answer.actor, answer.id) != (given.actor, given.id):
            return
        match answer.outcome:
            case Applied() | Unknown():
                self.go()
            case Refused(error):
                self._refuse(error)
            case _:
                self._refuse(TurnMoved("", NO_EPOCH))

    def _refuse(self, error: HoldfastError) -> None:
        self.refusal = error
        note_refusal(ActorId(self._vaulted.held.creator))
        spawn.say(self._vaulted.start[0], spawn.NO)
        self._close()

    def _close(self) -> None:
        for fd in self._vaulted.start:
            os.close(fd)
        self._vaulted.start.clear()
        self._vaulted.held = self._vaulted.held._replace(start=None)

    def _asked(self) -> Input | None:
        if not self._vaulted.start:
            return None
        return Input(
            InputId(ClientId(self._start.client), 1),
            ActorId(self._vaulted.held.creator),
            InputKind.START,
            FIRST_INCARNATION,
            NO_EPOCH,
            self._start.text.encode(),
        )

    @property
    def _start(self) -> HeldStart:
        return self._vaulted.held.start or HeldStart()


def _is_one(found: object, wanted: Wanted) -> bool:
    """Tell whether two looks have seen the same file."""
    return not isinstance(found, Found) or found.path == wanted.real


def _resolved(program: str, found: object) -> Resolved:
    if not isinstance(found, Found):
        return Resolved(
            (Link(Sort.UNKNOWN, program),), doubt="which file it is could not be told"
        )
    is_script = found.head.startswith(_SHEBANG)
    sort = Sort.SCRIPT if is_script else Sort.PROGRAM
    links = [Link(sort, program, found.digest)]
    if found.path != program:
        links.append(Link(sort, found.path, found.digest))
    if is_script:
        line = (
            found.head.removeprefix(_SHEBANG).split(b"\n")[0].decode(errors="replace")
        )
        interpreter = line.split(maxsplit=1)[0] if line.split() else ""
        links.append(Link(Sort.PROGRAM, interpreter))
    return Resolved(tuple(links))
