"""Requests for sessions, in somebody's name: packets, so that they can be wrong."""

import os
import time

from holdfast.client import current_operator
from holdfast.crypto.proof import change_proof, creation_proof
from holdfast.linux import packets
from holdfast.linux.stored import operators
from holdfast.model.ids import ENTROPY, ActorId, client_id
from holdfast.wire.creation import change_bytes, proven_bytes, recovery_bytes


def proven(asked: packets.Packet) -> packets.Packet:
    """Return a request for a session with a proof of its creator, or of ourselves.

    Whatever else is asked is left alone, and so is what was proven.
    """
    if asked.get("do") in ("rename", "keep", "forget") and "proof" not in asked:
        us = current_operator.ourselves()
        return change_proven(asked, us.actor.id, us.token())
    if asked.get("do") != "create" or "proof" in asked:
        return asked
    creator = str(asked.get("creator") or "")
    known = (
        operators.by_actor(ActorId(creator))
        if creator
        else current_operator.ourselves()
    )
    assert known is not None, creator
    return creation_proven(asked, known.actor.id, known.token())


def creation_proven(
    asked: packets.Packet, creator: str, token: bytes
) -> packets.Packet:
    """Return a request for a session with a creator's proof."""
    whole = {"client": client_id(os.urandom(ENTROPY)), **asked}
    whole |= {"creator": creator, "asked_ms": time.time_ns() // 1_000_000}
    written = recovery_bytes(whole) if "recovers" in whole else proven_bytes(whole)
    return {**whole, "proof": creation_proof(token, written).hex()}


def change_proven(asked: packets.Packet, asker: str, token: bytes) -> packets.Packet:
    """Return a request about a session with an asker's proof."""
    whole = {**asked, "asker": asker, "asked_ms": time.time_ns() // 1_000_000}
    return {**whole, "proof": change_proof(token, change_bytes(whole)).hex()}
