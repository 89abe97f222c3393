"""What is said of an event, for programs and for people?

Names and fields are those of docs/reference/events.md and docs/howto/watch-sessions.md.
What programs printed is no part of it; a command's line is, because people want to see
which one it was, and nothing in it is obeyed by a terminal.
"""

from typing import NamedTuple

from holdfast.model.text import printable
from holdfast.model.verdicts import Verdict
from holdfast.sdk import events
from holdfast.sdk.events import Event
from holdfast.term.plain import plain
from holdfast.wire.messages import Pending

MAX_LINE = 500
"""Characters of a command's line."""

NAMES = (
    "session.seen",
    "session.exited",
    "session.lost",
    "session.frozen",
    "session.thawed",
    "session.unreachable",
    "state.changed",
    "turn.passed",
    "turn.asked",
    "gate.asked",
    "gate.answered",
    "listener.gone",
    "process.replaced",
    "command.started",
    "command.ended",
)
"""Events that are told of; the holder may have others of its own."""


class Happening(NamedTuple):
    """An event with a name and fields."""

    name: str
    fields: dict[str, str | int]


def happening_from(event: Event) -> Happening | None:
    """Return what is said of an event; None if nothing is."""
    match event:
        case events.TurnPassed(former, holder, epoch, reason):
            fields: dict[str, str | int] = {"former": former, "holder": holder}
            return Happening("turn.passed", {**fields, "epoch": epoch, "how": reason})
        case events.TurnAsked(asker, wait):
            return Happening("turn.asked", {"actor": asker, "wait": round(wait)})
        case events.Exited(status):
            return Happening("session.exited", {"status": status})
        case events.Lost(why):
            return Happening("session.lost", {"why": printable(why)})
        case events.CommandStarted(command) | events.CommandEnded(command):
            name = "command.started" if command.end is None else "command.ended"
            return Happening(name, _command(command))
        case _:
            return _rarer(event)


def with_own(
    own: dict[str, str | int], fields: dict[str, str | int]
) -> dict[str, str | int]:
    """Return fields with what we know ourselves before them.

    That stands, whatever a host elsewhere calls the fields of its events.
    """
    return {**own, **fields, **own}


def _rarer(event: Event) -> Happening | None:
    match event:
        case Pending():
            return Happening("gate.asked", _pending(event))
        case events.Approved(ticket, by):
            return Happening("gate.answered", _answered(ticket, by, Verdict.ALLOW))
        case events.Denied(ticket, by):
            return Happening("gate.answered", _answered(ticket, by, Verdict.DENY))
        case events.StateChanged(word):
            name = "session.frozen" if word == "frozen" else "session.thawed"
            return Happening(name, {})
        case events.Noted(name, noted):
            return Happening(printable(name, 64), _printable(dict(noted)))
        case _:
            return None


def _command(command: events.Command) -> dict[str, str | int]:
    fields: dict[str, str | int] = {
        "number": command.number,
        "line": printable(command.line, MAX_LINE),
    }
    if command.end is not None:
        fields["status"] = -1 if command.status is None else command.status
        fields["duration_ms"] = round(command.duration * 1000)
    return fields


def _pending(pending: Pending) -> dict[str, str | int]:
    return {
        "actor": pending.actor,
        "ticket": pending.ticket,
        "rule": printable(pending.rule),
        "input": printable(plain(pending.excerpt), MAX_LINE),
    }


def _answered(ticket: int, by: str, verdict: Verdict) -> dict[str, str | int]:
    return {"ticket": ticket, "approver": by, "verdict": verdict.value}


def _printable(fields: dict[str, str | int]) -> dict[str, str | int]:
    return {
        printable(name, 32): printable(value) if isinstance(value, str) else value
        for name, value in fields.items()
    }
