"""A holder's start: it creates a session, or recovers one."""

import contextlib
import os
import signal
import socket

from holdfast.core.session.left_behind import LeftBehind, read_left
from holdfast.holder.links import authentication
from holdfast.holder.loop import Holder
from holdfast.holder.policy.refused_starts import demand_patience
from holdfast.holder.provenance.state_channel import keep_open
from holdfast.holder.requested_session import made_for
from holdfast.holder.session_descriptors import SessionDescriptors
from holdfast.linux import packets, processes, pty, session_lock
from holdfast.linux.stored import layer_store, places, recovery_places
from holdfast.model import errors
from holdfast.model.ids import ENTROPY, SessionId, parse_session_id, session_id
from holdfast.model.session_record import (
    Cells,
    HeldRecord,
    SessionRecord,
    record_of,
    unknown_in,
)
from holdfast.model.session_requests import Creation

KEEPER_TIMEOUT = 10.0

GRIP_PATIENCE = 10
"""Seconds to wait for a predecessor's end, in full ones: it has a few to leave, and
a child nobody waits for must not be left over."""

GATED = 2
"""Descriptors of a session with an exec gate, beside those that every one has."""


CAPSULED = 2
"""Descriptors of a session with a capsule, likewise."""


def hold(packet: packets.Packet, fds: list[int]) -> None:
    """Hold the session the packet speaks of, until it is over."""
    if packet.get("do") == "create":
        _create(packet)
    else:
        _adopt(packet, fds)


def _adopt(packet: packets.Packet, fds: list[int]) -> None:
    facts = {**_facts(packet), "id": packet["id"]}
    record, left = SessionRecord.from_facts(facts), HeldRecord.from_facts(facts)
    master, memory, listener, pidfd, *more = fds
    gated = GATED if left.exec_gate else 0
    begun = gated + (CAPSULED if left.capsule else 0)
    more, behind = more[: len(more) - left.left], more[len(more) - left.left :]
    signal.alarm(GRIP_PATIENCE)  # Ends us.
    session_lock.take(memory)
    signal.alarm(0)
    # From here on, clients are let in.
    with contextlib.suppress(OSError, errors.HoldfastError):
        places.session_socket(record.id).chmod(0o600)
    # Our predecessor may have died between resizing and telling the keeper.
    size = pty.size_of(master)
    descriptors = SessionDescriptors(
        record._replace(size=Cells(size.columns, size.rows), dozing=False, idle_ms=0),
        left._replace(left=0),
        master,
        memory,
        socket.socket(fileno=listener),
        pidfd,
        tuple(more[:gated]),
        tuple(more[gated:begun]),
        more[begun:],
        unknown_in(facts),
        _left_behind(record.id, behind),
        packet.get("resting") is True,
    )
    status = packet.get("exit")
    known = status if isinstance(status, int) else None
    Holder(descriptors, exit_status=known).run()


def _left_behind(session: SessionId, fds: list[int]) -> LeftBehind | None:
    """Return what was left for us by a holder that let the session doze."""
    if not fds:
        return None
    memory, *pipe = fds
    for fd in pipe:
        keep_open(session, fd)
    try:
        return read_left(os.pread(memory, os.fstat(memory).st_size, 0))
    except (errors.HoldfastError, OSError):
        return None  # Of other code: we do without.
    finally:
        os.close(memory)


def _facts(packet: packets.Packet) -> dict[str, object]:
    """Return what the keeper has kept of what our predecessor gave it."""
    facts = packet.get("facts")
    return facts if isinstance(facts, dict) else {}


def _create(packet: packets.Packet) -> None:
    asked = record_of(Creation, packet)
    token = asked.token
    session = _id(asked)
    own = [places.session_socket, places.session_pipe]
    is_ours = not asked.recover
    try:
        creator = authentication.creator_of(packet)
        demand_patience(creator.actor)
        descriptors = made_for(asked, session, creator)
        is_ours = True
        session_lock.take(descriptors.memory)
        holder = _holder(descriptors, token)
    except (errors.HoldfastError, OSError) as error:
        # A start that was not allowed stays on record; one that never could
        # be started leaves nothing behind.
        is_refused = isinstance(error, errors.Forbidden)
        is_kept = is_refused and places.session_log(session).exists()
        is_kept = is_kept or asked.recover
        _report_failure(
            token, _recorded(error, session) if is_kept else error, is_kept=is_kept
        )
        if not is_kept:
            own.append(places.session_log)
        if is_ours:
            recovery_places.remove_next(session)
        if not asked.recover:
            with contextlib.suppress(errors.HoldfastError, OSError):
                layer_store.remove(session)
        # Before we have the lost session, they may belong to a process that has it.
        for place in own if is_ours else []:
            place(session).unlink(missing_ok=True)
        return
    holder.run()


def _recorded(
    error: errors.HoldfastError | OSError, session: SessionId
) -> errors.HoldfastError | OSError:
    """Say where the record is, if there is room for that."""
    if not isinstance(error, errors.DeniedByPolicy):
        return error
    why = str(error.facts["why"])
    record = f"`holdfast log {session}` has the record"
    return errors.DeniedByPolicy(
        str(error.facts["rule"]), f"{why}; {record}" if why else record
    )


def _id(asked: Creation) -> SessionId:
    """Return the id that the keeper chose; an older one leaves the choice to us."""
    if asked.id is None:
        return session_id(os.urandom(ENTROPY))
    return parse_session_id(asked.id)


def _holder(descriptors: SessionDescriptors, token: str) -> Holder:
    try:
        return Holder(descriptors, token=token)
    except (errors.HoldfastError, OSError):
        # The command runs already, and nobody would ever know of it.
        processes.kill_session(descriptors.record.pid)
        raise


def _report_failure(
    token: str, error: errors.HoldfastError | OSError, *, is_kept: bool
) -> None:
    packet: packets.Packet = {
        "do": "failed",
        "token": token,
        "text": str(error),
        "kept": is_kept,
    }
    if isinstance(error, errors.HoldfastError):
        packet |= {"code": error.code, "facts": error.facts}
    else:
        packet |= {"code": "cannot-start", "facts": {"command": "", "why": str(error)}}
    with packets.connect(places.keeper_socket(), KEEPER_TIMEOUT) as link:
        packets.send(link, packet)
        packets.receive(link)
