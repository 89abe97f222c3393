"""Which inputs of a book are somebody's, apart from the one that began the session?"""

from holdfast.core.book.logbook import Entry, EntryKind


def is_typed(entry: Entry) -> bool:
    """Tell whether an entry is an input other than the command of the session."""
    return entry.kind is EntryKind.INPUT and entry.fields["input"] != "start"
