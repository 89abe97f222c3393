"""Asks the keeper of this machine: one packet of JSON goes, one comes.

One connection for each request. An answer too large for a packet comes in several,
`more` true in all but the last. A keeper that hangs is replaced, and its clients find
the link cut: what means the same twice is asked again then.
"""

import errno
import json
import socket
import time
from collections.abc import Iterator

from holdfast.linux import early_requests, packets
from holdfast.linux.early_requests import EarlyRequest
from holdfast.linux.stored import folders
from holdfast.model import errors
from holdfast.model.session_record import Facts
from holdfast.model.session_requests import REPEATABLE, Creation, Request, packet_of

Gone = type[errors.NoKeeper] | type[errors.CreationUnknown]
"""What a link that breaks means: nothing was done, or perhaps it was."""

PATIENCE = 15.0
"""Seconds for an answer: longer than the keeper itself waits for a holder."""

ATTEMPTS = 3
PAUSE = 0.3
"""How often one keeper after the other is asked, and seconds until another listens."""

MAX_ANSWER = 1024 * 1024
"""Bytes we take in one packet; the kernel passes no larger one."""


def ask_keeper(
    request: Request, *, start: bool = False, patience: float = PATIENCE
) -> Facts:
    """Return the keeper's answer; a list comes whole. With `start`, have one started.

    Raises:
        Unavailable: There is no keeper, or it does not answer.
        Unsettled: It went away with a creation that it may have passed on.
        HoldfastError: The keeper refused, and why.

    """
    raw = json.dumps(packet_of(request)).encode()
    if len(raw) > packets.MAX_PACKET:
        raise errors.RequestTooLarge(len(raw))
    if isinstance(request, Creation) and (early := early_requests.take_creation()):
        return _answer_to(early, patience)
    gone = errors.CreationUnknown if isinstance(request, Creation) else errors.NoKeeper
    for left in reversed(range(ATTEMPTS)):
        try:
            return _ask(raw, gone, start=start, patience=patience)
        except errors.NoKeeper as error:
            is_cut = isinstance(error.__cause__, ConnectionResetError)
            if not left or not is_cut or not isinstance(request, REPEATABLE):
                raise
            time.sleep(PAUSE)
    raise AssertionError  # Not reached: the last attempt raises.


def keeper_answers(request: Request, *, patience: float) -> Iterator[Facts]:
    """Ask a keeper that runs, and yield its answers: all but the last have `more`.

    `patience` is how many seconds may pass between two of them.

    Raises:
        Unavailable: There is no keeper, or it does not answer.
        HoldfastError: The keeper refused, and why.

    """
    try:
        with packets.connect(folders.keeper_address(), patience) as link:
            link.send(json.dumps(packet_of(request)).encode())
            while (part := _part(link)).get("more"):
                yield part
            yield part
    except OSError as error:
        raise _gone(errors.NoKeeper, error, patience) from error


def _ask(raw: bytes, lost: Gone, *, start: bool, patience: float) -> Facts:
    gone: Gone = errors.NoKeeper  # Nothing that was not sent is unsettled.
    try:
        with _connect(start=start, patience=patience) as link:
            link.send(raw)
            gone = lost
            return _answer(link)
    except OSError as error:
        raise _gone(gone, error, patience) from error


def _answer_to(early: EarlyRequest, patience: float) -> Facts:
    """Return the answer to a creation that was asked for before we were loaded."""
    descriptor, came = early.release()
    try:
        with socket.socket(fileno=descriptor) as link:
            link.settimeout(patience)
            return _answer(link, came)
    except OSError as error:
        raise _gone(errors.CreationUnknown, error, patience) from error


def _gone(kind: Gone, error: OSError, patience: float) -> errors.HoldfastError:
    if isinstance(error, TimeoutError):
        return kind(f"no answer within {patience:g} s")
    return kind(error.strerror or "the connection broke")


def _connect(*, start: bool, patience: float) -> socket.socket:
    path = folders.keeper_address()
    try:
        return packets.connect(path, patience)
    except (FileNotFoundError, ConnectionRefusedError):
        if not start:
            raise
    from holdfast.linux.process_start import ensure_keeper  # noqa: PLC0415  # starts processes

    ensure_keeper()
    return packets.connect(path, patience)


def _answer(link: socket.socket, came: list[bytes] | None = None) -> Facts:
    """Return the whole answer; `came` are packets of it that were taken before."""
    listed: list[object] = []
    while (answer := whole(_part(link, came), listed)) is None:
        pass
    return answer


def whole(part: Facts, listed: list[object]) -> Facts | None:
    """Return an answer with all that it lists; None while more of that comes.

    `listed` is what came in earlier parts.
    """
    page = part.get("sessions")
    if not isinstance(page, list):
        return part
    listed += page
    return None if part.get("more") else {**part, "sessions": listed}


def _part(link: socket.socket, came: list[bytes] | None = None) -> Facts:
    raw = came.pop(0) if came else link.recv(MAX_ANSWER)
    if not raw:
        raise ConnectionResetError(errno.ECONNRESET, "it hung up")
    try:
        part = json.loads(raw)
    except ValueError:
        part = None
    if not isinstance(part, dict):
        raise errors.MalformedMessage("answer of the keeper", "it is not a JSON object")
    if not part.get("ok"):
        from holdfast.wire.host_requests import error_from  # noqa: PLC0415  # rarely needed

        raise error_from(part)
    return part
