"""The subject of a policy trial, and the policy it is judged by."""

import contextlib
from collections.abc import Callable, Iterator

from holdfast.core.input.rights import Rights
from holdfast.holder.links.attached_clients import Company
from holdfast.holder.policy.policy_in_force import Policing
from holdfast.linux.stored import operators
from holdfast.model.actors import Actor
from holdfast.model.envelopes import Envelope
from holdfast.model.errors import UnknownOperator
from holdfast.model.ids import ActorId


@contextlib.contextmanager
def supposing(
    policing: Policing,
    company: Company,
    rights: Rights,
    first_envelope: Callable[[Actor, Envelope | None], Envelope],
    wanted: ActorId,
    candidate: bytes | None,
) -> Iterator[Actor]:
    """Yield who `wanted` is, with the rights it has here or would be given.

    Raises:
        UsageError: Nobody knows such an operator, or the policy is not valid.

    """
    with contextlib.ExitStack() as stack:
        if candidate is not None:
            stack.enter_context(policing.supposing(candidate))
        actor = company.actor(wanted)
        if not company.knows(wanted):
            known = operators.by_actor(wanted)
            if known is None:
                raise UnknownOperator(wanted)
            actor = known.actor
            if rights.envelope_of(wanted) is None:
                given = first_envelope(actor, known.promised)
                stack.enter_context(rights.supposing(wanted, given))
        yield actor
