"""Whether a secret may be typed now, and a terminal takes it.

A secret travels as an answer, which the holder takes only while a program waits and
the terminal does not show what is typed. It is asked here first, so that no secret
leaves us that would be refused.
"""

import re

from holdfast.model import errors
from holdfast.model.text import printable
from holdfast.wire.evidence import Evidence

MAX_SECRET = 4094
"""Bytes of a secret: with Enter, as many as a terminal takes in one line."""

SECRET = "waiting-for-secret"  # noqa: S105  # a state, and no secret
TAKES_KEYS = frozenset({"waiting-for-input", "idle", "busy"})
"""States in which a program may ask for a secret key by key; the holder knows."""

_CONTROL = re.compile(rb"[\x00-\x1f\x7f]")


def demand_secrecy(seen: Evidence, *, key_by_key: bool) -> None:
    """Do nothing if a secret typed now would stay one.

    Raises:
        Unavailable: Nobody waits for one, or it would be shown.

    """
    if seen.state == SECRET:
        return
    if seen.state not in TAKES_KEYS:
        raise errors.NotWaiting(printable(seen.state))
    if seen.echo:
        raise errors.WouldBeShown("the terminal shows what is typed")
    if not key_by_key:
        why = "the program reads key by key, and may show them; --key-by-key if not"
        raise errors.WouldBeShown(why)


def checked(secret: bytes) -> bytes:
    """Return a secret that a terminal takes as one line and nothing else.

    Raises:
        UsageError: It is too long, or has a character that is a key.

    """
    if len(secret) > MAX_SECRET:
        raise errors.LineTooLong(len(secret), MAX_SECRET)
    if _CONTROL.search(secret):
        raise errors.MalformedArgument(
            "…", "an answer: a control character in it is a key"
        )
    return secret
