"""A fast summary of very many entries.

Theory of operation
-------------------
Where a book has to be read whole, nearly all of its entries are keys that were
applied, and nothing of them matters but whose they were. So each line is checked
against the chain by its bytes, and only what decides something is taken apart.

A line that is not begun as entries are is looked at closely, and refused as
`core.book.logbook` refuses it. Whether the rest of a line is written in the one way it
can be is not looked at here; a verifier reads every byte.
"""

import hashlib
import re
from collections.abc import Iterable, Iterator

from holdfast.core.book.logbook import Anchor, Entry, EntryKind, read_entries
from holdfast.model.errors import LogTampered
from holdfast.model.ids import Epoch, Incarnation, Index, SessionId
from holdfast.wire.lines import Value

_FRONT = re.compile(
    rb'\{"index":([0-9]+),"prev":"([0-9a-f]{64})","session":"([a-z0-9_]+)"'
    rb',"incarnation":([0-9]+),"epoch":([0-9]+),"at":(-?[0-9]+),"kind":"([a-z]+)"'
)
_INPUT = re.compile(
    rb',"actor":"([a-z0-9_]*)"(?:,"actor_kind":"[a-z]+")?,"client":"([a-z0-9_]*)"'
    rb',"sequence":([0-9]+),"input":"([a-z]+)"'
)
_SETTLED = re.compile(rb',"of":([0-9]+),"as":"applied"\}')
_KINDS = {kind.value.encode(): kind for kind in EntryKind}
_PLAIN = frozenset(
    {
        EntryKind.ATTACHED,
        EntryKind.DETACHED,
        EntryKind.REFUSED,
        EntryKind.DECLINED,
        EntryKind.INTENDED,
        EntryKind.ASKED,
        EntryKind.ANSWERED,
        EntryKind.EXEC,
        EntryKind.CHECKPOINT,
        EntryKind.UNBOUND,
        EntryKind.LIMITED,
        EntryKind.SWEPT,
        EntryKind.IMAGED,
        EntryKind.STOPPED,
        EntryKind.FORKED,
    }
)
"""What a successor needs nothing of."""


def scan(lines: Iterable[bytes], session: SessionId, after: Anchor) -> Iterator[Entry]:
    """Yield an entry for each line, with what decides something of its fields.

    Raises:
        PeerError: A line does not follow the one before.

    """
    own = session.encode()
    for line in lines:
        front = _FRONT.match(line)
        kind = None if front is None else _KINDS.get(front[7])
        if front is None or kind is None or front[3] != own:
            entry = _closely(line, session, after)
        else:
            if (
                int(front[1]) != after.index + 1
                or front[2] != after.hash.hex().encode()
            ):
                raise LogTampered(
                    after.index + 1, "it does not follow the entry before it"
                )
            fields = _fields(kind, line, front.end())
            if fields is None:
                entry = _closely(line, session, after)
            else:
                entry = Entry(
                    Index(after.index + 1),
                    line,
                    hashlib.sha256(line).digest(),
                    kind,
                    Incarnation(int(front[4])),
                    Epoch(int(front[5])),
                    int(front[6]),
                    fields,
                )
                if entry.incarnation < after.incarnation or entry.epoch < after.epoch:
                    raise LogTampered(entry.index, "incarnation or epoch goes down")
        after = Anchor(entry.index, entry.hash, entry.incarnation, entry.epoch)
        yield entry


def _fields(kind: EntryKind, line: bytes, at: int) -> dict[str, Value] | None:
    """Return what matters of the fields; None if the line has to be taken apart."""
    if kind in _PLAIN:
        return {}
    if kind is EntryKind.INPUT and (said := _INPUT.match(line, at)):
        return {
            "actor": said[1].decode(),
            "client": said[2].decode(),
            "sequence": int(said[3]),
            "input": said[4].decode(),
        }
    if kind is EntryKind.SETTLED and (said := _SETTLED.fullmatch(line, at)):
        return {"of": int(said[1]), "as": "applied"}
    return None


def _closely(line: bytes, session: SessionId, after: Anchor) -> Entry:
    [entry] = read_entries([line], session, after)
    return entry
