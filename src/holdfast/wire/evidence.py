"""Wire form of what a session is doing, and the evidence.

Specified in docs/spec/wire.md, section 4.8.
"""

from typing import Annotated, Final

from msgspec import Meta

from holdfast.wire.messages import Life, Name, Number, Part, Positive, Text, Word

MAX_SLEEPERS: Final = 16
"""Processes told of in EVIDENCE; a pipeline is shorter."""

MAX_REASONS: Final = 8
"""Sentences in EVIDENCE; three are the most that are given."""


class StateRequest(Part, frozen=True):
    """Asks for the session's state and its evidence."""


class Asleep(Part, frozen=True):
    """A process that has the terminal, and what it sleeps in."""

    pid: Positive
    name: Name
    state: Word
    where: Text


class Evidence(Part, frozen=True, kw_only=True):
    """What the session does, whether that is sure, why, and what was seen.

    `foreground` is the process group that has the terminal, 0 if none has. `program`
    is which program is idle or busy, and empty in every other state.
    """

    state: Word
    program: Name
    incarnation: Life
    sure: bool
    why: Annotated[tuple[Text, ...], Meta(max_length=MAX_REASONS)]
    foreground: Number
    echo: bool
    canonical: bool
    unread: Number
    sleepers: Annotated[tuple[Asleep, ...], Meta(max_length=MAX_SLEEPERS)]
