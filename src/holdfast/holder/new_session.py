"""Makes a session: terminal, memory, socket, and a leader that waits."""

import os
import socket
import time

from holdfast.holder.chosen_runtime import runtime_of
from holdfast.holder.held_leader import hold, integrated
from holdfast.holder.leader_environment import (
    environment_of,
    given_of,
    start_words,
    with_holdfast,
    with_token,
)
from holdfast.holder.movable import (
    authority_for,
    cgroup_for,
    demand_inside,
    first_expiry,
)
from holdfast.holder.policy.session_start import STARTING
from holdfast.holder.recovered_session import NextLife, keep_origin
from holdfast.holder.session_descriptors import SessionDescriptors
from holdfast.holder.session_memory import checked_window, make_memory
from holdfast.linux import exec_filter, procfs, spawn
from holdfast.linux.default_shell import default_shell
from holdfast.linux.stored import folders, operators
from holdfast.model.geometry import DEFAULT_SIZE, clamped
from holdfast.model.ids import (
    ENTROPY,
    FIRST_INCARNATION,
    SessionId,
    client_id,
    parse_client_id,
)
from holdfast.model.session_record import (
    CAPSULE,
    PLAIN,
    Cells,
    HeldRecord,
    HeldStart,
    SessionRecord,
)
from holdfast.model.session_requests import Creation
from holdfast.model.text import checked_name


def make_session(  # noqa: PLR0915  # one step after another
    asked: Creation,
    session: SessionId,
    creator: operators.Enrolled,
    life: NextLife | None = None,
) -> SessionDescriptors:
    """Make a requested session; nothing of it runs yet.

    With `life` the session is lost, and this is its next one.

    Raises:
        HoldfastError: It cannot be made.
        OSError: The kernel refuses.

    """
    choices = runtime_of(asked, creator.actor)
    size = DEFAULT_SIZE if asked.size is None else clamped(*asked.size)
    name = checked_name(asked.name) if asked.name else session[2:8]
    window = checked_window(asked.window)
    authority = authority_for(
        asked, choices[0], "" if life is None else life.facts.authority
    )
    with cgroup_for(session, authority, had_lives=life is not None) as cgroup:
        command = asked.command or (default_shell(),)
        earlier = None if life is None else life.facts
        environment = environment_of(asked, session, creator, earlier)
        leader = spawn.Leader(
            command,
            asked.cwd or "/",
            _told(environment, session, life, is_capsule=choices[0].is_capsule),
            cgroup,
            is_gated=asked.exec_gate,
        )
        leader, shell = integrated(asked, session, leader)
        # The command comes last: what can fail before it leaves no process behind.
        listener = _listen(session)
        memory = make_memory(session, window, life.start if life else 0)
        if life is None or life.image is None:
            found = hold(asked, session, leader, size, choices)
        else:
            # Few sessions are ever restored: the nursery does without its code.
            from holdfast.holder import restored_leader  # noqa: PLC0415  # see above

            limits = choices[1]
            found = restored_leader.hold(life, asked, session, leader, limits)
    held, gate, capsule = found.held, found.gate(), found.capsule
    demand_inside(authority, cgroup, held.pid)
    pidfd = os.pidfd_open(held.pid)
    cwd = procfs.link(f"/proc/{held.pid}/cwd") or leader.cwd
    start = start_words(command, cwd, environment)
    record = SessionRecord(
        session,
        name,
        held.pid,
        STARTING,
        command=command,
        cwd=cwd,
        created_ms=time.time_ns() // 1_000_000,
        size=Cells(size.columns, size.rows),
        runtime=CAPSULE if capsule else PLAIN,
        no_capsule=found.no_capsule,
        **found.limits._asdict(),
        authority=authority,
    )
    left = HeldRecord(
        first_name=name,
        creator=creator.actor.id,
        cgroup=cgroup,
        integration=shell,
        exec_gate=bool(gate),
        no_new_privs=bool(gate) and not exec_filter.is_privileged(),
        capsule=None if capsule is None else capsule.record,
        expires=asked.expires_ms / 1000 or first_expiry(authority),
        starters=found.starters,
        start=HeldStart(
            _client(asked), start.text().decode(), held.program, start.variables
        ),
    )
    begin = [held.word, held.report]
    made = SessionDescriptors(
        record, left, found.master, memory, listener, pidfd, gate, found.walls, begin
    )
    if life is not None:
        life.begin(made, creator)
    keep_origin(made, asked, given_of(asked, creator, environment, earlier), window)
    return made


def _told(
    environment: dict[str, str],
    session: SessionId,
    life: NextLife | None,
    *,
    is_capsule: bool,
) -> dict[str, str]:
    """Return variables with what we add: where our command is, and which branch it is.

    Nobody has to approve that.
    """
    found = with_holdfast(environment)
    if not is_capsule:
        return found
    if life is None:
        return with_token(found, session, FIRST_INCARNATION, "")
    parent = life.branch_of or life.facts.parent
    of = parent.session if parent else ""
    return with_token(found, session, life.incarnation, of)


def _client(asked: Creation) -> str:
    """Return which client asks, so that it is told what becomes of it."""
    if asked.client is None:
        return client_id(os.urandom(ENTROPY))
    return parse_client_id(asked.client)


def _listen(session: SessionId) -> socket.socket:
    path = folders.session_address(session)
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    mask = os.umask(0o177)
    try:
        listener.bind(path)
    finally:
        os.umask(mask)
    listener.listen(128)
    return listener
