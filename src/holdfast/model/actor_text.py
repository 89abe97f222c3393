"""How an actor is shown to people: name, kind and fingerprint.

Apart from `actors`, because a client that attaches is told who is there before the rest
is loaded.
"""

from holdfast.model.text import shown_name

FINGERPRINT = 8
"""Letters of an id that are always shown beside the name."""


def fingerprint_of(actor: str) -> str:
    """Return the short form of the key that an id stands for."""
    return actor[2 : 2 + FINGERPRINT]


def shown_actor(actor: str, kind: str, name: str) -> str:
    """Return how an actor is shown to people, safe to print anywhere."""
    return f"{shown_name(name)} ({kind}, {fingerprint_of(actor)})"
