"""The operator that this program acts as.

As the operator named by `--as` or HOLDFAST_AS; otherwise as the one who is called
like the user who is logged in. An operator not known yet is made known: the login
user as a human, anybody else as an agent, because what nobody vouched for must
not be taken for a person.
"""

import os
from contextlib import AbstractContextManager

from holdfast.client import session_location
from holdfast.client.own_name import acting, login_name, our_name
from holdfast.core.client.signing import Pen
from holdfast.crypto.local_proof import TOKEN
from holdfast.linux.stored import operators
from holdfast.linux.stored.operators import Enrolled
from holdfast.model.actors import ActorKind
from holdfast.model.errors import HoldfastError, OperatorTaken, UnknownOperator
from holdfast.model.ids import ActorId
from holdfast.wire.signatures import MAX_ROTATIONS, ROTATION


def ourselves() -> Enrolled:
    """Return the operator that this process acts as, making it known if need be.

    Raises:
        UsageError: The name is none.
        PeerError: What is known of it is damaged.

    """
    return acting_as(our_name())


def in_name_of(us: Enrolled) -> AbstractContextManager[None]:
    """Act as this operator in there, whoever the process acts as."""
    return acting(us.actor.name)


def our_pen(session: str) -> Pen | None:
    """Return what we sign our inputs to a session with; None if we have no key here.

    Slow the first time: send first.
    """
    us = ourselves()
    return pen_of(us, session_location.actor_at(session, us.actor.id))


def pen_of(us: Enrolled, actor: ActorId) -> Pen | None:
    """Return what we sign with; None if our key is not here.

    The library that signs is slow to load: send first, and ask for this then.
    """
    from holdfast.crypto.keys import SigningKey  # noqa: PLC0415  # slow to load

    try:
        rotations = us.rotation_statements()
        key = SigningKey.from_seed(us.seed())
    except (HoldfastError, OSError):
        return None
    return Pen(key, actor, rotations[-ROTATION * MAX_ROTATIONS :])


def acting_as(name: str) -> Enrolled:
    """Return the operator of that name, making it known if need be.

    Raises:
        UsageError: The name is none.
        PeerError: What is known of it is damaged.

    """
    found = operators.by_name(name)
    if found is not None:
        return found
    kind = ActorKind.HUMAN if name == login_name() else ActorKind.AGENT
    return enrol(name, kind)


def enrol(name: str, kind: ActorKind, by: str = "") -> Enrolled:
    """Make an operator with its own key, unless it was just made.

    `by` is who wants it; empty if it is the operator itself.

    Raises:
        UsageError: The name is none.

    """
    # Loaded here alone: a key is made once, and the library is slow to load.
    from holdfast.crypto.keys import SEED, SigningKey  # noqa: PLC0415

    seed = os.urandom(SEED)
    key = SigningKey.from_seed(seed)
    try:
        token = os.urandom(TOKEN)
        return operators.enrol(name, kind, key.public, seed, token, by=by)
    except OperatorTaken:
        found = operators.by_name(name)
        if found is None:
            raise UnknownOperator(name) from None
        return found
