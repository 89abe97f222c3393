"""The sessions of all hosts that we can reach."""

from concurrent.futures import ThreadPoolExecutor

from holdfast.client import hosts, keeper
from holdfast.model.errors import HoldfastError
from holdfast.model.session_record import SessionRecord

AT_ONCE = 8
"""Hosts asked at the same time: an unreachable one delays no other."""


def sessions_elsewhere() -> tuple[list[SessionRecord], dict[str, str]]:
    """Return the sessions of every known host, and why some could not be asked."""
    found: list[SessionRecord] = []
    away: dict[str, str] = {}
    known = hosts.known()
    with ThreadPoolExecutor(AT_ONCE) as together:
        for host, told in zip(known, together.map(_sessions, known), strict=True):
            if isinstance(told, HoldfastError):
                away[host.name] = str(told)
            else:
                found += told
    return found, away


def _sessions(host: hosts.KnownHost) -> list[SessionRecord] | HoldfastError:
    try:
        return keeper.sessions(host=host.name, look=True)
    except HoldfastError as error:
        return error
