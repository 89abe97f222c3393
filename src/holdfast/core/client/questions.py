"""Questions to a session, and how their answers are put together.

A request is not answered unless it is refused, so WHO is sent behind it: answers come
in order, and PRESENCE means that the request was done. To ask any of this twice does
no more than once, so a question is asked again when a link breaks.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Generic, TypeVar

from holdfast.core.client import timeouts
from holdfast.model import errors
from holdfast.model.events import EventName
from holdfast.model.ids import ActorId, ClientId
from holdfast.model.inputs import InputKind
from holdfast.wire.blame import BlameReport, BlameRequest
from holdfast.wire.checkpoints import Checkpointed, CheckpointRequest
from holdfast.wire.codec import KINDS, Message, error_from
from holdfast.wire.commands import CommandReport, CommandRequest
from holdfast.wire.evidence import Evidence, StateRequest
from holdfast.wire.frames import FrameKind
from holdfast.wire.graphs import Graph, GraphRequest
from holdfast.wire.messages import MAX_NUMBER, End, Event, Exited, Refuse
from holdfast.wire.preflights import Preflight, PreflightRequest
from holdfast.wire.presence import Inherited, Presence, Who
from holdfast.wire.screens import Screen as ScreenPart
from holdfast.wire.trials import Tried, Try

MAX_GRAPH_PARTS = 1024
"""Parts taken of one graph: twice what a holder sends."""

NO_CLIENT = ClientId("")
"""Stands for whichever client's command was the last."""

Answer = TypeVar("Answer")
Part = TypeVar("Part", Graph, ScreenPart)
Gather = Callable[[Message], Answer | None]
"""Makes an answer of the messages that come; None as long as it is not whole."""

_FRAME_KINDS = {message: kind for kind, message in KINDS.items()}


@dataclass(frozen=True, slots=True)
class SessionQuestion(Generic[Answer]):
    """What is asked, and what makes an answer of what comes."""

    asked: tuple[Message, ...]
    begin: Callable[[], Gather[Answer]]
    """Called each time that it is asked."""

    patience: float = timeouts.ANSWER
    attempts: int = 1
    passing: type[errors.HoldfastError] = errors.PainterDied
    """A refusal after which it is asked again, if there are attempts left."""


@dataclass(frozen=True, slots=True)
class Done:
    """How things stand after a request, and what came to us with the turn."""

    us: ActorId
    presence: Presence
    inherited: Inherited | None = None

    @property
    def has_turn(self) -> bool:
        """Whether the turn is ours."""
        return self.presence.holder == self.us


def request(us: ActorId, *asked: Message) -> SessionQuestion[Done]:
    """Send requests, one after the other, and ask for the state after them."""
    kinds = {_FRAME_KINDS[type(one)] for one in asked}

    def begin() -> Gather[Done]:
        inherited: list[Inherited] = []

        def gather(message: Message) -> Done | None:
            match message:
                case Presence():
                    return Done(us, message, inherited[-1] if inherited else None)
                case Inherited():
                    inherited.append(message)
                case Refuse(refused=refused) if refused in kinds:
                    raise error_from(message)
                case Exited() if asked:
                    raise errors.SessionOver("exited")
                case _:
                    pass
            return None

        return gather

    return SessionQuestion((*asked, Who()), begin)


@dataclass(frozen=True, slots=True)
class Ended:
    """How a session ended, and what is told of the daemons that had left its shell."""

    status: int | None = None
    swept: Mapping[str, str | int] = field(default_factory=dict)


def end(number: int, *, leave: bool) -> SessionQuestion[Ended]:
    """End the session with a signal, and wait until it has ended.

    What has left its shell is ended too, unless it is to be left.
    """

    def begin() -> Gather[Ended]:
        swept: dict[str, str | int] = {}

        def gather(message: Message) -> Ended | None:
            match message:
                case Exited(status):
                    return Ended(status, swept)
                case Event(EventName.SESSION_SWEPT, fields=fields):
                    swept.update(fields)
                case Refuse(refused=FrameKind.END):
                    raise error_from(message)
                case _:
                    pass
            return None

        return gather

    return SessionQuestion((End(number, leave),), begin, timeouts.END)


