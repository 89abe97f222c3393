"""One question to a session, and its answer.

A request is not answered unless it is refused, so WHO is sent behind it: answers come
in order, and PRESENCE means that the request was done.
"""

from typing import TypeVar

from holdfast.client.looking import MAX_PARTS, joined
from holdfast.client.screens import MAX_PARTS as MAX_SCREEN_PARTS
from holdfast.client.screens import seen_from
from holdfast.model.errors import (
    MalformedMessage,
    SessionOver,
    WaitedInVain,
)
from holdfast.sdk.line import PATIENCE, Begin, Gather, Line
from holdfast.sdk.values import Cursor, Screen, Standing, State
from holdfast.wire.blame import BlameReport, BlameRequest
from holdfast.wire.codec import KINDS, Message, error_from
from holdfast.wire.company import Inherited, Presence, Who
from holdfast.wire.evidence import Evidence, StateRequest
from holdfast.wire.frames import FrameKind
from holdfast.wire.graphs import Graph, GraphRequest
from holdfast.wire.messages import (
    MAX_ASK_MS,
    MAX_NUMBER,
    Ask,
    End,
    Exited,
    Refuse,
    TurnPassed,
)
from holdfast.wire.screens import Screen as ScreenPart
from holdfast.wire.screens import ScreenRequest

END_PATIENCE = 20.0
"""Seconds for a session to end: what does not listen is killed in less."""

_FRAME_KINDS = {message: kind for kind, message in KINDS.items()}
Answer = TypeVar("Answer", Evidence, BlameReport)
Part = TypeVar("Part", Graph, ScreenPart)


async def request(line: Line, *asked: Message) -> Standing:
    """Have something done, and return how things stand then.

    Raises:
        HoldfastError: It was refused, and why.
        Unavailable: The session cannot be reached, or does not answer.

    """
    kinds = [_FRAME_KINDS[type(one)] for one in asked]

    def begin() -> Gather[Standing]:
        inherited: list[Inherited] = []

        def gather(message: Message) -> Standing | None:
            match message:
                case Presence():
                    return _standing(line, message, inherited)
                case Inherited():
                    inherited.append(message)
                case Refuse(refused=refused) if refused in kinds:
                    raise error_from(message)
                case Exited() if asked:
                    raise SessionOver("exited")
                case _:
                    pass
            return None

        return gather

    return await line.ask(begin, *asked, Who())


def _standing(line: Line, told: Presence, inherited: list[Inherited]) -> Standing:
    return Standing(
        line.us,
        told.present,
        told.holder,
        told.epoch,
        told.waiting,
        told.frozen,
        told.pending,
        tuple(told.rights),
        inherited[-1] if inherited else None,
    )


async def turn(line: Line, timeout: float) -> Standing:
    """Ask for the turn, and wait until it is ours, at most so long.

    Raises:
        Unavailable: It was not given, and why.

    """

    def passed(message: Message) -> bool | None:
        match message:
            case Presence(holder=holder) | TurnPassed(holder=holder):
                return holder == line.us or None
            case Refuse(refused=FrameKind.ASK):
                raise error_from(message)
            case Exited():
                raise SessionOver("exited")
            case _:
                return None

    wait_ms = min(max(1, round(timeout * 1000)), MAX_ASK_MS)
    # The holder's own clock says when it is over; ours only makes sure.
    try:
        patience = wait_ms / 1000 + PATIENCE
        await line.ask(lambda: passed, Ask(wait_ms), Who(), patience=patience)
    except WaitedInVain:
        raise WaitedInVain("the turn", wait_ms) from None
    return await request(line)


async def end(line: Line, number: int, *, leave: bool = False) -> int:
    """End the session with a signal, and return its status once it has ended.

    What has left its shell is ended too, unless it is to be left.

    Raises:
        Forbidden: We may not.
        Unavailable: It does not end.

    """

    def ended(message: Message) -> int | None:
        match message:
            case Exited(status):
                return status
            case Refuse(refused=FrameKind.END):
                raise error_from(message)
            case _:
                return None

    return await line.ask(lambda: ended, End(number, leave), patience=END_PATIENCE)


async def evidence(line: Line) -> Evidence:
    """Return what the session does, as its holder says it."""
    return await line.ask(_one(Evidence, FrameKind.STATE_REQUEST), StateRequest())


async def state(line: Line) -> State:
    """Return what the session does, and how that is known."""
    seen = await evidence(line)
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


async def blame(line: Line, what: str, name: str, at_ms: int) -> BlameReport:
    """Return who is behind something, as the holder knows it."""
    asked = BlameRequest(what=what, name=name, at_ms=min(max(at_ms, 0), MAX_NUMBER))
    return await line.ask(_one(BlameReport, FrameKind.BLAME_REQUEST), asked)


async def graph(line: Line, *, descriptors: bool) -> Graph:
    """Return what runs in the session, put together from its parts."""
    begin = _parts(Graph, FrameKind.GRAPH_REQUEST, MAX_PARTS)
    return joined(await line.ask(begin, GraphRequest(descriptors=descriptors)))


async def screen(line: Line) -> Screen:
    """Return what the session shows, put together from its parts."""
    begin = _parts(ScreenPart, FrameKind.SCREEN_REQUEST, MAX_SCREEN_PARTS)
    return _screen(await line.ask(begin, ScreenRequest(cells=False)))


def _screen(parts: list[ScreenPart]) -> Screen:
    seen = seen_from(parts)
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


def _one(wanted: type[Answer], refused: FrameKind) -> Begin[Answer]:
    def gather(message: Message) -> Answer | None:
        if isinstance(message, Refuse) and message.refused == refused:
            raise error_from(message)
        return message if isinstance(message, wanted) else None

    return lambda: gather


def _parts(wanted: type[Part], refused: FrameKind, limit: int) -> Begin[list[Part]]:
    def begin() -> Gather[list[Part]]:
        parts: list[Part] = []

        def gather(message: Message) -> list[Part] | None:
            if isinstance(message, Refuse) and message.refused == refused:
                raise error_from(message)
            if not isinstance(message, wanted):
                return None
            parts.append(message)
            if len(parts) > limit:
                raise MalformedMessage(wanted.__name__.lower(), "it does not end")
            return None if message.more else parts

        return gather

    return begin
