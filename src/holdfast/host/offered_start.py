"""The start of a session that another host wants to bring, as it would be judged."""

import os

from holdfast.core.policy.start_words import start_of
from holdfast.core.provenance.program_resolution import resolved_program
from holdfast.host.guests import Guest
from holdfast.linux import spawn
from holdfast.linux.exec_words import wanted_by
from holdfast.linux.local_time import local_time
from holdfast.linux.lookups import Digests
from holdfast.model.ids import parse_session_id
from holdfast.model.inputs import InputKind
from holdfast.model.policy_questions import Execution, Question
from holdfast.model.resolutions import Resolution
from holdfast.model.session_requests import OfferMove

_UNREAD = Execution(None, None, (None,))
"""What nobody can tell is judged like any program and any words."""


def question_about(
    guest: Guest, asked: OfferMove
) -> tuple[Question, tuple[Execution, ...]]:
    """Return what is judged, and what the kernel executes in the place of a script.

    Raises:
        UsageError: What it names is no session.

    """
    execution, resolution = _UNREAD, None
    further: tuple[Execution, ...] = (_UNREAD,)
    if asked.command:
        leader = spawn.Leader(asked.command, asked.cwd or "/", dict(os.environ))
        program = leader.program
        wanted = wanted_by(os.getpid(), program, asked.command, leader.cwd)
        execution = Execution(program or None, wanted.real, asked.command)
        found = Digests().lookup(leader.cwd)(program) if program else None
        resolution = Resolution((resolved_program(program, found),))
        steps = tuple(Execution(*step) for step in wanted.further)
        further = (*steps, _UNREAD) if wanted.doubt else steps
    question = Question(
        actor=guest.enrolled.actor,
        kind=InputKind.START,
        payload=start_of(asked.command, asked.cwd, {}, {}).text(),
        session=parse_session_id(asked.id),
        session_name=asked.first_name or asked.name,
        clock=local_time(),
        cwd=asked.cwd,
        staged=b"",
        execution=execution,
        resolution=resolution,
    )
    return question, further
