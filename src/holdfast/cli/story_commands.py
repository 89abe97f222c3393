"""The commands of a session and what they changed, as part of its story.

A command is shown with the operator who pressed Enter, and with the one who typed its
line if that was another operator. A change in the shell is shown with the command that
made it.
"""

from collections.abc import Callable
from typing import NamedTuple

from holdfast.core.book.logbook import Entry
from holdfast.core.provenance.changed_entries import Changed, read_changed
from holdfast.core.provenance.commands import read_began
from holdfast.core.shell.shell_state import Change, ChangeKind
from holdfast.model.text import printable

MAX_SHOWN = 200
"""Characters shown of a line."""

MAX_NAMED = 8
"""Changes that are named; the rest are counted."""

REMEMBERED = 64
"""Commands whose operator is remembered until their changes, which come soon."""

_HOW = {ChangeKind.ADDED: "set", ChangeKind.REMOVED: "removed"}


class Told(NamedTuple):
    """Who did something, and what; without an actor, the session itself."""

    actor: str
    text: str


class CommandStory:
    """Describes commands, and what they changed."""

    def __init__(self, name: Callable[[str], str]) -> None:
        self._name = name
        self._triggers: dict[int, str] = {}

    def began(self, entry: Entry) -> Told:
        """Describe the start of a command."""
        try:
            command = read_began(entry.fields)
        except KeyError:
            return Told("", "A command started.")
        trigger, number = command.trigger or "", command.number
        self._triggers[number] = trigger
        if len(self._triggers) > REMEMBERED:
            del self._triggers[next(iter(self._triggers))]
        line = (
            printable(command.line, MAX_SHOWN) or "a line that the shell did not report"
        )
        authors = [actor for actor in command.authors if actor != trigger]
        by = " and ".join(map(self._name, authors))
        typed = f"  — typed by {by}" if by else ""
        if trigger:
            return Told(trigger, f"ran command {number}: {line}{typed}")
        return Told("", f"Command {number} started: {line}{typed}")

    def changed(self, entry: Entry) -> Told | None:
        """Describe what changed in the shell, if anything did."""
        said = read_changed(entry.fields)
        if said.is_lost:
            return Told("", "The state of the shell is not known for now.")
        if said.initial:
            count = len(said.initial) + said.more
            return Told("", f"The shell has {count} variables, aliases and functions.")
        if not said.changes and not said.more:
            return None
        return self._changes(said)

    def _changes(self, said: Changed) -> Told:
        what = ", ".join(map(_named, said.changes[:MAX_NAMED]))
        more = len(said.changes[MAX_NAMED:]) + said.more
        if more:
            what = f"{what} and {more} more" if what else f"{more} things"
        if said.first != said.last:
            return Told("", f"Commands {said.first} to {said.last} changed {what}")
        actor = self._triggers.get(said.last, "")
        if actor:
            return Told(actor, f"changed {what} (command {said.last})")
        which = f"Command {said.last}" if said.last else "Something"
        return Told("", f"{which} changed {what}")


def _named(one: Change) -> str:
    how = _HOW.get(one.how)
    name = printable(one.item.name, MAX_SHOWN)
    return f"{one.item.kind.value} {name}" + (f" ({how})" if how else "")
