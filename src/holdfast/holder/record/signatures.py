"""Writes operators' signed statements to the logbook, and confirms them when durable.

core.input.statements decides whether a statement is accepted. It is written off the
path of input: it waits for the disk as every entry does, and nothing waits for it.
"""

from holdfast.core.book.logbook import Entry, EntryKind
from holdfast.core.input.statements import MAX_UNSIGNED, Statements
from holdfast.holder.links.connection import Connection
from holdfast.holder.moment import now
from holdfast.holder.record.book_recovery import Past
from holdfast.model.ids import ActorId, ClientId
from holdfast.wire.lines import Value
from holdfast.wire.signatures import Sign, Signed


class Signatures:
    """What of a book its operators have signed, and who waits to hear of it."""

    def __init__(self, past: Past) -> None:
        """Learn from the book how far each client has signed, and what came since."""
        self._statements = Statements()
        self._waiting: dict[tuple[ActorId, ClientId], Connection] = {}
        self.signed_by = self._statements.signed_by
        if past.checkpoint is not None:
            self._statements.load(past.checkpoint.signed)
        inputs = sum(entry.kind is EntryKind.INPUT for entry in past.entries)
        for entry in past.entries:
            # Of more inputs than that nothing would be remembered.
            inputs -= entry.kind is EntryKind.INPUT
            if entry.kind is not EntryKind.INPUT or inputs < MAX_UNSIGNED:
                self._statements.read(entry)

    def take(self, connection: Connection, said: Sign) -> dict[str, Value] | None:
        """Return what the book is to say of a statement; None if it does already.

        Raises:
            Forbidden: It does not fit the book.
            Unavailable: This operator has signed too much of late.

        """
        actor = connection.operator.id
        kept = self._statements.take(actor, said, now().now)
        if kept is None:
            last = self._statements.signed_by(actor, said.client)
            connection.send(Signed(said.client, last))
            return None
        self._waiting[actor, said.client] = connection
        return kept.to_fields()

    def stored(self, entry: Entry) -> None:
        """Take note of an entry that is in the file now."""
        self._statements.read(entry)
        if entry.kind is not EntryKind.SIGNED:
            return
        said = entry.fields
        client, last = ClientId(str(said["client"])), int(said["last"] or 0)
        waiting = self._waiting.pop((ActorId(str(said["actor"])), client), None)
        if waiting is not None and not waiting.is_closed:
            waiting.send(Signed(client, last))
