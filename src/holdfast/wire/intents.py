"""Wire form of operators' statements: declared intents, and calls for attention.

An intent is put on record and decides nothing. The input it speaks of follows it, and
stands in the logbook after it, by the same actor. A call for attention is sent to
all clients as an EVENT (model.events), and is in the session's record until someone
types.
Specified in docs/spec/wire.md, section 4.4.
"""

from typing import Annotated, Final

import msgspec
from msgspec import Meta

from holdfast.model.expectations import MAX_TEXT as MAX_EXPECTS
from holdfast.model.expectations import Expectation, expectation_from
from holdfast.wire.messages import Part, Text, Word, fitting

MAX_INTENT: Final = 500
"""Characters that say why: a sentence, and not a speech."""

MAX_EFFECT: Final = 500
"""Characters that say what should come of it."""

MAX_PARAMETERS: Final = 2048
"""Characters that say what is done; the input itself has every byte of it."""


MAX_PROMPT: Final = 200
"""Characters that name the prompt behind it: a reference, and not the prompt."""

MAX_ATTEMPT: Final = 100
"""How often one act is tried at most."""


class Intend(Part, frozen=True, kw_only=True):
    """What I do next is this `act`, with these parameters, for this reason."""

    act: Word
    intent: Annotated[str, Meta(max_length=MAX_INTENT)]
    effect: Annotated[str, Meta(max_length=MAX_EFFECT)]
    parameters: Annotated[str, Meta(max_length=MAX_PARAMETERS)]
    prompt: Annotated[str, Meta(max_length=MAX_PROMPT)]
    expects: Annotated[str, Meta(max_length=MAX_EXPECTS)]
    idempotent: bool
    attempt: Annotated[int, Meta(ge=1, le=MAX_ATTEMPT)]

    def expected(self) -> Expectation | None:
        """Return what is expected in a form that can be compared; None if nothing is.

        Raises:
            UsageError: It is not valid.

        """
        return expectation_from(self.expects)


def attempted(said: Intend, attempt: int) -> Intend:
    """Return the same declaration, of another attempt."""
    return msgspec.structs.replace(
        said, idempotent=True, attempt=min(attempt, MAX_ATTEMPT)
    )


def again(command: str) -> Intend:
    """Return what is declared of an attempt if nothing was declared of the first."""
    return Intend(
        act="run",
        intent="the same again",
        effect="",
        parameters=fitting(command, MAX_PARAMETERS),
        prompt="",
        expects="",
        idempotent=True,
        attempt=1,
    )


class Notify(Part, frozen=True):
    """The session needs input, and this is why."""

    text: Text
