"""Probes of what this machine offers; they report and do not judge."""

import contextlib
import os
import platform
import re
import resource
import shutil
import socket
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from holdfast.core.session.abilities import LogOut, Machine, Place
from holdfast.linux import (
    cgroups,
    exec_filter,
    exec_gate,
    limits,
    own_files_trial,
    processes,
    systemd,
)
from holdfast.linux.capsule import trial as capsule_trial
from holdfast.linux.criu import program, trial
from holdfast.linux.programs import painter_program
from holdfast.linux.stored import places
from holdfast.model.errors import HoldfastError

LONGEST_SOCKET = "/s/s_0123456789abcdef.sock"
"""What is added to the runtime folder for the longest path we make."""

PAINTER_PATIENCE = 5.0
"""Seconds for a painter to start: twenty times what it needs."""

_PTY = Path("/proc/sys/kernel/pty")


def probe() -> Machine:
    """Look at everything; takes a second, most of it the painter's and CRIU's."""
    capsules = capsule_trial.why_not()
    criu, trouble = _criu(capsules)
    return Machine(
        python=(sys.version_info[0], sys.version_info[1]),
        kernel=_kernel(platform.release()),
        has_memory_files=_works(lambda: os.close(os.memfd_create("holdfast"))),
        has_pidfds=_works(lambda: os.close(os.pidfd_open(os.getpid()))),
        terminals_used=_number(_PTY / "nr"),
        terminals_max=_terminals_max(),
        descriptors=_descriptors(),
        place=_place(),
        log_out=_log_out(),
        can_adopt=_in_child(processes.become_subreaper),
        painter=_painter(),
        freezer=cgroups.ground().why_not,
        exec_gate=exec_gate.why_not(),
        keeps_sudo=exec_filter.is_privileged(),
        capsules=capsules,
        own_files=capsules or own_files_trial.why_not(),
        limits=limits.why_not(),
        criu=criu,
        criu_trouble=trouble,
        counts_changed_pages=trial.counts_changed_pages(),
    )


def _criu(no_capsules: str) -> tuple[str, str]:
    """Return which CRIU is here, and why it cannot be used, if so."""
    found = program.find()
    if found.program is None:
        return "", found.why_not
    if no_capsules:
        return str(found.program), "no capsule can be made"
    try:
        cache = places.criu_dir()
    except (HoldfastError, OSError) as error:
        return str(found.program), str(error)
    return str(found.program), trial.try_out(found.program, cache)


def _kernel(release: str) -> tuple[int, int]:
    found = re.match(r"(\d+)\.(\d+)", release)
    return (int(found[1]), int(found[2])) if found else (0, 0)


def _works(attempt: Callable[[], None]) -> bool:
    try:
        attempt()
    except (OSError, AttributeError):
        return False
    return True


def _descriptors() -> int:
    found, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return (
        found
        if found != resource.RLIM_INFINITY
        else _number(Path("/proc/sys/fs/nr_open"))
    )


def _number(path: Path) -> int:
    try:
        return int(path.read_text())
    except (OSError, ValueError):
        return 0


def _terminals_max() -> int:
    try:
        master, slave = os.openpty()
    except OSError:
        # None left is not the same as none at all.
        return _number(_PTY / "nr") if Path("/dev/ptmx").exists() else 0
    os.close(master)
    os.close(slave)
    return _number(_PTY / "max")


def _place() -> Place:
    path = places.runtime_path()
    margin = places.MAX_SOCKET_PATH - len(os.fsencode(f"{path}{LONGEST_SOCKET}"))
    try:
        folder = places.runtime_dir()
        free = shutil.disk_usage(folder).free
    except (HoldfastError, OSError) as error:
        return Place(str(path), str(error), 0, "", margin)
    return Place(str(path), "", free, _filesystem(folder), margin)


def _filesystem(folder: Path) -> str:
    """Return the type of the file system that a folder is on."""
    best, kind = "", "unknown"
    with contextlib.suppress(OSError):
        for line in (
            Path("/proc/self/mounts").read_text("utf-8", "replace").splitlines()
        ):
            mounted, found = line.split(" ")[1:3]
            inside = f"{folder}/".startswith(mounted.rstrip("/") + "/")
            if inside and len(mounted) >= len(best):
                best, kind = mounted, found
    return kind


def _log_out() -> LogOut:
    has_systemd = systemd.BOOTED.is_dir()
    return LogOut(
        has_systemd,
        has_systemd and systemd.lingers(),
        has_systemd and systemd.kills_at_log_out(),
        has_systemd and systemd.removes_runtime_dir(),
    )


def _painter() -> str:
    """Start a painter, send it nonsense, and expect it to hang up."""
    try:
        program = painter_program()
    except HoldfastError as error:
        return str(error)
    with (
        socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as listener,
        socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as link,
    ):
        listener.bind("")  # A name that the kernel chooses, and no file.
        listener.listen(1)
        link.settimeout(PAINTER_PATIENCE)
        link.connect(listener.getsockname())
        with subprocess.Popen(  # noqa: S603  # our own program
            program,
            stdin=listener.fileno(),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            cwd="/",
            env=dict[str, str](),
            start_new_session=True,
        ) as painter:
            listener.close()
            return _first_answer(link, painter)


def _first_answer(link: socket.socket, painter: "subprocess.Popen[bytes]") -> str:
    try:
        link.send(b"?")
        link.recv(1)
    except TimeoutError:
        return "it does not answer"
    except OSError:
        pass  # It hung up, or was never there.
    finally:
        died = painter.poll()
        painter.kill()
        said = painter.stderr.read().decode(errors="replace") if painter.stderr else ""
    lines = [line.strip() for line in said.splitlines() if line.strip()]
    return "" if died is None else (lines[-1] if lines else f"it ends with {died}")


def _in_child(attempt: Callable[[], None]) -> bool:
    """Try in a child something that would change this process for good."""
    pid = os.fork()
    if pid == 0:
        os._exit(0 if _works(attempt) else 1)
    return os.waitpid(pid, 0)[1] == 0
