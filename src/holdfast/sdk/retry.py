"""Repeats a command that failed, if its caller declared it idempotent.

Each attempt has a key of its own, made of the command's: so every attempt happens at
most once, whoever repeats the call, and from however many processes. What was refused,
goes on or waits for somebody is not repeated.
"""

import secrets
from collections.abc import Awaitable, Callable

from holdfast.model import errors
from holdfast.sdk.values import CommandResult

MAX_RETRIES = 10
"""Repeats of one command."""

UNKNOWN = (errors.OutcomeUnknown, errors.StaleIncarnation, errors.EndUnknown)
"""What happened to it is not known: it may have been done, or not."""

Once = Callable[[str | None, int], Awaitable[CommandResult]]
"""Runs it with a key, as its n-th attempt."""


def check_retries(retries: int, *, idempotent: bool) -> None:
    """Do nothing if a command may be repeated so often.

    Raises:
        UsageError: It may not.

    """
    if retries and not idempotent:
        raise errors.MalformedArgument("retries", "allowed unless it is idempotent")
    if not 0 <= retries <= MAX_RETRIES:
        wanted = f"a number of repeats from 0 to {MAX_RETRIES}"
        raise errors.MalformedArgument(str(retries), wanted)


def key_of(key: str, attempt: int) -> str:
    """Return the key of an attempt, counted from 1."""
    return key if attempt == 1 else f"{key}#{attempt}"


async def with_retries(once: Once, key: str | None, retries: int) -> CommandResult:
    """Run it until it succeeds, at most so many times more; return the last result.

    Raises:
        HoldfastError: As the last attempt did.

    """
    if not retries:
        return await once(key, 1)
    own = key or secrets.token_hex(16)
    for attempt in range(1, retries + 1):
        try:
            result = await once(key_of(own, attempt), attempt)
        except UNKNOWN:
            continue
        if not result.status:
            return result
    return await once(key_of(own, retries + 1), retries + 1)
