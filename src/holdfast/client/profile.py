"""The user's name, and the operator it stands for.

Apart from `acting`, because a program that starts a session needs no more than the id,
and is not to wait for everything that keys and proofs need.
"""

from holdfast.client.own_name import our_name
from holdfast.linux.stored import folders
from holdfast.model.ids import ActorId, is_actor_id
from holdfast.wire import plain_json


def our_id() -> ActorId:
    """Return who we are, making ourselves known if need be.

    Raises:
        UsageError: The name is none.
        PeerError: What is known of it is damaged.

    """
    facts = own_facts()
    found = str(facts.get("actor"))
    if is_actor_id(found):
        return ActorId(found)
    from holdfast.client.current_operator import ourselves  # noqa: PLC0415  # slow to load

    return ourselves().actor.id


def own_facts() -> dict[str, object]:
    """Return what is written down about us; nothing if that is damaged or missing.

    Raises:
        UsageError: Our name is none.

    """
    try:
        facts = plain_json.loads(own_file("operator.json"))
    except (OSError, ValueError, RecursionError):
        facts = None
    return facts if isinstance(facts, dict) else {}


def own_file(name: str) -> bytes:
    """Return what a file of our own folder holds.

    Raises:
        OSError: There is no such file.
        UsageError: Our name is none.

    """
    path = f"{folders.operators_folder()}/{our_name()}/{name}"
    with open(path, "rb") as file:  # noqa: PTH123  # pathlib is slow to load
        return file.read()
