"""The operators as which this host acts by itself, such as the reaper.

Each is known by its name like any other, so that logbooks say who did what. It has the
rights that its work takes and no others, and no private key: nobody can come as it from
elsewhere.
"""

import contextlib
import os

from holdfast.crypto.keys import SEED, SigningKey
from holdfast.crypto.local_proof import TOKEN
from holdfast.linux.stored import operators
from holdfast.linux.stored.operators import Enrolled, Terms
from holdfast.model.actors import ActorKind
from holdfast.model.envelopes import Envelope, Right
from holdfast.model.errors import OperatorTaken, UnknownOperator

NAMES = frozenset({"checkpoints", "drain", "reaper"})
"""What they are called; nobody whom another host brings is given such a name."""

BY = "host"
"""Who wanted it, as the host's logbook has it."""


def service(name: str, *rights: Right) -> Enrolled:
    """Return the service of that name with these rights; make it known if it is not.

    Raises:
        UsageError: Another operator has its name, or it has other rights.
        Forbidden: Somebody has just made it unknown.
        Unavailable: The host's logbook cannot be written.

    """
    wanted = Envelope(frozenset(rights))
    found = operators.by_name(name)
    if found is None:
        key = SigningKey.from_seed(os.urandom(SEED))
        token, terms = os.urandom(TOKEN), Terms("", wanted)
        with contextlib.suppress(OperatorTaken):  # Somebody was faster.
            operators.enrol(name, ActorKind.SERVICE, key.public, None, token, terms, BY)
        found = operators.by_name(name)
    if found is None:
        raise UnknownOperator(name)
    if found.actor.kind is not ActorKind.SERVICE or found.promised != wanted:
        raise OperatorTaken(name)
    return found


def is_service(one: Enrolled) -> bool:
    """Tell whether an operator is one as which this host acts."""
    return one.terms is not None and not one.terms.invite
