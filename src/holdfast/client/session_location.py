"""Where a session is, here or elsewhere, and the way to it.

The one place that knows. A session that was found by an address HOST/NAME is at
home at that host; every other one is here. What leads there is a socket in either
case: the holder's own, or one end of a channel that a thread keeps. Whatever has
to do with channels is loaded when the first of them is needed.
"""

import contextlib
import socket
from typing import TYPE_CHECKING, NamedTuple

from holdfast.model import errors
from holdfast.model.ids import ActorId, SessionId
from holdfast.model.session_record import Facts
from holdfast.model.session_requests import Request

if TYPE_CHECKING:
    from holdfast.client.hosts import KnownHost

FARTHER = 5.0
"""So many times longer is waited for a session elsewhere: its host has to be found
first, and everything takes round trips."""

ASKING = 30.0
"""Seconds for a question to a host, with everything on the way to it."""

_homes: dict[str, str] = {}
_moved: "dict[str, Moved]" = {}
_ends: dict[str, str] = {}


class Moved(NamedTuple):
    """Where a session went while we used it."""

    host: "KnownHost"
    before: str
    """What we call the host that it left; empty if that is here."""


def settle(session: str, host: str) -> None:
    """Note that a session was found at a host."""
    _homes[session] = host
    _moved.pop(session, None)


def follow(session: str, word: str) -> str:
    """Note where a session went, in the words of the host it left; return its name.

    Raises:
        PeerError: That host has not said so.

    """
    from holdfast.client import moved_host  # noqa: PLC0415  # rarely needed

    before = home_of(session)
    key = known_home(session).public_key if before else moved_host.our_key()
    found = moved_host.host_in(word, session, key)
    _moved[session] = Moved(found, before)
    _homes[session] = found.name
    return found.name


def try_other(session: str) -> None:
    """Look for a session next where it came from, or again where it went.

    A session that could not go on at the other host goes on where it was.
    """
    moved = _moved.get(session)
    if moved is not None:
        is_there = _homes[session] == moved.host.name
        _homes[session] = moved.before if is_there else moved.host.name


def known_home(session: str) -> "KnownHost":
    """Return the host of a session elsewhere.

    Raises:
        UsageError: We do not know it any more.

    """
    from holdfast.client import hosts  # noqa: PLC0415  # only who leaves here

    moved, home = _moved.get(session), home_of(session)
    if moved is not None and moved.host.name == home:
        return moved.host
    return hosts.by_name(home)


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
    if not home_of(session):
        return us
    return known_home(session).actor_of(us)


def patience_for(session: str, near: float) -> float:
    """Return how many seconds to wait where `near` is enough on this machine."""
    return near * FARTHER if home_of(session) else near


def dial_far(session: SessionId, patience: float) -> socket.socket:
    """Return a socket that leads to the holder of a session elsewhere.

    Raises:
        Forbidden: The host does not let us in.
        Unavailable: It cannot be reached within `patience` seconds.

    """
    from holdfast.client import remote  # noqa: PLC0415  # only who leaves here

    try:
        return remote.open_session(known_home(session), session, patience)
    except (errors.HostUnreachable, errors.LinkEnded) as error:
        raise errors.SessionUnreachable(session, str(error)) from error


def expect_far(address: str) -> None:
    """Begin to reach the host of an address HOST/NAME, if it is one, and go on.

    Whatever is wrong with it is said when something is asked of it.
    """
    host, _, name = address.partition("/")
    if not (host and name):
        return
    from holdfast.client import hosts, remote  # noqa: PLC0415  # only who leaves here

    with contextlib.suppress(errors.HoldfastError, OSError):
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
    except errors.LinkEnded as error:
        raise errors.HostUnreachable(known.name, str(error)) from error
