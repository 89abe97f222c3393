"""Runs CRIU inside a capsule: one dump, or one restore into a vacant one.

The process that becomes CRIU has every right over the capsule, so it takes nothing that
the capsule could have put there: the program, the image, its log and its cache come in
as descriptors that were opened outside, options come from no file, and the environment
is ours.

Nobody ends CRIU amid its work but who waits for it in vain. Killed while it takes its
code out of a process again, it takes that process with it (seen once in sixteen). So
it goes on when we are killed, and so does the twin that waits for it.
"""

import contextlib
import os
import select
import signal
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple, NoReturn

from holdfast.core.capsule import criu_log
from holdfast.core.capsule.criu_words import (
    Afterwards,
    Dump,
    Restore,
    dump_words,
    restore_words,
)
from holdfast.core.capsule.number_gap import NoGap, free_number
from holdfast.linux import procfs
from holdfast.linux.capsule import rights
from holdfast.linux.capsule.enter import fork_inside
from holdfast.linux.criu.program import Program
from holdfast.linux.libc import checked, libc
from holdfast.model.errors import CriuFailed
from holdfast.model.session_record import CapsuleRecord

STOP_SECONDS = 10
"""Seconds for CRIU to stop every process before it gives up."""

PATIENCE = 300.0
"""Seconds for a dump or a restore: some ten times what 1 GB takes on a busy disk."""

_COUNTER = "/proc/sys/kernel/ns_last_pid"
_LIMIT = "/proc/sys/kernel/pid_max"
_PARENT_DEATH = 1
_FAILED = 127
_MAX_LOG = 1 << 20
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC
_NOT_FOR_CRIU = frozenset({6, 7})
"""SETGID and SETUID: with them it would try to be root, whom nobody is inside."""

_ENVIRONMENT = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "HOME": "/"}


class Site(NamedTuple):
    """A capsule that CRIU is to work in."""

    record: CapsuleRecord
    first: int
    """The pidfd of its pid 1."""


class Folders(NamedTuple):
    """Where CRIU reads and writes, outside the capsule."""

    images: Path
    work: Path
    """For its log; several restores may read one image."""

    cache: Path
    """For what it finds out about the kernel; it is used on a tmpfs alone."""


def dump(
    program: Program,
    site: Site,
    folders: Folders,
    afterwards: Afterwards = Afterwards.STOPS,
    watched: str = "",
) -> None:
    """Dump the session's tree.

    Raises:
        CriuFailed: There is no image, and the tree runs as before.

    """
    record = site.record
    with _opened(program, folders) as handles:
        asked = Dump(
            root=record.inner_init,
            images=handles.images,
            work=handles.work,
            terminals=[record.terminal],
            has_own_net=record.net == "own",
            seconds=STOP_SECONDS,
            afterwards=afterwards,
            watched=watched,
        )
        words = [*handles.command, *dump_words(asked)]
        _run(site, lambda: _become(words, handles), folders.work / "dump.log")


def restore(program: Program, site: Site, folders: Folders, terminal: str) -> None:
    """Restore a tree into a vacant capsule; it runs when this returns.

    `terminal` is the key of the terminal that the tree had when it was dumped.

    Raises:
        CriuFailed: Nothing was restored.

    """
    try:
        used = _numbers_in(folders.images)
        number = free_number(used, int(Path(_LIMIT).read_text("ascii")))
    except NoGap:
        raise CriuFailed("the image uses too many process numbers") from None
    # CRIU itself has a number in there, which must not be one of the image's; so has
    # the process that sets the counter, but that is gone by then.
    set_counter(site, number)
    with _opened(program, folders) as handles:

        def become() -> None:
            slave = os.open("/dev/pts/0", os.O_RDWR | os.O_NOCTTY)
            asked = Restore(
                images=handles.images,
                work=handles.work,
                terminals=[(slave, terminal)],
                has_own_net=site.record.net == "own",
            )
            _become([*handles.command, *restore_words(asked)], handles, slave)

        _run(site, become, folders.work / "restore.log")


def set_counter(site: Site, number: int) -> None:
    """Let the next process of a capsule have the number after this one.

    Raises:
        CriuFailed: The capsule cannot be entered.

    """
    # Inside, /proc/sys may be read-only; the counter is that of who writes.
    counter = os.open(_COUNTER, os.O_WRONLY | os.O_CLOEXEC)

    def write() -> None:
        os.write(counter, b"%d" % number)
        os._exit(0)

    try:
        _run(site, write, None)
    finally:
        os.close(counter)


