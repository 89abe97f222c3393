"""Operators who come with a session that another host brings.

Whom the session knows, it still knows here: its logbook says what each may do. To be
let in, an operator must be known to the host, too; so each is enrolled, with no right
but those over the sessions that it came with.
"""

import contextlib
import os

from holdfast.crypto.local_proof import TOKEN
from holdfast.linux.stored import operators, service_operators
from holdfast.linux.stored.parcels import Brought, Parcel
from holdfast.model.actors import ActorKind
from holdfast.model.envelopes import Envelope, rights_from
from holdfast.model.errors import HoldfastError, OperatorTaken
from holdfast.model.ids import SessionId, actor_id
from holdfast.model.text import checked_name

MAX_NAMESAKES = 100
"""Names tried for somebody whose name is taken."""


def enrol_brought(parcel: Parcel, by: str) -> int:
    """Make known who came with a session; return how many there are.

    One whose key has changed hands since, or who makes no sense, stays unknown.
    """
    count = 0
    for one in parcel.papers.operators:
        with contextlib.suppress(HoldfastError, ValueError):
            _enrol(one, parcel.manifest.session, by)
            count += 1
    return count


def _enrol(one: Brought, session: SessionId, by: str) -> None:
    rights = rights_from(one.rights)
    known = operators.by_key(one.key) or _new(one, by)
    if not known.is_at_home or known.promised is not None:
        operators.bring(known, session, rights)


def _new(one: Brought, by: str) -> operators.Enrolled:
    terms = operators.Terms("moved", Envelope(frozenset()))
    if one.actor != actor_id(one.key):
        raise OperatorTaken(one.name)  # Its first key is not the one it has now.
    name = checked_name(one.name)
    for number in range(1, MAX_NAMESAKES):
        wanted = name if number == 1 else f"{name}-{number}"
        if wanted in service_operators.NAMES:
            continue
        with contextlib.suppress(OperatorTaken):
            return operators.enrol(
                wanted, ActorKind(one.kind), one.key, None, os.urandom(TOKEN), terms, by
            )
    raise OperatorTaken(one.name)
