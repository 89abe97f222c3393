"""What this machine supports, and what is lost where it does not.

Theory of operation
-------------------
Probes look at the machine and note what is there. Here each thing
found is judged: ok, limited or missing, with the reason and what to do about it.
A vital ability that is missing means that sessions cannot work at all.

Invariants, checked by tests/core/session/test_abilities.py:

I1  Every ability that is not ok says why, and every limited or missing one that
    can be fixed says how.
I2  Sessions can work exactly if no vital ability is missing.
"""

import enum
from collections.abc import Callable
from dataclasses import dataclass

OLDEST_PYTHON = (3, 11)
EXIT_STATUS_KERNEL = (6, 15)
"""From here on the kernel tells how a process ended that is not our child."""

OLDEST_KERNEL = (5, 4)
"""pidfd_open came with 5.3; 5.4 is the first that was kept for years."""

FDS_PER_SESSION = 6
"""Descriptors in the keeper for each session: four deposited, a link, one to spare."""

FEW_SESSIONS = 100
"""Fewer than this is worth a remark."""

SMALL_PLACE = 64 * 1024 * 1024
"""Bytes free in the runtime folder under which logbooks may not be kept."""


class Grade(enum.StrEnum):
    """How well something works."""

    OK = "ok"
    LIMITED = "limited"
    MISSING = "missing"


@dataclass(frozen=True, slots=True)
class Ability:
    """One thing this machine can do, or not."""

    name: str
    grade: Grade
    why: str
    advice: str = ""
    is_vital: bool = False


@dataclass(frozen=True, slots=True)
class Place:
    """The runtime folder."""

    path: str
    problem: str
    """Why it cannot be used; empty if it can."""

    free: int
    filesystem: str
    margin: int
    """Bytes left of what the kernel takes as a socket's path."""


@dataclass(frozen=True, slots=True)
class LogOut:
    """What happens when the user logs out."""

    has_systemd: bool
    lingers: bool
    kills_processes: bool
    place_is_removed: bool
    """Whether the runtime folder goes with the last log-in."""


@dataclass(frozen=True, slots=True)
class Machine:
    """What the probes found on this machine."""

    python: tuple[int, int]
    kernel: tuple[int, int]
    has_memory_files: bool
    has_pidfds: bool
    terminals_used: int
    terminals_max: int
    """0 if there are none at all."""

    descriptors: int
    """As many as a process of this user's may have open."""

    place: Place
    log_out: LogOut
    can_adopt: bool
    painter: str
    """Why the painter does not start; empty if it does."""

    freezer: str
    """Why no control group can be frozen; empty if one can."""

    exec_gate: str
    """Why no exec can be held; empty if one can."""

    keeps_sudo: bool
    """Whether programs under an exec gate may still gain rights."""

    capsules: str
    """Why no capsule can be made; empty if one can."""

    own_files: str
    """Why a capsule can have no files of its own; empty if it can."""
    limits: str
    """Why no session can be limited; empty if one can."""

    criu: str
    """Which CRIU is here; empty if none is that can be used."""

    criu_trouble: str
    """Why none is, or why a capsule was not dumped and restored with it."""

    counts_changed_pages: bool
    """Whether the kernel knows which pages were changed since a dump."""


Finding = tuple[Grade, str, str]
"""How well something works, why, and what to do about it."""


def judge(machine: Machine) -> list[Ability]:
    """Return every ability, the vital ones first."""
    return [
        Ability(name, *found(machine), is_vital)
        for findings, is_vital in ((_VITAL, True), (_OTHERS, False))
        for name, found in findings.items()
    ]


def can_work(abilities: list[Ability]) -> bool:
    """Tell whether sessions can work on this machine."""
    return not any(one.is_vital and one.grade is Grade.MISSING for one in abilities)


def _ok(why: str) -> Finding:
    return Grade.OK, why, ""


