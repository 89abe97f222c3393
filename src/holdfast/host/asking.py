"""How does the host ask the keeper?"""

import time

from holdfast.linux import packets, places

PATIENCE = 5.0
"""Seconds for an answer; whoever takes longer is asked again later."""


PAUSE = 0.5
"""Seconds in which another keeper listens."""

REPEATABLE = frozenset({"list", "status", "rename", "keep", "forget"})
"""What can be asked twice and means the same."""

CREATION_PATIENCE = 15.0
"""Seconds for a session to be made: longer than the keeper waits for a holder."""


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