def state() -> SessionQuestion[Evidence]:
    """Ask what the session does now, and how that is known."""
    return _one(Evidence, FrameKind.STATE_REQUEST, StateRequest())


def blame(what: str, name: str, at_ms: int) -> SessionQuestion[BlameReport]:
    """Ask who is behind something."""
    asked = BlameRequest(what=what, name=name, at_ms=min(max(at_ms, 0), MAX_NUMBER))
    return _one(BlameReport, FrameKind.BLAME_REQUEST, asked)


def trial(
    actor: ActorId, kind: InputKind, payload: bytes, candidate: bytes | None
) -> SessionQuestion[Tried]:
    """Ask what would happen to an input; with a candidate, under that policy."""
    return _one(Tried, FrameKind.TRY, Try(actor, kind, payload, candidate))


def graph(*, descriptors: bool) -> SessionQuestion[Graph]:
    """Ask what runs in the session, and what listens where."""
    asked = GraphRequest(descriptors=descriptors)
    begin = parts_of(Graph, FrameKind.GRAPH_REQUEST, MAX_GRAPH_PARTS, joined_graph)
    return SessionQuestion((asked,), begin)


def preflight() -> SessionQuestion[Preflight]:
    """Ask what keeps the session from being checkpointed."""
    return _one(Preflight, FrameKind.PREFLIGHT_REQUEST, PreflightRequest())


def checkpoint(
    *, stop: bool, label: str, key: str, branch: bool = False
) -> SessionQuestion[Checkpointed]:
    """Ask for an image of the session; with `branch`, one for a branch of it.

    However often it is asked, there is one image for one key.
    """
    asked = CheckpointRequest(stop=stop, label=label, branch=branch, key=key)
    one = _one(Checkpointed, FrameKind.CHECKPOINT_REQUEST, asked)
    return replace(one, patience=timeouts.CHECKPOINT)


def joined_graph(parts: list[Graph]) -> Graph:
    """Put a graph together again from the parts it came in."""
    return Graph(
        processes=tuple(one for part in parts for one in part.processes),
        listeners=tuple(one for part in parts for one in part.listeners),
        connections=tuple(one for part in parts for one in part.connections),
        descriptors=tuple(one for part in parts for one in part.descriptors),
        more=False,
    )


def reports(*clients: ClientId) -> SessionQuestion[list[CommandReport]]:
    """Ask where the shell is, and which command each client sent."""

    def begin() -> Gather[list[CommandReport]]:
        found: list[CommandReport] = []

        def gather(message: Message) -> list[CommandReport] | None:
            match message:
                case CommandReport():
                    found.append(message)
                case Refuse(refused=FrameKind.COMMAND_REQUEST):
                    raise error_from(message)
                case _:
                    pass
            return found if len(found) == len(clients) else None

        return gather

    return SessionQuestion(tuple(map(CommandRequest, clients)), begin)


One = TypeVar("One", Evidence, BlameReport, Preflight, Checkpointed, Tried)


def _one(wanted: type[One], refused: FrameKind, asked: Message) -> SessionQuestion[One]:
    def gather(message: Message) -> One | None:
        if isinstance(message, Refuse) and message.refused == refused:
            raise error_from(message)
        return message if isinstance(message, wanted) else None

    return SessionQuestion((asked,), lambda: gather)


def parts_of(
    wanted: type[Part],
    refused: FrameKind,
    limit: int,
    joined: Callable[[list[Part]], Answer],
) -> Callable[[], Gather[Answer]]:
    """Return what gathers an answer that comes in parts, at most `limit` of them."""

    def begin() -> Gather[Answer]:
        parts: list[Part] = []

        def gather(message: Message) -> Answer | None:
            if isinstance(message, Refuse) and message.refused == refused:
                raise error_from(message)
            if not isinstance(message, wanted):
                return None
            parts.append(message)
            if len(parts) > limit:
                raise errors.MalformedMessage(
                    wanted.__name__.lower(), "it does not end"
                )
            return None if message.more else joined(parts)

        return gather

    return begin