def _limited(why: str, advice: str = "") -> Finding:
    return Grade.LIMITED, why, advice


def _missing(why: str, advice: str = "") -> Finding:
    return Grade.MISSING, why, advice


def _python(machine: Machine) -> Finding:
    found = _dotted(machine.python)
    if machine.python >= OLDEST_PYTHON:
        return _ok(found)
    return _missing(found, f"Use {_dotted(OLDEST_PYTHON)} or newer.")


def _kernel(machine: Machine) -> Finding:
    found = f"Linux {_dotted(machine.kernel)}"
    if machine.has_pidfds and machine.kernel >= OLDEST_KERNEL:
        return _ok(found)
    return _missing(
        f"{found} has no pidfds: a process cannot be identified reliably",
        f"Use Linux {_dotted(OLDEST_KERNEL)} or newer.",
    )


def _memory(machine: Machine) -> Finding:
    if machine.has_memory_files:
        return _ok("memfd: output survives the death of a holder")
    return _missing(
        "no memfd: output would be lost with the holder",
        "Allow memfd_create in the container's seccomp profile.",
    )


def _terminals(machine: Machine) -> Finding:
    left = machine.terminals_max - machine.terminals_used
    if machine.terminals_max == 0:
        why = "/dev/ptmx cannot be opened"
        return _missing(why, "Mount devpts, with /dev/ptmx.")
    why = f"{machine.terminals_used} of {machine.terminals_max} in use"
    if left <= 0:
        return _missing(why, "End some, or raise /proc/sys/kernel/pty/max.")
    if left < FEW_SESSIONS:
        return _limited(why, "Raise /proc/sys/kernel/pty/max.")
    return _ok(why)


def _descriptors(machine: Machine) -> Finding:
    sessions = machine.descriptors // FDS_PER_SESSION
    why = f"{machine.descriptors} at most: enough for {sessions} sessions"
    if sessions >= FEW_SESSIONS:
        return _ok(why)
    return (_limited if sessions else _missing)(why, "Raise `ulimit -n`.")


def _place(machine: Machine) -> Finding:
    place = machine.place
    if place.problem:
        advice = "Set HOLDFAST_RUNTIME_DIR to a folder of your own."
        return _missing(place.problem, advice)
    if place.margin < 0:
        why = f"{place.path} is {-place.margin} bytes too long for a socket"
        return _missing(why, "Set HOLDFAST_RUNTIME_DIR to a shorter path.")
    free = place.free // (1024 * 1024)
    why = f"{place.path} ({place.filesystem}, {free} MB free)"
    if place.free < SMALL_PLACE:
        advice = "Make room: an input that cannot be recorded is refused."
        return _limited(why, advice)
    return _ok(why)


def _adoption(machine: Machine) -> Finding:
    if machine.can_adopt:
        return _ok("the keeper adopts orphans and collects their exit status")
    why = "the keeper cannot become a subreaper"
    return _missing(why, "Allow prctl in the container's seccomp profile.")


def _log_out(machine: Machine) -> Finding:
    log_out = machine.log_out
    advice = "`holdfast up --install` sets up a unit and linger."
    if not log_out.has_systemd:
        return _ok("no systemd: sessions keep running after log-out (setsid)")
    if log_out.lingers:
        return _ok("systemd keeps your processes running (linger is on)")
    if log_out.kills_processes:
        return _limited("logind kills all your processes at log-out", advice)
    if log_out.place_is_removed:
        why = (
            "at the last log-out the runtime folder is removed: sessions keep running,"
            " but cannot be reached"
        )
        return _limited(why, advice)
    return _ok("sessions keep running (setsid), and their sockets stay")


def _exit_statuses(machine: Machine) -> Finding:
    if machine.kernel >= EXIT_STATUS_KERNEL:
        return _ok("the kernel reports the exit status of any process")
    return _limited(
        f"before Linux {_dotted(EXIT_STATUS_KERNEL)} the status of a command that"
        " outlived its holder and the keeper may be unknown",
    )


