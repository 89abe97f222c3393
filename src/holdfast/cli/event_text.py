"""Formats an event, for programs and for people.

Names and fields are those of model/events.py. Program output is not part of it; a
command's line is, because people want to see which command it was, and its control
characters are made visible.
"""

from typing import NamedTuple

from holdfast.model.events import EventName
from holdfast.model.text import printable
from holdfast.model.verdicts import Verdict
from holdfast.sdk import events
from holdfast.sdk.events import Event
from holdfast.term.plain import plain
from holdfast.wire.messages import Pending

MAX_LINE = 500
"""Characters of a command's line."""


class Happening(NamedTuple):
    """An event with a name and fields."""

    name: str
    fields: dict[str, str | int]


def happening_from(event: Event) -> Happening | None:
    """Return how an event is reported; None if it is not."""
    match event:
        case events.TurnPassed(former=former, holder=holder):
            fields: dict[str, str | int] = {"former": former, "holder": holder}
            return Happening(
                EventName.TURN_PASSED,
                {**fields, "epoch": event.epoch, "how": event.reason},
            )
        case events.TurnAsked(asker, wait):
            return Happening(
                EventName.TURN_ASKED, {"actor": asker, "wait": round(wait)}
            )
        case events.Exited(status):
            return Happening(EventName.SESSION_EXITED, {"status": status})
        case events.CommandStarted(command) | events.CommandEnded(command):
            return _command(command)
        case _:
            return _rarer(event)


def with_own(
    own: dict[str, str | int], fields: dict[str, str | int]
) -> dict[str, str | int]:
    """Return fields, preceded by what we know ourselves.

    Our own take precedence, whatever a remote host calls the fields of its events.
    """
    return {**own, **fields, **own}


_STANDSTILLS = {
    "frozen": EventName.SESSION_FROZEN,
    "fenced": EventName.SESSION_FENCED,
}


def _rarer(event: Event) -> Happening | None:
    match event:
        case Pending():
            return Happening(EventName.GATE_ASKED, _pending(event))
        case events.Approved(ticket, by):
            return Happening(
                EventName.GATE_ANSWERED, _answered(ticket, by, Verdict.ALLOW)
            )
        case events.Denied(ticket, by):
            return Happening(
                EventName.GATE_ANSWERED, _answered(ticket, by, Verdict.DENY)
            )
        case events.StateChanged(word):
            return Happening(_STANDSTILLS.get(word, EventName.SESSION_THAWED), {})
        case events.Noted(name, noted):
            return Happening(printable(name, 64), _printable(dict(noted)))
        case _:
            return None


def _command(command: events.Command) -> Happening:
    fields: dict[str, str | int] = {
        "number": command.number,
        "line": printable(command.line, MAX_LINE),
    }
    if command.end is None:
        return Happening(EventName.COMMAND_STARTED, fields)
    fields["status"] = -1 if command.status is None else command.status
    fields["duration_ms"] = round(command.duration * 1000)
    return Happening(EventName.COMMAND_ENDED, fields)


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
