"""Shells for the tests of `originators`: commands, and states in between."""

from dataclasses import replace

from holdfast.core.book.logbook import Entry, EntryKind
from holdfast.core.provenance.commands import (
    Command,
    began_fields,
    finished_fields,
)
from holdfast.core.provenance.entered_lines import Instant
from holdfast.core.provenance.originators import Origins
from holdfast.core.shell.shell_state import Item, ItemKind, ShellState
from holdfast.model.ids import ActorId, Epoch, Incarnation, Index, actor_id
from holdfast.wire.lines import Value

ANNA, BOT, CARL = (actor_id(bytes([number]) * 32) for number in (1, 2, 3))
BOOT_MS = 1_000_000_000
"""What the wall clock said when the machine was started."""

DEPLOY = Item(ItemKind.ALIAS, "deploy")
PATH = Item(ItemKind.VARIABLE, "PATH")
HOME = Item(ItemKind.VARIABLE, "HOME")


def state(**names: str) -> ShellState:
    """Return one with these variables, in capitals, and aliases."""
    items = {
        Item(ItemKind.VARIABLE if name.isupper() else ItemKind.ALIAS, name): (
            value.encode()
        )
        for name, value in names.items()
    }
    return ShellState(items, None, {}, {}, is_whole=True)


def moment(second: float, *, set_by: int = 0) -> Instant:
    return Instant(round(BOOT_MS + second * 1000) + set_by, round(second * 1000))


def command(
    number: int,
    trigger: ActorId | None,
    *authors: ActorId,
    line: str = "make",
    begins: float | None = None,
) -> Command:
    """Return a command that is entered at second 10 times its number."""
    since = moment(10 * number if begins is None else begins)
    return Command(number, None, line, 0, trigger=trigger, authors=authors, since=since)


def finished(one: Command, ends: float | None = None) -> Command:
    """Return it with its end, five seconds later."""
    second = one.since.up_ms / 1000 + 5 if ends is None else ends
    return replace(one, end=0, status=0, until=moment(second))


class Shell:
    """An Origins, and the book that is written of what it is told."""

    def __init__(self) -> None:
        self.origins = Origins()
        self.book: list[Entry] = []
        self.count = 0

    def run(self, trigger: ActorId | None, line: str = "make") -> Command:
        """Run a command; no prompt is seen."""
        self.count += 1
        one = command(self.count, trigger, *([trigger] if trigger else []), line=line)
        self.begin(one)
        self.finish(finished(one))
        return one

    def begin(self, one: Command) -> None:
        self.origins.began(one)
        self.write(EntryKind.BEGAN, began_fields(one))

    def finish(self, one: Command) -> None:
        self.origins.ended(one)
        self.write(EntryKind.FINISHED, finished_fields(one))

    def see(self, seen: ShellState | None) -> None:
        """See a prompt with this state; None: with the same as before."""
        origins = self.origins
        for fields in origins.unchanged() if seen is None else origins.seen(seen):
            self.write(EntryKind.CHANGED, fields)

    def lose(self) -> None:
        """See a prompt whose state makes no sense."""
        for fields in self.origins.lost():
            self.write(EntryKind.CHANGED, fields)

    def write(self, kind: EntryKind, fields: dict[str, Value]) -> None:
        entry = Entry(
            Index(0), b"", b"", kind, Incarnation(1), Epoch(1), 0, fields=fields
        )
        self.book.append(entry)

    def heir(self) -> Origins:
        """Return what a successor knows by the book."""
        found = Origins()
        found.take_up(self.book)
        return found
