"""The name of this user. Apart from `profile`: every command begins with it."""

import os
import pwd

from holdfast.model.text import MAX_NAME, checked_name

VARIABLE = "HOLDFAST_AS"

_LETTERS = "abcdefghijklmnopqrstuvwxyz0123456789-_."


def login_name() -> str:
    """Return what the user's own operator is called."""
    found = pwd.getpwuid(os.getuid()).pw_name.lower()
    kept = "".join(letter for letter in found if letter in _LETTERS)
    return kept.lstrip("-_.")[:MAX_NAME] or f"user-{os.getuid()}"


def our_name() -> str:
    """Return what we are called.

    Raises:
        UsageError: It cannot be a name.

    """
    return checked_name(os.environ.get(VARIABLE) or login_name())
