"""Where a session is, here or elsewhere, and the way to it.

The one place that knows. A session that was found by an address HOST/NAME is at
home at that host; every other one is here. What leads there is a socket in either
case: the holder's own, or one end of a channel that a thread keeps. Whatever has
to do with channels is loaded when the first of them is needed.
"""

import contextlib
import socket

from holdfast.model.errors import (
    HoldfastError,
    HostUnreachable,
    LinkEnded,
    SessionUnreachable,
)
from holdfast.model.ids import ActorId, SessionId
from holdfast.model.session_record import Facts
from holdfast.model.session_requests import Request

FARTHER = 5.0
"""So many times longer is waited for a session elsewhere: its host has to be found
first, and everything takes round trips."""

ASKING = 30.0
"""Seconds for a question to a host, with everything on the way to it."""

_homes: dict[str, str] = {}
_ends: dict[str, str] = {}


def settle(session: str, host: str) -> None:
    """Note that a session was found at a host."""
    _homes[session] = host


def home_of(session: str) -> str:
    """Return what we call the host of a session; empty if that is here."""
    return _homes.get(session, "")


def link_ended(host: str, why: str) -> None:
    """Note why a relay took leave on a link to a host that was opened early."""
    _ends[host] = why


def last_end(host: str) -> str:
    """Return why a relay last did so, once; empty if it gave no reason."""
    return _ends.pop(host, "")


def visited() -> frozenset[str]:
    """Return the hosts elsewhere whose sessions were looked for."""
    return frozenset(_homes.values())


def actor_at(session: str, us: ActorId) -> ActorId:
    """Return the id by which the host of a session knows one of our operators."""
    if not (home := home_of(session)):
        return us
    from holdfast.client import hosts  # noqa: PLC0415  # rarely needed

    return hosts.by_name(home).actor_of(us)


def patience_for(session: str, near: float) -> float:
    """Return how many seconds to wait where `near` is enough on this machine."""
    return near * FARTHER if home_of(session) else near


def dial_far(session: SessionId, patience: float) -> socket.socket:
    """Return a socket that leads to the holder of a session elsewhere.

    Raises:
        Forbidden: The host does not let us in.
        Unavailable: It cannot be reached within `patience` seconds.

    """
    from holdfast.client import hosts, remote  # noqa: PLC0415  # only who leaves here

    try:
        host = hosts.by_name(home_of(session))
        return remote.open_session(host, session, patience)
    except (HostUnreachable, LinkEnded) as error:
        raise SessionUnreachable(session, str(error)) from error


def expect_far(address: str) -> None:
    """Begin to reach the host of an address HOST/NAME, if it is one, and go on.

    Whatever is wrong with it is said when something is asked of it.
    """
    host, _, name = address.partition("/")
    if not (host and name):
        return
    from holdfast.client import hosts, remote  # noqa: PLC0415  # only who leaves here

    with contextlib.suppress(HoldfastError, OSError):
        remote.expect(hosts.by_name(host))


def ask_far(host: str, asked: Request, patience: float = ASKING) -> Facts:
    """Ask a host elsewhere something, and return its answer.

    Raises:
        UsageError: There is no such host.
        HoldfastError: It refused, and why.
        Unavailable: It cannot be reached, or does not answer.

    """
    from holdfast.client import hosts, remote  # noqa: PLC0415  # only who leaves here

    known = hosts.by_name(host)
    try:
        return remote.ask(known, asked, patience)
    except LinkEnded as error:
        raise HostUnreachable(known.name, str(error)) from error
