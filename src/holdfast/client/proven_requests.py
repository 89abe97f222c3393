"""Requests for a session in an operator's name, with what proves that.

The request is proven with the operator's token, as an attach is. A host elsewhere
knows by the channel who asks, and proves it to its own keeper.

A person's session gets the variables that the person has set. Anybody else who asks
gives only what says what its terminal can do, and what it was told to give: the rest
is what the host has set, and whatever is given beyond that is judged.
"""

import json
import os
import time

from holdfast.client.profile import our_id, own_file
from holdfast.model.ids import ENTROPY, ActorId, client_id
from holdfast.model.session_requests import Creation, ProvenChange

TRAVELLING = frozenset({"TERM", "COLORTERM", "LANG", "LC_ALL", "LC_CTYPE"})
"""Variables that say what this terminal can do, and so hold for anybody anywhere."""

OWN = "HOLDFAST_"
"""Variables that speak of the session we are in, and not of the new one."""

_HUMAN = "human"
"""As in model.actors, which is slow to load."""


def environment(*, is_personal: bool) -> dict[str, str]:
    """Return what of our own variables a new session is given."""
    return {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(OWN) and (is_personal or name in TRAVELLING)
    }


def made_here(asked: Creation) -> Creation:
    """Return a request for a session of this machine: our shell, our folder.

    Raises:
        UsageError: The present folder is gone.

    """
    try:
        folder = os.path.abspath(asked.cwd or ".")  # noqa: PTH100  # a path would resolve links
    except FileNotFoundError:
        from holdfast.model.errors import MalformedArgument  # noqa: PLC0415  # rarely needed

        why = "a folder: the present one is gone"
        raise MalformedArgument(asked.cwd or ".", why) from None
    shell = os.environ.get("SHELL") or "/bin/sh"
    return asked._replace(command=asked.command or (shell,), cwd=folder)


def proven(asked: Creation, actor: ActorId, token: bytes) -> Creation:
    """Return a request in the name of `actor`, with what proves that."""
    from holdfast.crypto.proof import proven_creation  # noqa: PLC0415  # slow to load

    client = asked.client or client_id(os.urandom(ENTROPY))
    whole = asked._replace(client=client, creator=actor, asked_ms=_now_ms())
    return proven_creation(whole, token)


def proven_by_us(asked: Creation) -> Creation:
    """Return a request in our own name.

    Raises:
        UsageError: The name is none.
        PeerError: What is known of it is damaged.

    """
    actor = our_id()  # Makes us known if need be.
    return proven(asked, actor, _token())


def change_proven(asked: ProvenChange, asker: str, token: bytes) -> ProvenChange:
    """Return a request about a session in somebody's name, with what proves that."""
    from holdfast.crypto.proof import proven_change  # noqa: PLC0415  # slow to load

    return proven_change(asked._replace(asker=asker, asked_ms=_now_ms()), token)


def change_proven_by_us(asked: ProvenChange) -> ProvenChange:
    """Return a request about a session in our own name.

    Raises:
        UsageError: The name is none.
        PeerError: What is known of it is damaged.

    """
    return change_proven(asked, our_id(), _token())


def are_we_a_person() -> bool:
    """Tell whether we act as a human.

    Raises:
        UsageError: The name is none.
        PeerError: What is known of it is damaged.

    """
    our_id()
    try:
        facts = json.loads(own_file("operator.json"))
    except (OSError, ValueError):
        facts = {}
    return isinstance(facts, dict) and facts.get("kind") == _HUMAN


def _token() -> bytes:
    try:
        return own_file("token")
    except OSError:
        from holdfast.client.current_operator import ourselves  # noqa: PLC0415  # slow to load

        return ourselves().token()


def _now_ms() -> int:
    return time.time_ns() // 1_000_000
