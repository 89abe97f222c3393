"""Wire form of the end of a session that nobody uses.

Specified in docs/spec/wire.md, section 4.8.
"""

from typing import Annotated

from msgspec import Meta

from holdfast.wire.messages import MAX_NUMBER, Number, Part, Word


class Reap(Part, frozen=True, kw_only=True):
    """End the session, unless it is in use; with `stop`, put it to disk first."""

    stop: bool
    quiet_ms: Annotated[int, Meta(ge=0, le=MAX_NUMBER)]
    """For how long nothing may have been typed or printed: since it was looked at."""

    idle_ms: Number
    """For how long it was found idle then."""

    why: Word
