"""How a holder gets its session: by creating one, or by recovering one."""

import os
import pwd
import signal
import socket
import time
from dataclasses import replace

from holdfast.core.policy.start_words import start_of
from holdfast.core.session.stream import StreamWindow
from holdfast.holder.links import door
from holdfast.holder.loop import Holder
from holdfast.holder.policy.refused_starts import demand_patience
from holdfast.holder.policy.session_start import STARTING
from holdfast.holder.provenance.state_channel import make_pipe
from holdfast.holder.record.note_memory import AREA
from holdfast.holder.session_descriptors import Vaulted
from holdfast.linux import (
    cgroups,
    exec_filter,
    exec_gate,
    packets,
    processes,
    procfs,
    pty,
    session_lock,
    shared_memory,
    shells,
    spawn,
)
from holdfast.linux.stored import folders, operators, places
from holdfast.model.actors import ActorKind
from holdfast.model.errors import DeniedByPolicy, Forbidden, HoldfastError
from holdfast.model.geometry import DEFAULT_SIZE, clamped
from holdfast.model.ids import (
    ENTROPY,
    SessionId,
    client_id,
    parse_client_id,
    parse_session_id,
    session_id,
)
from holdfast.model.session_record import (
    Cells,
    HeldRecord,
    HeldStart,
    SessionRecord,
    unknown_in,
)
from holdfast.model.session_requests import Creation
from holdfast.model.text import checked_name

WINDOW = 1024 * 1024
"""Bytes of output kept: some ten thousand lines."""

KEEPER_TIMEOUT = 10.0

GRIP_PATIENCE = 10
"""Seconds to wait for a predecessor's end, in full ones: it has a few to leave, and
whoever is no longer waited for must not be left over."""

GATED = 2
"""Descriptors of a session with an exec gate, beside those that every one has."""

TERM = "xterm-256color"
OURS = "HOLDFAST_SESSION"

_PASSING = frozenset({"PYTHONPATH", "PWD", "OLDPWD", "SHLVL", "_"})
"""Variables of our own process that say nothing about the host."""


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
    signal.alarm(GRIP_PATIENCE)  # Ends us.
    session_lock.take(memory)
    signal.alarm(0)
    # Our predecessor may have died between resizing and telling the keeper.
    size = pty.size_of(master)
    vaulted = Vaulted(
        record._replace(size=Cells(size.columns, size.rows)),
        left,
        master,
        memory,
        socket.socket(fileno=listener),
        pidfd,
        tuple(more[:gated]),
        more[gated:],
        unknown_in(facts),
    )
    status = packet.get("exit")
    known = status if isinstance(status, int) else None
    Holder(vaulted, exit_status=known).run()


def _facts(packet: packets.Packet) -> dict[str, object]:
    """Return what the keeper has kept of what our predecessor gave it."""
    facts = packet.get("facts")
    return facts if isinstance(facts, dict) else {}


def _create(packet: packets.Packet) -> None:
    asked = Creation.from_facts(packet)
    token = asked.token
    session = _id(asked)
    own = [places.session_socket, places.session_pipe]
    try:
        creator = door.creator_of(packet)
        demand_patience(creator.actor)
        vaulted = _make(asked, session, creator)
        session_lock.take(vaulted.memory)
        holder = _holder(vaulted, token)
    except (HoldfastError, OSError) as error:
        # What somebody was not allowed to start stays on record; what never could
        # be started leaves nothing behind.
        is_kept = isinstance(error, Forbidden) and places.session_log(session).exists()
        _report_failure(
            token, _recorded(error, session) if is_kept else error, is_kept=is_kept
        )
        if not is_kept:
            own.append(places.session_log)
        for place in own:
            place(session).unlink(missing_ok=True)
        return
    holder.run()


def _recorded(
    error: HoldfastError | OSError, session: SessionId
) -> HoldfastError | OSError:
    """Say where the record is, if there is room for that."""
    if not isinstance(error, DeniedByPolicy):
        return error
    why = str(error.facts["why"])
    record = f"`holdfast log {session}` has the record"
    return DeniedByPolicy(
        str(error.facts["rule"]), f"{why}; {record}" if why else record
    )


def _id(asked: Creation) -> SessionId:
    """Return the id that the keeper chose; an older one leaves the choice to us."""
    if asked.id is None:
        return session_id(os.urandom(ENTROPY))
    return parse_session_id(asked.id)


