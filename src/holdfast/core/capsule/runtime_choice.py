"""Whether a session is a capsule.

Theory of operation
-------------------
Who asks for a session may say how it is to run, and the policy may say of a kind of
actor that its sessions are capsules. Where neither says anything, a person's session
is plain, as the person's other programs are; any other operator's is a capsule where
the machine lets us make one.

Invariants, checked by tests/core/capsule/test_runtime_choice.py:

I1  What the policy requires is never left out, whatever the machine can do.
I2  A requested runtime is used or refused, never replaced.
"""

from collections.abc import Mapping
from enum import StrEnum
from typing import NamedTuple

from holdfast.model.actors import ActorKind
from holdfast.model.errors import DeniedByPolicy, MalformedArgument
from holdfast.model.session_record import CAPSULE, PLAIN

RULE = "runtime"
"""What is named where the policy refuses a plain session."""

NETS = ("", "host", "own")
FILES = ("", "shared", "own")


class Runtime(StrEnum):
    """How a kind of actor's sessions run."""

    PLAIN = PLAIN
    CAPSULE = CAPSULE


class Wish(NamedTuple):
    """The requested runtime; empty for the default."""

    runtime: str = ""
    net: str = ""
    files: str = ""


class Choice(NamedTuple):
    """What a session gets."""

    is_capsule: bool
    is_required: bool = True
    """Whether it does not start where there can be no capsule."""


def choose(
    kind: ActorKind, wish: Wish, required: Mapping[ActorKind, Runtime]
) -> Choice:
    """Return how a session runs that an actor of this kind asks for.

    Raises:
        UsageError: There is no such runtime or network, or no such files.
        Forbidden: The policy does not let it be plain.

    """
    asked = wish.runtime
    if asked not in ("", *Runtime):
        raise MalformedArgument(asked, "runtime: plain or capsule")
    if wish.net not in NETS:
        raise MalformedArgument(wish.net, "network: host or own")
    if wish.files not in FILES or (wish.files == "own" and asked == PLAIN):
        raise MalformedArgument(wish.files, "files: shared, or own in a capsule")
    said = required.get(kind)
    if asked == PLAIN and said is Runtime.CAPSULE:
        raise DeniedByPolicy(RULE, f"sessions of {kind}s are capsules here")
    if asked == CAPSULE or said is Runtime.CAPSULE or wish.files == "own":
        return Choice(is_capsule=True)
    is_free = kind is ActorKind.HUMAN or said is Runtime.PLAIN or asked == PLAIN
    return Choice(is_capsule=not is_free, is_required=False)
