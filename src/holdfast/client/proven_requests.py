"""How does an operator ask for a session, so that it is known who asks?

The request is proven with the operator's token, as an attach is. A host elsewhere
knows by the channel who asks, and proves it to its own keeper.

A person's session gets the variables that the person has set. Whoever else asks
gives only what says what its terminal can do, and what it was told to give: the rest
is what the host has set, and whatever is given beyond that is judged.
"""

import json
import os
import time
from collections.abc import Mapping

from holdfast.client.profile import our_id, our_name
from holdfast.crypto.proof import change_proof, creation_proof
from holdfast.linux.stored import folders
from holdfast.model.ids import ENTROPY, ActorId, client_id
from holdfast.wire.creation import change_bytes, proven_bytes

TRAVELLING = frozenset({"TERM", "COLORTERM", "LANG", "LC_ALL", "LC_CTYPE"})
"""Variables that say what this terminal can do, and so hold for anybody anywhere."""

OWN = "HOLDFAST_"
"""Variables that speak of the session we are in, and not of the new one."""

_HUMAN = "human"
"""As in model.actors, which is slow to load."""

Facts = dict[str, object]


def environment(*, is_personal: bool) -> dict[str, str]:
    """Return what of our own variables a new session is given."""
    return {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(OWN) and (is_personal or name in TRAVELLING)
    }


def proven(asked: Mapping[str, object], actor: ActorId, token: bytes) -> Facts:
    """Return a request in the name of `actor`, with what proves that."""
    now_ms = time.time_ns() // 1_000_000
    whole: Facts = {"client": client_id(os.urandom(ENTROPY)), **asked}
    whole |= {"creator": actor, "asked_ms": now_ms}
    return {**whole, "proof": creation_proof(token, proven_bytes(whole)).hex()}


def proven_by_us(asked: Mapping[str, object]) -> Facts:
    """Return a request in our own name.

    Raises:
        UsageError: The name is none.
        PeerError: What is known of it is damaged.

    """
    actor = our_id()  # Makes us known if need be.
    return proven(asked, actor, _token())


def are_we_a_person() -> bool:
    """Tell whether we act as a human.

    Raises:
        UsageError: The name is none.
        PeerError: What is known of it is damaged.

    """
    our_id()
    try:
        facts = json.loads(_read("operator.json"))
    except (OSError, ValueError):
        facts = {}
    return isinstance(facts, dict) and facts.get("kind") == _HUMAN


def _token() -> bytes:
    try:
        return _read("token")
    except OSError:
        from holdfast.client.current_operator import ourselves  # noqa: PLC0415  # slow to load

        return ourselves().token()


def _read(name: str) -> bytes:
    path = f"{folders.operators_folder()}/{our_name()}/{name}"
    with open(path, "rb") as file:  # noqa: PTH123  # pathlib is slow to load
        return file.read()


def change_proven(
    asked: Mapping[str, object], do: str, asker: str, token: bytes
) -> Facts:
    """Return a request about a session in somebody's name, with what proves that."""
    now_ms = time.time_ns() // 1_000_000
    whole: Facts = {**asked, "do": do, "asker": asker, "asked_ms": now_ms}
    return {**whole, "proof": change_proof(token, change_bytes(whole)).hex()}


def change_proven_by_us(asked: Mapping[str, object], do: str) -> Facts:
    """Return a request about a session in our own name.

    Raises:
        UsageError: The name is none.
        PeerError: What is known of it is damaged.

    """
    return change_proven(asked, do, our_id(), _token())