def _holder(vaulted: Vaulted, token: str) -> Holder:
    try:
        return Holder(vaulted, token=token)
    except (HoldfastError, OSError):
        # The command runs already, and nobody would ever know of it.
        processes.kill_session(vaulted.record.pid)
        raise


def _make(asked: Creation, session: SessionId, creator: operators.Enrolled) -> Vaulted:
    size = DEFAULT_SIZE if asked.size is None else clamped(*asked.size)
    name = checked_name(asked.name) if asked.name else session[2:8]
    cgroup = _cgroup(session)
    command = asked.command or (_shell(),)
    environment = _environment(asked, session, creator)
    leader = spawn.Leader(
        command, asked.cwd or "/", environment, cgroup, is_gated=asked.exec_gate
    )
    shell = None
    if asked.integration:
        shell = shells.integrated(command, leader.environment)
    if shell is not None:
        leader = replace(
            leader,
            command=shell.command,
            environment=shell.environment,
            secret=shells.handed_over(session, make_pipe(session)),
        )
    # The command comes last: what can fail before it leaves no process behind.
    listener = _listen(session)
    master, slave = pty.open_pty(size)
    memory = shared_memory.create(session, AREA + WINDOW)
    StreamWindow.create(shared_memory.view(memory)[AREA:])
    held, gate = _hold(leader, slave)
    pidfd = os.pidfd_open(held.pid)
    os.close(slave)
    cwd = procfs.link(f"/proc/{held.pid}/cwd") or leader.cwd
    told = {name: value for name, value in environment.items() if name != OURS}
    start = start_of(command, cwd, told, _ground())
    record = SessionRecord(
        session,
        name,
        held.pid,
        STARTING,
        command=command,
        cwd=cwd,
        created_ms=time.time_ns() // 1_000_000,
        size=Cells(size.columns, size.rows),
    )
    left = HeldRecord(
        first_name=name,
        creator=creator.actor.id,
        cgroup=cgroup,
        integration="" if shell is None else shell.shell,
        exec_gate=bool(gate),
        no_new_privs=bool(gate) and not exec_filter.is_privileged(),
        start=HeldStart(
            _client(asked), start.text().decode(), held.program, start.variables
        ),
    )
    begin = [held.word, held.report]
    return Vaulted(record, left, master, memory, listener, pidfd, gate, begin)


def _hold(leader: spawn.Leader, slave: int) -> tuple[spawn.Held, tuple[int, ...]]:
    """Fork the leader, which waits; return what its exec gate needs if it has one."""
    held = spawn.hold_leader(leader, slave)
    if held.listener is None:
        return held, ()
    notices = shared_memory.create("exec-gate", exec_gate.SIZE)
    return held, (held.listener, notices)


def find_ground() -> None:
    """Find out where sessions get their cgroups, before holders are forked."""
    found = cgroups.ground()
    if found.folder is not None:
        cgroups.sweep(found.folder)


def _cgroup(session: SessionId) -> str:
    """Make the session's own cgroup; return its folder, or nothing if we may not."""
    folder = cgroups.ground().folder
    if folder is None:
        return ""
    made = cgroups.SessionCgroup.below(folder, session)
    try:
        made.make()
    except OSError:
        return ""
    return os.fspath(made.folder)


def _shell() -> str:
    return os.environ.get("SHELL") or pwd.getpwuid(os.getuid()).pw_shell or "/bin/sh"


def _environment(
    asked: Creation, session: SessionId, creator: operators.Enrolled
) -> dict[str, str]:
    is_person = creator.actor.kind is ActorKind.HUMAN
    # What people have set is theirs. Whoever else asks gets what this host has set,
    # and what it gives beyond that is judged.
    ground = {} if is_person and not asked.ground else _ground()
    return {"TERM": TERM, **ground, **(asked.env or {}), OURS: session}


def _ground() -> dict[str, str]:
    """Return what this host has set, without what is ours or speaks of a place."""
    return {
        name: value
        for name, value in os.environ.items()
        if not name.startswith("HOLDFAST_") and name not in _PASSING
    }


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


def _report_failure(
    token: str, error: HoldfastError | OSError, *, is_kept: bool
) -> None:
    packet: packets.Packet = {
        "do": "failed",
        "token": token,
        "text": str(error),
        "kept": is_kept,
    }
    if isinstance(error, HoldfastError):
        packet |= {"code": error.code, "facts": error.facts}
    else:
        packet |= {"code": "cannot-start", "facts": {"command": "", "why": str(error)}}
    with packets.connect(places.keeper_socket(), KEEPER_TIMEOUT) as link:
        packets.send(link, packet)
        packets.receive(link)
