"""What happens in a session, as it happens.

One frozen class for each thing; `Event` is all of them, closed, so that a `match`
over it can be complete. Offsets count bytes of the session's stream from its birth.
"""

import itertools
from collections.abc import Mapping
from dataclasses import dataclass

from holdfast.model.geometry import Size
from holdfast.model.ids import ActorId
from holdfast.model.verdicts import Verdict
from holdfast.sdk.values import Stretch
from holdfast.wire import commands, messages
from holdfast.wire.codec import Message
from holdfast.wire.messages import Pending

MAX_HELD = 64
"""Events that wait for the stream: commands that a shell runs between two reads."""

Gap = messages.Gap
TurnPassed = messages.TurnPassed
Exited = messages.Exited
"""What happens as the protocol tells it."""


@dataclass(frozen=True, slots=True)
class Output(Stretch):
    """The session printed something, from byte `offset` on."""


@dataclass(frozen=True, slots=True)
class Resized:
    """The session has another size from byte `offset` on."""

    offset: int
    size: Size


@dataclass(frozen=True, slots=True)
class TurnAsked:
    """Another operator asks for our turn, and waits so many seconds longer for it."""

    asker: ActorId
    wait: float


@dataclass(frozen=True, slots=True)
class Approved:
    """What waited under `ticket` was let through."""

    ticket: int
    by: ActorId


@dataclass(frozen=True, slots=True)
class Denied:
    """What waited under `ticket` was refused; by nobody if time or the turn did it."""

    ticket: int
    by: ActorId


@dataclass(frozen=True, slots=True)
class Command:
    """One command of the session's shell; it runs as long as it has no `end`."""

    number: int
    line: str
    start: int
    end: int | None
    status: int | None
    duration: float
    cwd: str


@dataclass(frozen=True, slots=True)
class CommandStarted:
    """The shell executes a command."""

    command: Command


@dataclass(frozen=True, slots=True)
class CommandEnded:
    """The shell is done with a command."""

    command: Command


@dataclass(frozen=True, slots=True)
class StateChanged:
    """The session stands still (frozen, or fenced), or goes on (running)."""

    word: str


@dataclass(frozen=True, slots=True)
class Noted:
    """Another event of docs/reference/events.md, by its name."""

    name: str
    fields: Mapping[str, str | int]


Event = (
    Output
    | Gap
    | Resized
    | TurnPassed
    | TurnAsked
    | Pending
    | Approved
    | Denied
    | CommandStarted
    | CommandEnded
    | StateChanged
    | Noted
    | Exited
)
"""Everything that `Session.events` yields; nothing follows Exited."""


class InOrder:
    """Puts what concerns a place of the stream behind the bytes before that place.

    A holder tells of commands as soon as it knows of them, which may be before it has
    sent what they printed. No more than MAX_HELD wait: the oldest goes then.
    """

    def __init__(self) -> None:
        self._held: list[tuple[int, Event]] = []

    def add(self, event: Event, seen: int) -> list[Event]:
        """Take an event, and return what is due: the stream was seen up to `seen`."""
        place = _place_of(event)
        if place > seen:
            self._held.append((place, event))
            return self._take(len(self._held) - MAX_HELD)
        if isinstance(event, Exited):
            return [*self._take(len(self._held)), event]
        reached = (at <= seen for at, _ in self._held)
        return [event, *self._take(sum(itertools.takewhile(bool, reached)))]

    def _take(self, count: int) -> list[Event]:
        due = [event for _, event in self._held[: max(0, count)]]
        del self._held[: len(due)]
        return due


def _place_of(event: Event) -> int:
    match event:
        case CommandStarted(command):
            return command.start
        case CommandEnded(command):
            return command.end or 0
        case Resized(offset):
            return offset
        case _:
            return 0


def event_from(  # noqa: C901, PLR0911  # one case for each message
    message: Message,
) -> Event | None:
    """Return what a message says has happened, or None if it says no such thing."""
    match message:
        case Gap() | TurnPassed() | Pending() | Exited():
            return message
        case messages.Output(offset, data):
            return Output(offset, data)
        case commands.CommandStarted(command):
            return CommandStarted(_command(command))
        case commands.CommandEnded(command):
            return CommandEnded(_command(command))
        case messages.Settled(ticket, verdict, by):
            is_approved = verdict is Verdict.ALLOW
            return Approved(ticket, by) if is_approved else Denied(ticket, by)
        case messages.TurnAsked(asker, wait_ms):
            return TurnAsked(asker, wait_ms / 1000)
        case messages.Resized(offset, size):
            return Resized(offset, size.to_size())
        case messages.State(state):
            return StateChanged(state)
        case messages.Event(name, _, fields):
            return Noted(name, dict(fields))
        case _:
            return None


def _command(told: commands.ShellCommand) -> Command:
    return Command(
        told.number,
        told.line,
        told.start,
        told.end,
        told.status,
        told.duration_ms / 1000,
        told.cwd,
    )
