"""Looks at one session for the overview, without attaching.

A look is a link on which questions are asked and nothing is attached: nobody is shown
as present because an overview is open, and nothing of it is on record.
"""

from typing import Any, Generic, NamedTuple, TypeVar

from holdfast.aio.holder_link import Link
from holdfast.cli.operator_names import Names
from holdfast.cli.presence_text import pending_told
from holdfast.cli.state_text import state_told
from holdfast.core.client import questions
from holdfast.core.client.questions import Done, SessionQuestion
from holdfast.core.client.screen_question import Seen
from holdfast.core.client.screen_question import screen as screen_question
from holdfast.core.overview.sessions import Look, Preview, Span, Waiting
from holdfast.model.envelopes import Right
from holdfast.model.errors import HoldfastError
from holdfast.model.ids import ActorId
from holdfast.model.text import shown_name
from holdfast.term.canvas import Style
from holdfast.wire.codec import Message
from holdfast.wire.evidence import Evidence
from holdfast.wire.messages import Mode, Pending

Result = TypeVar("Result")

MAX_HERE = 8
"""Operators named of one session."""

OWN = "this is your own request: another operator has to decide"
NO_RIGHT = "you lack the right to approve"


class Found(NamedTuple):
    """A look, and what waits as the holder tells it."""

    look: Look
    pending: tuple[Pending, ...]


async def look_at(link: Link, us: ActorId, *, with_picture: bool) -> Found:
    """Ask a holder what its session does.

    Raises:
        HoldfastError: The link broke, or all was refused, and why.

    """
    state = _Answer(questions.state())
    standing = _Answer(questions.request(us))
    answers: list[_Answer[Any]] = [state, standing]
    screen = _Answer(screen_question(cells=True))
    if with_picture:
        answers.append(screen)
    await link.send(*(message for one in answers for message in one.asked))
    while not all(one.is_over for one in answers):
        message = await link.receive()
        for one in answers:
            one.hear(message)
    if standing.error is not None:
        raise standing.error
    return _found(state.result, standing.result, screen.result)


class _Answer(Generic[Result]):
    """The answer to one question, as far as it has come."""

    def __init__(self, question: SessionQuestion[Result]) -> None:
        self.asked = question.asked
        self.result: Result | None = None
        self.error: HoldfastError | None = None
        self._gather = question.begin()

    @property
    def is_over(self) -> bool:
        """Whether nothing more comes."""
        return self.result is not None or self.error is not None

    def hear(self, message: Message) -> None:
        """Take a message, which may be a part of another answer."""
        if not self.is_over:
            try:
                self.result = self._gather(message)
            except HoldfastError as error:
                self.error = error


def _found(state: Evidence | None, done: Done | None, seen: Seen | None) -> Found:
    assert done is not None  # noqa: S101  # else there was an error
    told = done.presence
    names = Names(done.us, asks=False)
    names.meet(told.present)
    here = dict.fromkeys(one.actor for one in told.present)
    short = {one.actor: _short(one.name, one.mode) for one in told.present}
    may = Right.APPROVE.value in told.rights
    look = Look(
        state=state_told(state.state, state.program) if state is not None else "",
        is_sure=state is None or state.sure,
        turn=_called(names, told.holder),
        is_ours=done.has_turn,
        here=tuple(short[one] for one in here)[:MAX_HERE],
        attached=len(here),
        pending=tuple(_waiting(one, names, may=may) for one in told.pending),
        pending_count=len(told.pending),
        waiting=len(told.waiting),
        is_frozen=told.frozen,
        picture=None if seen is None else picture_of(seen),
    )
    return Found(look, told.pending)


def _short(name: str, mode: Mode) -> str:
    return shown_name(name) + (" (observes)" if mode is Mode.OBSERVE else "")


def _called(names: Names, actor: ActorId) -> str:
    if not actor:
        return ""
    known = names.actor(actor)
    return shown_name(known.name) if known is not None else names.shown(actor)


def _waiting(pending: Pending, names: Names, *, may: bool) -> Waiting:
    """Return what an approver has to see: who, every byte, why, and the digest."""
    hindrance = NO_RIGHT if not may else OWN if pending.actor == names.us else ""
    digest = f"      digest {pending.digest.hex()}"
    lines = (*pending_told(pending, names), digest)
    return Waiting(pending.ticket, pending.digest, lines, hindrance, may)


def picture_of(seen: Seen) -> Preview:
    """Return a screen as it is drawn in the overview."""
    screen = seen.screen
    rows: list[list[Span]] = [[] for _ in screen.lines]
    for run in screen.runs:
        rows[run.row].append(
            (run.text, Style(run.foreground, run.background, run.look))
        )
    return Preview(screen.size.columns, tuple(map(tuple, rows)), screen.cursor_row)
