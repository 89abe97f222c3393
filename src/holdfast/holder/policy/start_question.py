"""The program a session is to begin with: what the policy is asked, and its answer.

What is executed is what was judged: if the file, a link on the way to it or a script's
interpreter has changed since, even while approval was pending, it does not start.
"""

from typing import NamedTuple

from holdfast.core.policy.policy import Judgement, Policy
from holdfast.core.policy.session_start import judge_start
from holdfast.core.provenance.line_resolution import Found, Unseen
from holdfast.core.provenance.program_resolution import resolved_program
from holdfast.holder.moment import now
from holdfast.holder.policy.question_facts import question_about
from holdfast.holder.session_descriptors import SessionDescriptors
from holdfast.linux.exec_files import Mark
from holdfast.linux.exec_trace import Expected
from holdfast.linux.exec_words import Step, Wanted, wanted_by
from holdfast.linux.lookups import Digests
from holdfast.linux.stored import operators
from holdfast.model.actors import Actor
from holdfast.model.envelopes import Right, Standing, standing_to_create
from holdfast.model.ids import Epoch
from holdfast.model.inputs import Input
from holdfast.model.policy_questions import Execution, Question
from holdfast.model.resolutions import Resolution
from holdfast.model.session_record import HeldStart

LOOKS = 5
"""How often it is looked which files those are; what still changes then is unknown."""

_UNSTEADY = "its files change all the time"
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


class StartQuestion:
    """What would be executed, and what was when it was judged."""

    def __init__(self, descriptors: SessionDescriptors) -> None:
        self._descriptors = descriptors
        self._digests = Digests()
        self._shown: Resolution | None = None
        self._judged: _Program | None = None

    def question(self, actor: Actor, given: Input, epoch: Epoch) -> Question:
        """Return everything that a policy may judge the start by."""
        execution, resolution = self._execution()
        ask = question_about(self._descriptors, actor, given.kind, given.payload)
        return ask(
            epoch=epoch,
            cwd=self._descriptors.record.cwd,
            staged=b"",
            execution=execution,
            resolution=resolution,
        )

    def judge(self, policy: Policy, question: Question) -> Judgement:
        """Return what the rules say, as things are now."""
        is_gated = bool(self._descriptors.gate)
        return judge_start(
            policy,
            question,
            _standing(question.actor),
            is_gated=is_gated,
            is_brought=self._is_brought(question.actor),
            further=self._further() if is_gated else (),
        )

    def _is_brought(self, actor: Actor) -> bool:
        """Tell whether a host that may has moved the session here."""
        known = operators.by_actor(actor.id) if self._descriptors.held.since else None
        return known is not None and known.may_on_host(Right.MOVE)

    def _execution(self) -> tuple[Execution, Resolution]:
        """Return what would be executed now."""
        words = self._descriptors.record.command
        start = self._descriptors.held.start or HeldStart()
        program = start.program
        seen = self._program()
        found = seen.seen[0]
        real = found.path if isinstance(found, Found) else seen.real
        resolution = Resolution((resolved_program(program, found),))
        if resolution != self._shown:  # Else people have been shown the same before.
            self._shown, self._judged = resolution, seen
        execution = Execution(program or None, real, words, variables=start.variables)
        return execution, resolution

    def _further(self) -> tuple[Execution, ...]:
        """Return what the kernel executes in the place of a script, step by step."""
        judged = self._judged or self._program()
        steps = [Execution(*step) for step in judged.further]
        return (*steps, *([_UNREAD] if judged.doubt else []))

    def _wanted(self) -> Wanted:
        record = self._descriptors.record
        start = self._descriptors.held.start or HeldStart()
        return wanted_by(record.pid, start.program, record.command, record.cwd)

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
            wanted = wanted._replace(real=None, mark=None, doubt=_UNSTEADY)
            seen = (Unseen(),)
        return _Program(seen, wanted.real, wanted.mark, wanted.further, wanted.doubt)

    def is_changed(self) -> bool:
        """Tell whether another program would be executed than was judged.

        What nobody could get hold of may be judged like any program, and still it is
        none that was judged.
        """
        if self._judged is None:
            return False  # A predecessor was told so, and the book says so.
        return self._judged.doubt == _UNSTEADY or self._program() != self._judged

    def expected(self) -> Expected | None:
        """Return what an exec gate has to enforce; None if the program is unknown."""
        judged = self._judged
        if judged is None or judged.mark is None:
            return None
        # The words are our own: a shell that says what it runs is told more.
        return Expected(judged.mark, (None,))


def _standing(creator: Actor) -> Standing:
    """Return whether the creator may start anything, as things are now."""
    known = operators.by_actor(creator.id)
    if known is None:
        return Standing.BARRED
    return standing_to_create(known.actor.kind, known.promised, now().wall)


def _is_one(found: object, wanted: Wanted) -> bool:
    """Tell whether both lookups found the same file."""
    return not isinstance(found, Found) or found.path == wanted.real
