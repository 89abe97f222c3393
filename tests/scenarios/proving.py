"""Requests for sessions, in somebody's name."""

from holdfast.client import acting, creating
from holdfast.linux import operators, packets
from holdfast.model.ids import ActorId


def proven(asked: packets.Packet) -> packets.Packet:
    """Return a request for a session with a proof of its creator, or of ourselves.

    Whatever else is asked is left alone, and so is what was proven.
    """
    if asked.get("do") != "create" or "proof" in asked:
        return asked
    creator = str(asked.get("creator") or "")
    us = operators.by_actor(ActorId(creator)) if creator else acting.ourselves()
    assert us is not None, creator
    return creating.proven(asked, us.actor.id, us.token())
