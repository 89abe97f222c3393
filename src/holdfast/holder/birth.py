"""How does a holder come to its session: by making one, or by taking one up?"""

import os
import pwd
import signal
import socket
import time
from dataclasses import replace

from holdfast.core.stream import StreamWindow
from holdfast.holder.following import INTEGRATION
from holdfast.holder.loop import Holder
from holdfast.holder.note_memory import AREA
from holdfast.holder.state_channel import make_pipe
from holdfast.holder.vaulted import Vaulted
from holdfast.linux import (
    cgroups,
    exec_filter,
    exec_gate,
    folders,
    grips,
    packets,
    places,
    processes,
    pty,
    shared_memory,
    shells,
    spawn,
)
from holdfast.model.errors import HoldfastError
from holdfast.model.geometry import DEFAULT_SIZE, Size, clamped
from holdfast.model.ids import ENTROPY, SessionId, parse_session_id, session_id
from holdfast.model.text import checked_name

WINDOW = 1024 * 1024
"""Bytes of output kept: some ten thousand lines."""

KEEPER_TIMEOUT = 10.0

GRIP_PATIENCE = 10
"""Seconds to wait for a predecessor's end, in full ones: it has a few to leave, and
whoever is no longer waited for must not be left over."""

EXEC_GATE = "exec_gate"
"""The fact, and what is asked for: that every exec in the session is judged."""

Facts = dict[str, object]


def hold(packet: packets.Packet, fds: list[int]) -> None:
    """Hold the session the packet speaks of, until it is over."""
    if packet.get("do") == "create":
        _create(packet)
    else:
        _adopt(packet, fds)


def _adopt(packet: packets.Packet, fds: list[int]) -> None:
    facts = packet["facts"]
    assert isinstance(facts, dict)  # noqa: S101  # the keeper keeps what we gave it
    master, memory, listener, pidfd, *gate = fds
    signal.alarm(GRIP_PATIENCE)  # Ends us.
    grips.take(memory)
    signal.alarm(0)
    # Our predecessor may have died between resizing and telling the keeper.
    size = pty.size_of(master)
    facts["size"] = [size.columns, size.rows]
    vaulted = Vaulted(
        SessionId(str(packet["id"])),
        facts,
        master,
        memory,
        socket.socket(fileno=listener),
        pidfd,
        tuple(gate),
    )
    status = packet.get("exit")
    known = status if isinstance(status, int) else None
    Holder(vaulted, exit_status=known).run()


def _create(packet: packets.Packet) -> None:
    token = str(packet["token"])
    session = _id(packet)
    try:
        vaulted = _make(packet, session)
        grips.take(vaulted.memory)
        holder = _holder(vaulted, token)
    except (HoldfastError, OSError) as error:
        _report_failure(token, error)
        own = (places.session_socket, places.session_pipe, places.session_log)
        for place in own:
            place(session).unlink(missing_ok=True)
        return
    holder.run()


def _id(packet: packets.Packet) -> SessionId:
    """Return the id that the keeper chose; an older one leaves the choice to us."""
    chosen = packet.get("id")
    if chosen is None:
        return session_id(os.urandom(ENTROPY))
    return parse_session_id(str(chosen))


def _holder(vaulted: Vaulted, token: str) -> Holder:
    try:
        return Holder(vaulted, token=token)
    except (HoldfastError, OSError):
        # The command runs already, and nobody would ever know of it.
        processes.kill_session(int(str(vaulted.facts["pid"])))
        raise


def _make(packet: packets.Packet, session: SessionId) -> Vaulted:
    size = _size(packet)
    name = checked_name(str(packet["name"])) if packet.get("name") else session[2:8]
    cgroup = _cgroup(session)
    command = _command(packet)
    leader = spawn.Leader(
        command,
        str(packet.get("cwd") or "/"),
        _environment(packet, session),
        cgroup,
        is_gated=bool(packet.get(EXEC_GATE)),
    )
    shell = None
    if packet.get("integration"):
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
    pid, gate = _start(leader, slave)
    pidfd = os.pidfd_open(pid)
    os.close(slave)
    facts: Facts = {
        "name": name,
        "pid": pid,
        "state": "running",
        "command": list(command),
        "cwd": leader.cwd,
        "created_ms": time.time_ns() // 1_000_000,
        "size": [size.columns, size.rows],
        "keep": False,
        "cgroup": cgroup,
        "creator": str(packet.get("creator") or ""),
        INTEGRATION: "" if shell is None else shell.shell,
        EXEC_GATE: bool(gate),
        "no_new_privs": bool(gate) and not exec_filter.is_privileged(),
    }
    return Vaulted(session, facts, master, memory, listener, pidfd, gate)


def _start(leader: spawn.Leader, slave: int) -> tuple[int, tuple[int, ...]]:
    """Start the leader; return its pid, and what its exec gate needs if it has one."""
    if not leader.is_gated:
        return spawn.start_leader(leader, slave), ()
    notices = shared_memory.create("exec-gate", exec_gate.SIZE)
    pid, listener = spawn.start_gated(leader, slave, notices)
    return pid, (listener, notices)


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


def _size(packet: packets.Packet) -> Size:
    match packet.get("size"):
        case [int(columns), int(rows)]:
            return clamped(columns, rows)
        case _:
            return DEFAULT_SIZE


def _command(packet: packets.Packet) -> tuple[str, ...]:
    command = packet.get("command")
    if isinstance(command, list) and command:
        return tuple(str(word) for word in command)
    return (os.environ.get("SHELL") or pwd.getpwuid(os.getuid()).pw_shell or "/bin/sh",)


def _environment(packet: packets.Packet, session: SessionId) -> dict[str, str]:
    given = packet.get("env")
    wanted = given if isinstance(given, dict) else {}
    found = {str(name): str(value) for name, value in wanted.items()}
    return {"TERM": "xterm-256color", **found, "HOLDFAST_SESSION": session}


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


def _report_failure(token: str, error: HoldfastError | OSError) -> None:
    packet: Facts = {"do": "failed", "token": token, "text": str(error)}
    if isinstance(error, HoldfastError):
        packet |= {"code": error.code, "facts": error.facts}
    else:
        packet |= {"code": "cannot-start", "facts": {"command": "", "why": str(error)}}
    with packets.connect(places.keeper_socket(), KEEPER_TIMEOUT) as link:
        packets.send(link, packet)
        packets.receive(link)
