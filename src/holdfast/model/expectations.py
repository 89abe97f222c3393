"""What an operator expects of a command, in a form that can be compared.

A sentence about an expected effect is for people, and nothing can be compared with it.
An Expectation is whole: whatever it does not name is not expected to happen. So the
empty one says that nothing is changed, nothing is left running, nothing is opened,
and that the command succeeds.

Patterns of files begin at the folder that the shell works in: `*` stands for any
characters, slashes included, and `?` for one. `build` is also everything in it.
"""

from typing import Annotated, Final

import msgspec
from msgspec import Meta

from holdfast.model.errors import MalformedArgument

MAX_EXPECTED: Final = 16
"""Patterns, ports or programs of one expectation: who expects more says nothing."""

MAX_PATTERN: Final = 128
"""Characters of a pattern, or of the name of a program."""

MAX_TEXT: Final = 2048
"""Characters of an expectation, as it is written down."""

_MAX_PORT = 65535
_MAX_STATUS = 255
_Pattern = Annotated[str, Meta(min_length=1, max_length=MAX_PATTERN)]
_Port = Annotated[int, Meta(ge=1, le=_MAX_PORT)]
_Status = Annotated[int, Meta(ge=0, le=_MAX_STATUS)]


class Expectation(
    msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True
):
    """Everything that a command is expected to do, beyond what it prints."""

    files: Annotated[tuple[_Pattern, ...], Meta(max_length=MAX_EXPECTED)] = ()
    """Patterns for what it makes, changes or deletes."""

    ports: Annotated[tuple[_Port, ...], Meta(max_length=MAX_EXPECTED)] = ()
    """Where something listens afterwards that did not before."""

    processes: Annotated[tuple[_Pattern, ...], Meta(max_length=MAX_EXPECTED)] = ()
    """Names of the programs that are left running."""

    status: _Status | None = 0
    """How it ends; None for any way."""

    def to_text(self) -> str:
        """Return it as it is written down."""
        return msgspec.json.encode(self).decode()


def expectation_from(text: str) -> Expectation | None:
    """Read what `to_text` has written; None of an empty text, which says nothing.

    Raises:
        UsageError: It is not valid.

    """
    if not text:
        return None
    try:
        found = msgspec.json.decode(text.encode(), type=Expectation)
    except (msgspec.MsgspecError, RecursionError) as error:
        raise MalformedArgument("expects", f"{error}") from None
    if len(text) > MAX_TEXT:
        raise MalformedArgument("expects", f"at most {MAX_TEXT} characters")
    for pattern in (*found.files, *found.processes):
        if _is_faulty(pattern):
            raise MalformedArgument(pattern, "a pattern for a path below the folder")
    return found


def _is_faulty(pattern: str) -> bool:
    parts = pattern.split("/")
    return not pattern.isprintable() or "\\" in pattern or ".." in parts or not parts[0]
