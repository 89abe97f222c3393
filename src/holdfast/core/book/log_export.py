"""The export of a logbook, which anyone can verify offline.

    first line    what follows, of which session, and the host's public key
    then          the entries, as they are in the book
    last line     the newest signed head, if there is one

The layout is normative in docs/spec/logbook.md, section 10; the program
tools/verify_logbook.py reads it without a line of this package.
"""

from collections.abc import Iterable, Iterator

from holdfast.core.book.logbook import genesis
from holdfast.core.book.signed_head import SignedHead
from holdfast.model.ids import SessionId
from holdfast.wire.lines import encode_line

EXPORT_VERSION = 1
"""Raised when a reader of the version before could misread an export."""


def export_lines(
    session: SessionId,
    count: int,
    lines: Iterable[bytes],
    signed: SignedHead | None,
) -> Iterator[bytes]:
    """Yield the lines of an export of `count` entries, without their newlines."""
    yield encode_line(
        {
            "export": EXPORT_VERSION,
            "session": session,
            "genesis": genesis(session).hash.hex(),
            "count": count,
            "host": None if signed is None else signed.host.hex(),
        }
    )
    yield from lines
    if signed is not None:
        yield signed.to_line()
