"""Requests to the host of this machine, which may not be running."""

import time
from pathlib import Path

from holdfast.linux import packets
from holdfast.linux.process_start import start_host
from holdfast.linux.stored import places
from holdfast.model.errors import HostDidNotStart
from holdfast.model.process_status import HostStatus
from holdfast.model.session_record import record_of
from holdfast.model.session_requests import End, Request, Status, packet_of
from holdfast.model.text import printable

PATIENCE = 5.0
"""Seconds for an answer."""

START_PATIENCE = 12.0
"""Seconds for a new host's first answer: a busy machine takes so long to load it."""

LOG_TAIL = 4096
"""Bytes of the host's log that are read for its last line."""

_STEP = 0.01


def request(asked: Request, patience: float = PATIENCE) -> packets.Packet | None:
    """Return the host's answer, or None if there is no host that answers.

    Raises:
        UsageError: The place for its socket is not ours.

    """
    try:
        with packets.connect(places.host_socket(), patience) as link:
            packets.send(link, packet_of(asked))
            heard = packets.receive(link)
    except OSError:
        return None
    return None if heard is None else heard[0]


def status() -> HostStatus | None:
    """Return how the host does, or None if there is no host that answers.

    Raises:
        UsageError: The place for its socket is not ours.

    """
    answer = request(Status())
    return None if answer is None else record_of(HostStatus, answer)


def start() -> HostStatus:
    """Start a host that belongs to nobody, and return its status when it answers.

    Raises:
        Unavailable: It does not answer; its log says why, if it says anything.

    """
    log = places.host_log()
    before = log.stat().st_size if log.exists() else 0
    start_host()
    try:
        return wait()
    except HostDidNotStart:
        if why := _last_line(log, before):
            raise HostDidNotStart(why) from None
        raise


def wait(*, other_than: float | None = None) -> HostStatus:
    """Return the status of a host that was not there before.

    `other_than` is how that one counted its time: a host that was replaced has
    the same pid, and began to count anew.

    Raises:
        Unavailable: None answers.

    """
    deadline = time.monotonic() + START_PATIENCE
    while time.monotonic() < deadline:
        found = status()
        if found is not None and found.began != other_than:
            return found
        time.sleep(_STEP)
    raise HostDidNotStart(f"no answer within {START_PATIENCE:.0f} s")


def _last_line(log: Path, start: int) -> str:
    """Return the last line that was written to a log since it was `start` bytes."""
    try:
        with log.open("rb") as file:
            file.seek(max(start, log.stat().st_size - LOG_TAIL))
            lines = file.read(LOG_TAIL).decode("utf-8", "replace").split("\n")
    except OSError:
        return ""
    said = [line.strip() for line in lines if line.strip()]
    return printable(said[-1].removeprefix("holdfast: "), 300) if said else ""


def end() -> bool:
    """End the host, and wait until it is gone; False if there was none.

    Raises:
        UsageError: The place for its socket is not ours.

    """
    if request(End()) is None:
        return False
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline and status() is not None:
        time.sleep(_STEP)
    return True
