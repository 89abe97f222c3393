"""Makes a session: its terminal, its memory, its socket, and its leader, who waits."""

import os
import socket
import time

from holdfast.holder.capsule_start import runtime_of
from holdfast.holder.held_leader import hold, integrated
from holdfast.holder.leader_environment import (
    environment_of,
    given_of,
    login_shell,
    new_cgroup,
    start_words,
    with_holdfast,
)
from holdfast.holder.policy.session_start import STARTING
from holdfast.holder.recovered_session import NextLife, keep_origin
from holdfast.holder.session_descriptors import Vaulted
from holdfast.holder.session_memory import checked_window, make_memory
from holdfast.linux import exec_filter, procfs, spawn
from holdfast.linux.stored import folders, operators
from holdfast.model.geometry import DEFAULT_SIZE, clamped
from holdfast.model.ids import ENTROPY, SessionId, client_id, parse_client_id
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


def make_session(
    asked: Creation,
    session: SessionId,
    creator: operators.Enrolled,
    life: NextLife | None = None,
) -> Vaulted:
    """Make what somebody asks for; nothing of it runs yet.

    With `life` the session is lost, and this is its next one.

    Raises:
        HoldfastError: It cannot be made.
        OSError: The kernel refuses.

    """
    choice = runtime_of(asked, creator.actor)
    size = DEFAULT_SIZE if asked.size is None else clamped(*asked.size)
    name = checked_name(asked.name) if asked.name else session[2:8]
    window = checked_window(asked.window)
    cgroup = new_cgroup(session, had_lives=life is not None)
    command = asked.command or (login_shell(),)
    earlier = None if life is None else life.facts
    environment = environment_of(asked, session, creator, earlier)
    leader = spawn.Leader(
        command,
        asked.cwd or "/",
        with_holdfast(environment),
        cgroup,
        is_gated=asked.exec_gate,
    )
    leader, shell = integrated(asked, session, leader)
    # The command comes last: what can fail before it leaves no process behind.
    listener = _listen(session)
    memory = make_memory(session, window, life.start if life else 0)
    found = hold(asked, session, leader, size, choice)
    held, gate, capsule = found.held, found.gate(), found.capsule
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
    )
    left = HeldRecord(
        first_name=name,
        creator=creator.actor.id,
        cgroup=cgroup,
        integration=shell,
        exec_gate=bool(gate),
        no_new_privs=bool(gate) and not exec_filter.is_privileged(),
        capsule=None if capsule is None else capsule.record,
        start=HeldStart(
            _client(asked), start.text().decode(), held.program, start.variables
        ),
    )
    begin = [held.word, held.report]
    made = Vaulted(
        record, left, found.master, memory, listener, pidfd, gate, found.walls, begin
    )
    if life is not None:
        life.begin(made, creator)
    keep_origin(made, asked, given_of(asked, creator, environment, earlier), window)
    return made


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
