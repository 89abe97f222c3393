"""How does the host ask the keeper?"""

import time

from holdfast.crypto.proof import change_proof, host_token
from holdfast.linux import packets
from holdfast.linux.stored import places
from holdfast.linux.stored.host_key import host_seed
from holdfast.wire.creation import HOST, change_bytes

PATIENCE = 5.0
"""Seconds for an answer; whoever takes longer is asked again later."""


PAUSE = 0.5
"""Seconds in which another keeper listens."""

REPEATABLE = frozenset({"list", "status", "rename", "keep", "forget"})
"""What can be asked twice and means the same."""

CREATION_PATIENCE = 15.0
"""Seconds for a session to be made: longer than the keeper waits for a holder."""


def vouched(packet: packets.Packet) -> packets.Packet:
    """Return a request about a session with the host's own proof.

    Whether the operator who wants it may is the host's to find out before.
    """
    whole: packets.Packet = {
        **packet,
        "asker": HOST,
        "asked_ms": time.time_ns() // 1_000_000,
    }
    proof = change_proof(host_token(host_seed()), change_bytes(whole))
    return {**whole, "proof": proof.hex()}


def ask(packet: packets.Packet, patience: float = PATIENCE) -> packets.Packet:
    """Return the keeper's answer; a list comes whole.

    Raises:
        OSError: There is no keeper, or it does not answer.

    """
    try:
        return _ask(packet, patience)
    except ConnectionError:
        # One that hung was replaced while we waited; what is made is not asked twice.
        if packet.get("do") not in REPEATABLE:
            raise
    time.sleep(PAUSE)
    return _ask(packet, patience)


def _ask(packet: packets.Packet, patience: float) -> packets.Packet:
    gathered: list[object] = []
    with packets.connect(places.keeper_socket(), patience) as link:
        packets.send(link, packet)
        while True:
            heard = packets.receive(link)
            if heard is None:
                raise ConnectionResetError("the keeper hung up")
            answer = heard[0]
            listed = answer.get("sessions")
            if not isinstance(listed, list):
                return answer
            gathered += listed
            if not answer.get("more"):
                return {**answer, "sessions": gathered}
