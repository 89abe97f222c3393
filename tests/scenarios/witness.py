"""What is really there: processes, descriptors and files, as the kernel tells it."""

import contextlib
import fcntl
import os
import signal
import struct
import termios
from collections.abc import Iterator
from pathlib import Path

from tests.scenarios.support import OURS, Machine, eventually

from holdfast.linux import session_lock
from holdfast.linux.stored import places
from holdfast.model.ids import SessionId

MARK = "HF_SCENARIO"
"""Variable of every program that a scenario starts, so that strays can be told."""


def marked(name: str, value: str) -> Iterator[int]:
    """Return every living process that has the variable in its environment."""
    wanted = f"{name}={value}".encode()
    for environ in Path("/proc").glob("[0-9]*/environ"):
        with contextlib.suppress(OSError):
            pid = int(environ.parent.name)
            if pid != os.getpid() and wanted in environ.read_bytes().split(b"\0"):
                yield pid


def stat(pid: int) -> list[str]:
    """Return what the kernel says of a process, from its state on; [] if gone."""
    try:
        text = Path(f"/proc/{pid}/stat").read_text("latin-1")
    except OSError:
        return []
    return text.rpartition(")")[2].split()


def is_dead(pid: int) -> bool:
    """Tell whether a process has ended, collected or not."""
    fields = stat(pid)
    return not fields or fields[0] in "ZX"


def children(pid: int) -> set[int]:
    """Return the children of a process."""
    with contextlib.suppress(OSError):
        listed = Path(f"/proc/{pid}/task/{pid}/children").read_text()
        return set(map(int, listed.split()))
    return set()


def zombies(pid: int) -> set[int]:
    """Return the children that have ended and were never collected."""
    return {child for child in children(pid) if stat(child)[:1] == ["Z"]}


def descriptors(pid: int) -> list[str]:
    """Return what a process has open."""
    found = []
    for fd in Path(f"/proc/{pid}/fd").iterdir():
        with contextlib.suppress(OSError):
            found.append(str(fd.readlink()))
    return sorted(found)


def grip(session: SessionId, pid: int) -> int:
    """Return who has the grip of a session, by the memory that a process has open."""
    for name in Path(f"/proc/{pid}/fd").iterdir():
        with contextlib.suppress(OSError):
            if str(name.readlink()).startswith(f"/memfd:{session}"):
                memory = os.open(name, os.O_RDWR)
                try:
                    return session_lock.taken_by(memory)
                finally:
                    os.close(memory)
    raise AssertionError(f"{pid} does not have the memory of {session}")


def resident(pid: int) -> int:
    """Return how many bytes of memory a process occupies, shared ones left out."""
    for line in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines():
        if line.startswith("Private_Dirty:"):
            return int(line.split()[1]) * 1024
    raise AssertionError("the kernel does not say")


def cpu_seconds(pid: int) -> float:
    """Return the processor time that a process has used."""
    fields = stat(pid)
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def terminal_size(leader: int) -> tuple[int, int]:
    """Return columns and rows of a leader's terminal, from the terminal itself."""
    fd = os.open(f"/proc/{leader}/fd/0", os.O_RDWR | os.O_NOCTTY)
    try:
        packed = fcntl.ioctl(fd, termios.TIOCGWINSZ, b"\0" * 8)
    finally:
        os.close(fd)
    rows, columns, _, _ = struct.unpack("4H", packed)
    return columns, rows


def resize_terminal(leader: int, columns: int, rows: int) -> None:
    """Give a leader's terminal another size, behind everybody's back."""
    fd = os.open(f"/proc/{leader}/fd/0", os.O_RDWR | os.O_NOCTTY)
    try:
        packed = struct.pack("4H", rows, columns, 0, 0)
        fcntl.ioctl(fd, termios.TIOCSWINSZ, packed)
    finally:
        os.close(fd)


def mark() -> str:
    """Return the value of MARK in this scenario: its runtime folder."""
    return os.environ["HOLDFAST_RUNTIME_DIR"]


def all_is_tidy(here: Machine) -> None:
    """Wait until there is exactly what the keeper's list accounts for, and no more."""
    seen = [""]

    def is_tidy() -> bool:
        seen[0] = disorder(here)
        return not seen[0]

    try:
        eventually("nothing is half-made", is_tidy)
    except AssertionError:
        raise AssertionError(seen[0]) from None


def disorder(here: Machine) -> str:
    """Return the first thing that the keeper's list does not account for."""
    listed = here.ask(do="list")["sessions"]
    assert isinstance(listed, list)
    leaders = {one["pid"] for one in listed}
    for pid in marked(MARK, mark()):
        if int(stat(pid)[3]) not in leaders and not is_dead(pid):
            return f"process {pid} belongs to no session"
    ours = {here.pid(one) for one in OURS} | {here.ask(do="status")["dozer"]}
    ours |= {one["holder"] for one in listed}
    for pid in marked("HOLDFAST_RUNTIME_DIR", mark()):
        if pid not in ours and not is_dead(pid) and _is_keeping(pid):
            return f"process {pid} of ours holds nothing"
    expected = {f"{one['id']}.{kind}" for one in listed for kind in ("sock", "name")}
    found = {path.name for path in places.session_dir().iterdir()}
    return f"files {found ^ expected}" if found != expected else _unheld(listed)


def _is_keeping(pid: int) -> bool:
    command = Path(f"/proc/{pid}/cmdline").read_bytes()
    return b"holdfast.holder" in command or b"holdfast.keeper" in command


def _unheld(listed: list[dict[str, object]]) -> str:
    alone = (one["id"] for one in listed if not one["held"] and not one["dozing"])
    return next((f"{one} is not held" for one in alone), "")


def end_marked() -> None:
    """Kill every program that this scenario has started."""
    for pid in marked(MARK, mark()):
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


def end(here: Machine, session: SessionId) -> None:
    """End a session and have it forgotten."""
    pid = here.pid("leader", session)
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)
    eventually("it is over", lambda: (here.facts(session) or {})["state"] == "exited")
    assert here.ask(do="forget", id=session)["ok"]