def numbers(first: int) -> dict[int, int]:
    """Return the machine's number of each process of a capsule, by the capsule's."""
    depth = len(_nested(first)) - 1
    found: dict[int, int] = {}
    namespace = procfs.link(f"/proc/{first}/ns/pid")
    for pid in procfs.numbers("/proc"):
        listed = _nested(pid)
        is_as_deep = len(listed) == depth + 1 > 1
        if is_as_deep and procfs.link(f"/proc/{pid}/ns/pid") == namespace:
            found[listed[depth]] = pid
    return found


def _nested(pid: int) -> list[int]:
    raw = procfs.read(f"/proc/{pid}/status", procfs.STAT)
    _, _, rest = raw.partition(b"\nNSpid:")
    return [int(one) for one in rest.split(b"\n", 1)[0].split()]


def _numbers_in(images: Path) -> list[int]:
    names = (one.name for one in images.glob("core-*.img"))
    digits = (name.removeprefix("core-").removesuffix(".img") for name in names)
    return [int(one) for one in digits if one.isdecimal()]


class _Handles(NamedTuple):
    """What CRIU needs, by paths that lead through descriptors which it inherits."""

    command: list[str]
    images: str
    work: str
    cache: str
    all: list[int]


@contextlib.contextmanager
def _opened(program: Program, folders: Folders) -> Iterator[_Handles]:
    """Open what CRIU needs; its own loader is a file of the private root, too."""
    handles: list[int] = []

    def open_folder(path: str | Path) -> int:
        handles.append(os.open(path, _FOLDER))
        return handles[-1]

    folders.cache.mkdir(mode=0o700, parents=True, exist_ok=True)
    try:
        images, work, cache = [_by_number(open_folder(one)) for one in folders]
        command = [_through(open_folder, one) for one in program.command]
        yield _Handles(command, images, work, cache, handles)
    finally:
        for fd in handles:
            os.close(fd)


def _through(open_folder: Callable[[str], int], word: str) -> str:
    """Return a path that leads to the same file in every mount namespace."""
    if not word.startswith("/"):
        return word
    if Path(word).is_dir():
        return _by_number(open_folder(word))
    folder, _, name = word.rpartition("/")
    return f"{_by_number(open_folder(folder or '/'))}/{name}"


def _by_number(fd: int) -> str:
    return f"/proc/self/fd/{fd}"


def _become(words: list[str], handles: "_Handles", *others: int) -> NoReturn:
    """Execute CRIU, with the rights over the capsule that it needs."""
    null = os.open("/dev/null", os.O_RDWR)
    for fd in range(3):
        os.dup2(null, fd)
    for fd in (*handles.all, *others):
        os.set_inheritable(fd, True)  # noqa: FBT003  # no name
    if os.geteuid():
        rights.pass_on(_NOT_FOR_CRIU)
    checked(libc.prctl(_PARENT_DEATH, signal.SIGKILL, 0, 0, 0))
    environment = {**_ENVIRONMENT, "XDG_RUNTIME_DIR": handles.cache}
    os.execve(words[0], words, environment)  # noqa: S606  # that is the job


def _run(site: Site, become: Callable[[], None], log: Path | None) -> None:
    twin = fork_inside(site.record, site.first)
    if twin == 0:
        try:
            become()
        finally:
            os._exit(_FAILED)
    status = _await(twin)
    if status is None:
        raise CriuFailed(f"it was not done after {PATIENCE:.0f} s, and was ended")
    if status:
        raise CriuFailed(criu_log.cause(_read_log(log)))


def _await(twin: int) -> int | None:
    """Wait for who waits for CRIU; None if that took too long, and was ended."""
    pidfd = os.pidfd_open(twin)
    try:
        if not select.select([pidfd], [], [], PATIENCE)[0]:
            # It takes CRIU with it, and the kernel lets go of what that had stopped.
            os.kill(twin, signal.SIGKILL)
            os.waitpid(twin, 0)
            return None
    finally:
        os.close(pidfd)
    _, status = os.waitpid(twin, 0)
    return os.waitstatus_to_exitcode(status)


def _read_log(path: Path | None) -> str:
    if path is None:
        return ""
    try:
        with path.open("rb") as file:
            size = file.seek(0, os.SEEK_END)
            file.seek(max(0, size - _MAX_LOG))
            return file.read(_MAX_LOG).decode("utf-8", "replace")
    except OSError:
        return ""
