"""Entries of a book, as short as tests need them."""

from holdfast.core.book.logbook import Entry, EntryKind
from holdfast.model.ids import Epoch, Incarnation, Index
from holdfast.wire.lines import Value

BOT = "a_" + "b" * 32
ANNA = "a_" + "a" * 32
SESSION = "s_aaaaaaaaaaaaaaaa"


def entry(kind: EntryKind, index: int = 0, at: int = 0, **fields: Value) -> Entry:
    """Return an entry that says this."""
    renamed = {
        {"as_": "as", "from_": "from"}.get(name, name): value
        for name, value in fields.items()
    }
    return Entry(Index(index), b"", b"", kind, Incarnation(1), Epoch(1), at, renamed)
