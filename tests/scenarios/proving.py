"""Requests for sessions, in somebody's name."""

from holdfast.client import current_operator, proven_requests
from holdfast.linux import packets
from holdfast.linux.stored import operators
from holdfast.model.ids import ActorId
from holdfast.wire.creation import CHANGING


def proven(asked: packets.Packet) -> packets.Packet:
    """Return a request for a session with a proof of its creator, or of ourselves.

    Whatever else is asked is left alone, and so is what was proven.
    """
    if asked.get("do") in CHANGING and "proof" not in asked:
        us = current_operator.ourselves()
        return proven_requests.change_proven(
            asked, str(asked["do"]), us.actor.id, us.token()
        )
    if asked.get("do") != "create" or "proof" in asked:
        return asked
    creator = str(asked.get("creator") or "")
    known = (
        operators.by_actor(ActorId(creator))
        if creator
        else current_operator.ourselves()
    )
    assert known is not None, creator
    return proven_requests.proven(asked, known.actor.id, known.token())
