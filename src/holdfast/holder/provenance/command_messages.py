"""Logbook entries and client messages about a shell's commands."""

from collections.abc import Sequence
from typing import NamedTuple

from holdfast.core.book.logbook import EntryKind
from holdfast.core.provenance import commands
from holdfast.model.errors import NoMarks
from holdfast.model.ids import ClientId
from holdfast.model.text import printable
from holdfast.wire import commands as wire
from holdfast.wire.lines import Value
from holdfast.wire.messages import fitting


class Told(NamedTuple):
    """What is to be recorded, and sent to all clients."""

    kind: EntryKind
    fields: dict[str, Value]
    message: wire.CommandStarted | wire.CommandEnded | None


def no_marks(command: Sequence[str]) -> NoMarks:
    """Return why nobody knows anything of the commands of a program."""
    first, *_ = (*command, "")
    return NoMarks(printable(first))


def report(
    machine: commands.Commands, asked: wire.CommandRequest
) -> wire.CommandReport:
    """Say where the shell is, and what came of a command."""
    client = ClientId(asked.client)
    found = machine.sent_by(client) if client else machine.last
    phase = machine.phase.value
    return wire.CommandReport(phase, None if found is None else _sent(found))


def changed(fields: dict[str, Value]) -> Told:
    """Return what is told of a change in the shell."""
    return Told(EntryKind.CHANGED, fields, None)


def told(effect: commands.Effect) -> Told:
    """Return what is told of a command that began or ended."""
    command = effect.command
    match effect:
        case commands.Begin():
            fields = commands.began_fields(command)
            return Told(EntryKind.BEGAN, fields, wire.CommandStarted(_sent(command)))
        case commands.Finish():
            fields = commands.finished_fields(command)
            return Told(EntryKind.FINISHED, fields, wire.CommandEnded(_sent(command)))


def _sent(command: commands.Command) -> wire.ShellCommand:
    return wire.ShellCommand(
        number=command.number,
        client=command.client or ClientId(""),
        line=fitting(command.line, wire.MAX_TOLD),
        start=command.start,
        end=command.end,
        status=command.status,
        duration_ms=command.duration_ms,
        cwd=fitting(command.cwd, wire.MAX_TOLD),
    )
