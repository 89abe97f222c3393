"""Wire form of the question who is behind something, and of its answer.

Specified in docs/spec/wire.md, section 4.13.
"""

from typing import Annotated, Final

from msgspec import Meta

from holdfast.wire.messages import RAW, Actor, ActorOrNobody, Number, Part, Word

MAX_BLAMED: Final = 4096
"""Characters of the name of what is asked for: the longest folder there can be."""

MAX_AUTHORS: Final = 16
"""Operators named for one command (core.provenance.entered_lines)."""

MAX_BLAMED_LINE: Final = 1024
"""Characters of a command's line: how it begins, with every one escaped."""

MAX_TRACE: Final = 32
"""Bytes of a digest, or of the length that stands in for it."""

MAX_STAGED: Final = 4096
"""Bytes of an unfinished line (core.provenance.staged)."""

MAX_STRETCHES: Final = 1024
"""Stretches of it that are told apart; people take longer turns than a byte."""


class BlameRequest(Part, frozen=True, kw_only=True):
    """Asks who is behind something.

    `what` is a kind of thing that a shell has, and `name` its name; or `moment` or
    `process`, and `at_ms` when: on the wall clock, or since the machine was started;
    or `line`, for unsubmitted input.
    """

    what: Word
    name: Annotated[str, Meta(max_length=MAX_BLAMED)]
    at_ms: Number


class Behind(Part, frozen=True, kw_only=True):
    """A command, or the last of several of which one is meant, from `first` on.

    A command of 0 is not known; nor is who pressed Return, if there is no trigger.
    """

    command: Number
    first: Number
    trigger: ActorOrNobody
    authors: Annotated[tuple[Actor, ...], Meta(max_length=MAX_AUTHORS)]
    line: Annotated[str, Meta(max_length=MAX_BLAMED_LINE)]
    at_ms: Number


class Stretch(Part, frozen=True):
    """So many bytes of an unfinished line, and who typed them."""

    size: Number
    actor: Actor


class BlameReport(Part, frozen=True, kw_only=True):
    """Who is behind it.

    `standing` is `changed`, by the command that is `behind` it; `initial`, as it was
    when the shell began; `absent`, there is none; `none`, no command ran then; or
    `unknown`. `used` is the last command that has the word in its line. While
    the shell is `silent`, not at its prompt, the answer is from the last prompt.
    """

    standing: Word
    how: Annotated[str, Meta(max_length=MAX_TRACE)]
    digest: Annotated[bytes, Meta(max_length=MAX_TRACE, extra_json_schema=RAW)]
    behind: Behind | None
    used: Behind | None
    silent: bool
    staged: Annotated[bytes, Meta(max_length=MAX_STAGED, extra_json_schema=RAW)]
    by: Annotated[tuple[Stretch, ...], Meta(max_length=MAX_STRETCHES)]
    others: Annotated[tuple[Actor, ...], Meta(max_length=MAX_AUTHORS)]
    """Who else shaped the line."""

    edited: bool
    hidden: Number
