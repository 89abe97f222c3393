"""The right to change what holds for the whole host: policy, operators, invitations.

That takes the right `grant` on the whole host. It is asked of the operator that we
act as and, if we run inside a session, of everybody who is behind our process there:
what an agent types into a person's shell is not the person's. Anybody who cannot be
told is not trusted with it.

This keeps honest programs to their rights. A program of the same user that reads the
host's key needs none of it (SECURITY.md).
"""

import contextlib
import os
import re
from collections.abc import Iterator
from pathlib import Path

from holdfast.client import blame_query, keeper
from holdfast.client.calls import graph
from holdfast.client.current_operator import ourselves
from holdfast.linux.graph import session_named_by
from holdfast.linux.procfs import read_stat
from holdfast.linux.stored import host_book, operators
from holdfast.linux.stored.operators import Enrolled
from holdfast.model.envelopes import Right
from holdfast.model.errors import HoldfastError, NoKeeper, NotAllowed
from holdfast.model.ids import ActorId

NOBODY_KNOWN = ActorId("")
"""Stands for an unknown operator."""

MAX_ANCESTORS = 256
"""Processes looked at on the way up: more than any honest tree is deep."""

_CGROUP = re.compile(r"/holdfast-(s_[a-z0-9]+)")


def demand_grant(what: str, *, about_us: bool = False) -> Enrolled:
    """Return who we are, if we and all who are behind us may grant on this host.

    What is `about_us` alone we may do without the right, but nobody else for us. A
    refusal is in the host's logbook, as of a request called `what`.

    Raises:
        Forbidden: An operator involved lacks the right.

    """
    us = ourselves()
    own = {us.actor.id} if about_us else set()
    for actor in (us.actor.id, *sorted(behind_us())):
        if actor not in own and not _may_grant(actor):
            error = NotAllowed(actor or "an unknown operator", Right.GRANT.value)
            error.add_note(
                f"`{what}` needs the right grant, of every operator involved."
                " Have a person run it, in a terminal that no one else types into."
            )
            record_refusal(us.actor.id, what, error)
            raise error
    return us


def record_refusal(actor: str, what: str, error: HoldfastError) -> None:
    """Record a refusal in the host's logbook, now and then."""
    host_book.record_declined(actor, what, error.code)


def behind_us() -> set[ActorId]:
    """Return who is behind this process, in every session that it is part of."""
    found: set[ActorId] = set()
    for name in {*_sessions_above()}:
        found |= _behind_in(name)
    return found


def _may_grant(actor: ActorId) -> bool:
    known = operators.by_actor(actor)
    return known is not None and known.may_on_host(Right.GRANT)


def _sessions_above() -> Iterator[str]:
    """Yield the sessions that our ancestors say they are of, and our own cgroup."""
    with contextlib.suppress(OSError):
        own = Path("/proc/self/cgroup").read_text("utf-8", "surrogateescape")
        yield from _CGROUP.findall(own)
    pid = os.getpid()
    for _ in range(MAX_ANCESTORS):
        process = read_stat(pid)
        if process is None or pid <= 1:
            return
        if named := session_named_by(pid):
            yield named
        pid = process.parent


def _behind_in(name: str) -> set[ActorId]:
    try:
        known = keeper.sessions(start=False)
    except NoKeeper:
        return {NOBODY_KNOWN}
    session = next((one for one in known if one.id == name and not one.host), None)
    if session is None:
        # It has ended, or is made up, or we were told to look in another place.
        return {NOBODY_KNOWN}
    try:
        seen = graph(session.id)
        traced = blame_query.processes(session.id, session.pid, [os.getpid()], seen)
    except HoldfastError:
        return {NOBODY_KNOWN}
    found = {NOBODY_KNOWN}
    for one in traced:
        behind = one.report.behind
        named = {one.process.actor}
        if behind is not None:
            named |= {behind.trigger, *behind.authors}
        found = {ActorId(actor) for actor in named if actor} or {NOBODY_KNOWN}
    return found
