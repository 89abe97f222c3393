"""Authenticates clients as they connect.

A client sends HELLO, gets the version and a nonce, and says who it is with a proof
over that nonce (crypto.proof). Until the proof is right it is served nothing. Names
and kinds come from what is known on this machine, never from what a client says about
itself.
"""

import os
import time

from holdfast.crypto.local_proof import NONCE, is_local_proof
from holdfast.crypto.proof import host_token, is_change_proof, is_creation_proof
from holdfast.holder.links.connection import Connection
from holdfast.linux import packets
from holdfast.linux.stored import operators
from holdfast.linux.stored.host_key import host_seed
from holdfast.linux.stored.recent_marks import recent_marks
from holdfast.model import errors
from holdfast.model.ids import ActorId, SessionId
from holdfast.version import __version__
from holdfast.wire import messages as wire
from holdfast.wire.codec import Message
from holdfast.wire.creation import (
    HOST,
    MAX_AGE_MS,
    change_bytes,
    proven_bytes,
    recovery_bytes,
)
from holdfast.wire.versions import SPOKEN, choose

PROOFS = "spent-proofs"
"""Where it stands which proofs of starts were used."""


def greet(connection: Connection, hello: wire.Hello) -> None:
    """Answer a HELLO, and ask who it is.

    Raises:
        PeerError: There is no version that both speak.

    """
    version = choose(SPOKEN, hello.versions)
    connection.is_welcome, connection.program = True, hello.client
    connection.nonce = os.urandom(NONCE)
    connection.send(wire.Welcome(version, __version__))
    connection.send(wire.Challenge(connection.nonce))


def identify(
    connection: Connection, session: SessionId, claim: wire.Identify
) -> operators.Enrolled:
    """Return who a client is.

    Raises:
        Forbidden: Nobody here knows them, or the proof is wrong.

    """
    nonce, connection.nonce = connection.nonce, b""
    known = operators.by_actor(claim.actor)
    if known is None:
        raise errors.UnknownOperator(claim.actor)
    if not nonce or not is_local_proof(known.token(), session, nonce, claim.proof):
        # A nonce is good for one attempt: guessing costs a connection each.
        raise errors.NotProven(claim.actor)
    return known


def creator_of(packet: packets.Packet) -> operators.Enrolled:
    """Return who asks for a session; without a proof that is nobody.

    Raises:
        Forbidden: Nobody here knows them, or the proof is wrong, missing, old or
            was used before.
        OSError: It cannot be written down that it is used now.

    """
    claimed = str(packet.get("creator") or "")
    known = operators.by_actor(ActorId(claimed))
    if known is None:
        raise errors.UnknownOperator(claimed) if claimed else errors.NotProven("")
    proof, proven = _proof_in(packet), _asked_in(packet)
    if not _is_new(packet) or not is_creation_proof(known.token(), proven, proof):
        raise errors.NotProven(claimed)
    now_ms = time.time_ns() // 1_000_000
    with recent_marks(PROOFS, now_ms) as spent:
        if spent.untils(proof):
            raise errors.NotProven(claimed)
        # A clock may have been ahead when it was made: it is good for longer then.
        spent.add(proof, now_ms + 2 * MAX_AGE_MS)
    return known


def asker_of(packet: packets.Packet) -> operators.Enrolled | None:
    """Return who asks for a change of the session; None if it is the host itself.

    Raises:
        Forbidden: Nobody here knows them, or the proof is wrong, missing or old.

    """
    claimed = str(packet.get("asker") or "")
    known = operators.by_actor(ActorId(claimed))
    if claimed == HOST:
        token = host_token(host_seed())
    elif known is not None:
        token = known.token()
    else:
        raise errors.UnknownOperator(claimed) if claimed else errors.NotProven("")
    proof = _proof_in(packet)
    if not _is_new(packet) or not is_change_proof(token, change_bytes(packet), proof):
        raise errors.NotProven(claimed)
    return known


def _asked_in(packet: packets.Packet) -> bytes:
    """Return what must be proven of a request: by what is done, not by what it says."""
    if packet.get("recover") is not True:
        return proven_bytes(packet)
    # The session is the one that was named, whatever the keeper would have.
    return recovery_bytes({**packet, "recovers": packet.get("id")})


def _proof_in(packet: packets.Packet) -> bytes:
    try:
        return bytes.fromhex(str(packet.get("proof") or ""))
    except ValueError:
        return b""


def _is_new(packet: packets.Packet) -> bool:
    asked_ms, now_ms = packet.get("asked_ms"), time.time_ns() // 1_000_000
    return isinstance(asked_ms, int) and abs(now_ms - asked_ms) <= MAX_AGE_MS


def demand_manners(connection: Connection, message: Message) -> None:
    """Do nothing if the client may say this, as far as it has come.

    Raises:
        PeerError: It has not said hello, or not who it is.

    """
    kind = type(message).__name__
    match message:
        case wire.Hello():
            return
        case _ if not connection.is_welcome:
            raise errors.UnexpectedMessage(kind, "HELLO has not come")
        case wire.Ping() | wire.Identify():
            return
        case _ if connection.actor is None:
            raise errors.UnexpectedMessage(kind, "IDENTIFY has not come")
        case _:
            return
