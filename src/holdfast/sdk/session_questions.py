"""Questions to a session on a standing line, and their answers as the SDK has them."""

from holdfast.core.client import questions
from holdfast.core.client.questions import Done, Gather, SessionQuestion
from holdfast.core.client.screen_question import Seen
from holdfast.core.client.screen_question import screen as screen_question
from holdfast.core.client.turn_wait import turn as turn_question
from holdfast.model.errors import WaitedInVain
from holdfast.sdk.standing_link import Line
from holdfast.sdk.values import Cursor, Screen, Standing, State
from holdfast.wire.blame import BlameReport
from holdfast.wire.codec import Message, error_from
from holdfast.wire.evidence import Evidence
from holdfast.wire.frames import FrameKind
from holdfast.wire.graphs import Graph
from holdfast.wire.messages import End, Exited, Refuse

END_PATIENCE = 20.0
"""Seconds for a session to end: what does not listen is killed in less."""


async def request(line: Line, *asked: Message) -> Standing:
    """Have something done, and return how things stand then.

    Raises:
        HoldfastError: It was refused, and why.
        Unavailable: The session cannot be reached, or does not answer.

    """
    return _standing(await line.ask(questions.request(line.us, *asked)), line)


async def turn(line: Line, timeout: float) -> Standing:
    """Ask for the turn, and wait until it is ours, at most so long.

    Raises:
        Unavailable: It was not given, and why.

    """
    try:
        await line.ask(turn_question(line.us, timeout))
    except WaitedInVain:
        raise WaitedInVain("the turn", round(timeout * 1000)) from None
    return await request(line)


async def end(line: Line, number: int, *, leave: bool = False) -> int:
    """End the session with a signal, and return its status once it has ended.

    What has left its shell is ended too, unless it is to be left.

    Raises:
        Forbidden: We may not.
        Unavailable: It does not end.

    """

    def begin() -> Gather[int]:
        return ended

    def ended(message: Message) -> int | None:
        match message:
            case Exited(status):
                return status
            case Refuse(refused=FrameKind.END):
                raise error_from(message)
            case _:
                return None

    return await line.ask(SessionQuestion((End(number, leave),), begin, END_PATIENCE))


async def evidence(line: Line) -> Evidence:
    """Return what the session does, as its holder says it."""
    return await line.ask(questions.state())


async def state(line: Line) -> State:
    """Return what the session does, and how that is known."""
    return state_from(await evidence(line))


async def blame(line: Line, what: str, name: str, at_ms: int) -> BlameReport:
    """Return who is behind something, as the holder knows it."""
    return await line.ask(questions.blame(what, name, at_ms))


async def graph(line: Line, *, descriptors: bool) -> Graph:
    """Return what runs in the session, and what listens where."""
    return await line.ask(questions.graph(descriptors=descriptors))


async def screen(line: Line) -> Screen:
    """Return what the session shows."""
    return _screen(await line.ask(screen_question(cells=False)))


def state_from(seen: Evidence) -> State:
    """Return what a session does, from the evidence."""
    return State(
        seen.state,
        seen.sure,
        tuple(seen.why),
        seen.foreground,
        seen.echo,
        seen.canonical,
        seen.unread,
        tuple(seen.sleepers),
    )


def _standing(done: Done, line: Line) -> Standing:
    told = done.presence
    return Standing(
        line.us,
        told.present,
        told.holder,
        told.epoch,
        told.waiting,
        told.frozen,
        told.pending,
        tuple(told.rights),
        done.inherited,
    )


def _screen(seen: Seen) -> Screen:
    shown = seen.screen
    return Screen(
        shown.lines,
        Cursor(shown.cursor_row, shown.cursor_column, shown.cursor_visible),
        shown.hidden,
        shown.size,
        shown.title,
        seen.offset,
        shown.above,
        seen.exact,
        shown.alternate,
    )