def _painter(machine: Machine) -> Finding:
    if not machine.painter:
        return _ok("the painter starts")
    why = f"no painter: {machine.painter}; `screen` and repainting do not work"
    return _limited(why, "Install holdfast[painter].")


def _freezing(machine: Machine) -> Finding:
    if not machine.freezer:
        return _ok("sessions get a cgroup of their own, which is frozen as a whole")
    return _limited(
        f"{machine.freezer}: processes are frozen by signals, and one that"
        " starts meanwhile may be missed",
        "Run under a systemd user unit, or delegate a cgroup v2 to your user.",
    )


def _exec_gate(machine: Machine) -> Finding:
    if machine.exec_gate:
        why = f"not available ({machine.exec_gate}): rules see what is typed"
        advice = "Allow seccomp with a listener in the container's profile."
        return _missing(f"{why}, not what runs", advice)
    limit = (
        "`new --exec-gate` judges every exec before it runs; where tracing is"
        " forbidden, arguments that change after that go unnoticed"
    )
    if machine.keeps_sudo:
        return _ok(limit)
    return _limited(
        f"{limit}; in such a session sudo and other set-user-id programs do not work",
        "As root, or with CAP_SYS_ADMIN, they do.",
    )


def _capsules(machine: Machine) -> Finding:
    if machine.capsules:
        why = f"none can be made ({machine.capsules}): `new --capsule` is refused"
        return _missing(why, "Allow namespaces to your user, or in the container.")
    kept = "`new --capsule` isolates a session from other processes and from holdfast"
    if machine.keeps_sudo:
        return _ok(kept)
    return _limited(
        f"{kept}; in it sudo and su do not work, and who prints nothing",
        "As root they work.",
    )


def _own_files(machine: Machine) -> Finding:
    if not machine.own_files:
        return _ok(
            "`new --capsule --files own` keeps a session's changes in its own layers"
        )
    return _missing(
        f"not available ({machine.own_files}): `--files own` is refused",
        "Set HOLDFAST_STATE_DIR to a folder on a disk of this machine.",
    )


def _limits(machine: Machine) -> Finding:
    if machine.limits:
        why = f"{machine.limits}: `new --memory`, `--cpus` and `--pids` are refused"
        advice = "Run as root, or under a systemd user unit with Delegate=yes."
        return _limited(why, advice)
    return _ok("memory, CPUs and processes of a capsule can be limited")


def _criu(machine: Machine) -> Finding:
    if not machine.criu:
        advice = "Install a newer one, or run `make criu` in the source folder."
        return _missing(
            f"{machine.criu_trouble}: no session can be checkpointed", advice
        )
    if machine.criu_trouble:
        return _missing(
            f"{machine.criu}, but a trial run failed: {machine.criu_trouble}"
        )
    why = f"{machine.criu}: `checkpoint` and `restore` work (tested now)"
    if machine.counts_changed_pages:
        return _ok(why)
    return _ok(f"{why}; every dump is complete: the kernel has no soft-dirty pages")


def _clocks(_: Machine) -> Finding:
    return _ok("no session depends on the time of day")


def _dotted(version: tuple[int, int]) -> str:
    return f"{version[0]}.{version[1]}"


_VITAL: dict[str, Callable[[Machine], Finding]] = {
    "python": _python,
    "kernel": _kernel,
    "memory": _memory,
    "terminals": _terminals,
    "descriptors": _descriptors,
    "sockets": _place,
    "adoption": _adoption,
}
_OTHERS: dict[str, Callable[[Machine], Finding]] = {
    "log-out": _log_out,
    "exit status": _exit_statuses,
    "screens": _painter,
    "freezing": _freezing,
    "exec gate": _exec_gate,
    "capsules": _capsules,
    "own files": _own_files,
    "limits": _limits,
    "criu": _criu,
    "clocks": _clocks,
}
