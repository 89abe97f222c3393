"""Wire form of what operators say: what they mean to do, and that they need somebody.

An intent is put on record and decides nothing. The input it speaks of follows it, and
stands in the logbook after it, by the same actor. A call for somebody is told to
everybody as an EVENT (model.events), and is in the session's record until somebody
types.
Specified in docs/spec/wire.md, section 4.4.
"""

from typing import Annotated, Final

from msgspec import Meta

from holdfast.wire.messages import Part, Text, Word

MAX_INTENT: Final = 500
"""Characters that say why: a sentence, and not a speech."""

MAX_EFFECT: Final = 500
"""Characters that say what should come of it."""

MAX_PARAMETERS: Final = 2048
"""Characters that say what is done; the input itself has every byte of it."""


class Intend(Part, frozen=True, kw_only=True):
    """What I do next is this `act`, with these parameters, for this reason."""

    act: Word
    intent: Annotated[str, Meta(max_length=MAX_INTENT)]
    effect: Annotated[str, Meta(max_length=MAX_EFFECT)]
    parameters: Annotated[str, Meta(max_length=MAX_PARAMETERS)]


class Notify(Part, frozen=True):
    """The session needs somebody's input, and this is what for."""

    text: Text
