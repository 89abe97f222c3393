"""What we are called, and which operator that is.

Apart from `acting`, because whoever starts a session needs no more than the id,
and is not to wait for everything that keys and proofs need.
"""

import json
import os
import pwd

from holdfast.linux.stored import folders
from holdfast.model.errors import UsageError
from holdfast.model.ids import ActorId, parse_actor_id
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


def our_id() -> ActorId:
    """Return who we are, making ourselves known if need be.

    Raises:
        UsageError: The name is none.
        PeerError: What is known of it is damaged.

    """
    path = f"{folders.operators_folder()}/{our_name()}/operator.json"
    try:
        return parse_actor_id(str(json.loads(_read(path))["actor"]))
    except (OSError, ValueError, KeyError, TypeError, UsageError):
        from holdfast.client.current_operator import ourselves  # noqa: PLC0415  # slow to load

        return ourselves().actor.id


def _read(path: str) -> bytes:
    with open(path, "rb") as file:  # noqa: PTH123  # pathlib is slow to load
        return file.read()
