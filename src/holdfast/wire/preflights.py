"""Wire form of what prevents a checkpoint of a session.

Specified in docs/spec/wire.md, section 4.7.
"""

from typing import Annotated, Final

from msgspec import Meta

from holdfast.wire.messages import Number, Part, Word

MAX_WHAT: Final = 256
"""Characters of what is in the way: the name of a file may be in it."""

MAX_BLOCKERS: Final = 32
"""Blockers in one PREFLIGHT; the rest is counted."""

MAX_CUTS: Final = 32
"""Connections in one PREFLIGHT; the rest is counted."""

Phrase = Annotated[str, Meta(max_length=MAX_WHAT)]


class Blocker(Part, frozen=True, kw_only=True):
    """One thing that is in the way; `pid` is as the session numbers processes."""

    kind: Word
    what: Phrase
    why: Phrase
    remedy: Phrase
    pid: Number
    """0 if it is no process's."""

    program: Phrase
    descriptor: Number | None


class Cut(Part, frozen=True, kw_only=True):
    """A connection that would be closed when the session is restored."""

    pid: Number
    program: Phrase
    descriptor: Number
    peer: Phrase


class PreflightRequest(Part, frozen=True):
    """Asks whether the session could be checkpointed now, and what prevents it."""


class Preflight(Part, frozen=True, kw_only=True):
    """The answer: yes, if there are no blockers."""

    blockers: Annotated[tuple[Blocker, ...], Meta(max_length=MAX_BLOCKERS)]
    cuts: Annotated[tuple[Cut, ...], Meta(max_length=MAX_CUTS)]
    unlisted: Number
    """Blockers and connections that were left out."""
