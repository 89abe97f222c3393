"""The name of this user. Apart from `profile`: every command begins with it."""

import os
from contextvars import ContextVar, Token

from holdfast.linux import login
from holdfast.model.text import MAX_NAME, checked_name

VARIABLE = "HOLDFAST_AS"

_acting: ContextVar[str] = ContextVar("acting", default="")

_LETTERS = "abcdefghijklmnopqrstuvwxyz0123456789-_."


def login_name() -> str:
    """Return what the user's own operator is called."""
    kept = "".join(one for one in login.name().lower() if one in _LETTERS)
    return kept.lstrip("-_.")[:MAX_NAME] or f"user-{os.getuid()}"


def our_name() -> str:
    """Return what we are called.

    Raises:
        UsageError: It cannot be a name.

    """
    return checked_name(_acting.get() or os.environ.get(VARIABLE) or login_name())


class acting:  # noqa: N801  # used like a function
    """Be called so in here, whatever others in this process are called."""

    # A class: contextlib is slow to load, and every command begins with this.

    def __init__(self, name: str) -> None:
        self._name = name
        self._before: Token[str]

    def __enter__(self) -> None:
        self._before = _acting.set(self._name)

    def __exit__(self, *_: object) -> None:
        _acting.reset(self._before)
