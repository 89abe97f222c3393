"""Requests to the keeper before the rest of the client is loaded.

One packet goes, and packets come, as in `keeper_requests`. What can be asked twice is
asked again there if something is unusual about the answer. A creation is not:
`keeper_requests` is given the link and what came on it, and goes on waiting where this
has stopped.
"""

import _socket

from holdfast.linux.stored import folders
from holdfast.wire import plain_json
from holdfast.wire.first_messages import PATIENCE, NotOneOfThese, received

MAX_REQUEST = 64 * 1024
"""Bytes in a packet; as in linux.packets."""

MAX_ANSWER = 1024 * 1024
"""Bytes taken in one packet."""

Facts = dict[str, object]


class EarlyRequest:
    """One request, and the packets that came."""

    def __init__(self, raw: bytes) -> None:
        """Send it.

        Raises:
            NotOneOfThese: It is too large. Nothing was sent.
            OSError: There is no keeper. Nothing was sent, or it has died.
            HoldfastError: Its place is not ours. Nothing was sent.

        """
        if len(raw) > MAX_REQUEST:
            raise NotOneOfThese
        self._came: list[bytes] = []
        self._link = _socket.socket(_socket.AF_UNIX, _socket.SOCK_SEQPACKET)
        self._link.settimeout(PATIENCE)
        try:
            self._link.connect(folders.keeper_address())
            self._link.send(raw)
        except BaseException:
            self._link.close()
            raise

    def answer(self) -> Facts:
        """Return what the next packet says.

        Raises:
            NotOneOfThese: It says no, or nothing in time.

        """
        raw = received(self._link.recv, MAX_ANSWER)
        self._came.append(raw)
        try:
            said = plain_json.loads(raw)
        except (ValueError, RecursionError):
            said = None
        if not isinstance(said, dict) or said.get("ok") is not True:
            raise NotOneOfThese
        return said

    def release(self) -> tuple[int, list[bytes]]:
        """Return the descriptor of the link, and all that came; they are yours now."""
        return self._link.detach(), self._came

    def close(self) -> None:
        """Hang up."""
        self._link.close()


_creations: list[EarlyRequest] = []


def create(packet: Facts) -> Facts:
    """Create a session; return the answer, which `keeper_requests` gets again.

    Raises:
        NotOneOfThese: There is something unusual about it.
        OSError: There is no keeper.
        HoldfastError: Its place is not ours.

    """
    request = EarlyRequest(plain_json.dumps(packet).encode())
    _creations[:] = [request]
    return request.answer()


def take_creation() -> EarlyRequest | None:
    """Return the creation that was asked for, for the code that goes on with it."""
    return _creations.pop() if _creations else None


def listed(*, look: bool = True) -> list[object]:
    """Return the facts of every session, with what each does now or without.

    Raises:
        NotOneOfThese: There is something unusual about the answer.
        OSError: There is no keeper.
        HoldfastError: Its place is not ours.

    """
    request = EarlyRequest(plain_json.dumps({"do": "list", "look": look}).encode())
    found: list[object] = []
    try:
        while True:
            match request.answer():
                case {"sessions": list(some), **rest}:
                    found += some
                    if not rest.get("more"):
                        return found
                case _:
                    raise NotOneOfThese
    finally:
        request.close()
