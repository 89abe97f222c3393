"""The sessions of all reachable hosts."""

from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

from holdfast.client import hosts
from holdfast.client.lost_sessions import listed_at
from holdfast.model.errors import HoldfastError
from holdfast.model.lost_record import LostRecord
from holdfast.model.session_record import SessionRecord

AT_ONCE = 8
"""Hosts asked at the same time: an unreachable one delays no other."""


class Elsewhere(NamedTuple):
    """What every known host says, and why some could not be asked."""

    sessions: list[SessionRecord]
    lost: list[LostRecord]
    away: dict[str, str]


def sessions_elsewhere() -> Elsewhere:
    """Return the sessions of every known host, and why some could not be asked."""
    found: list[SessionRecord] = []
    lost: list[LostRecord] = []
    away: dict[str, str] = {}
    known = hosts.known()
    with ThreadPoolExecutor(AT_ONCE) as together:
        for host, told in zip(known, together.map(_sessions, known), strict=True):
            if isinstance(told, HoldfastError):
                away[host.name] = str(told)
            else:
                found += told[0]
                lost += told[1]
    return Elsewhere(found, lost, away)


def _sessions(
    host: hosts.KnownHost,
) -> tuple[list[SessionRecord], list[LostRecord]] | HoldfastError:
    try:
        return listed_at(host.name, look=True)
    except HoldfastError as error:
        return error
