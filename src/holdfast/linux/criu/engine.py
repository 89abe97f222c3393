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
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple, NoReturn

from holdfast.core.capsule import criu_log, criu_words
from holdfast.core.capsule.number_gap import NoGap, free_number
from holdfast.linux import limits, procfs
from holdfast.linux.capsule import rights
from holdfast.linux.capsule.enter import fork_inside
from holdfast.linux.capsule.start import COUNTER
from holdfast.linux.criu.new_gate import NewGate
from holdfast.linux.criu.program import Program
from holdfast.linux.libc import checked, libc
from holdfast.model.errors import CriuFailed
from holdfast.model.session_record import CapsuleRecord

STOP_SECONDS = 10
"""Seconds for CRIU to stop every process before it gives up."""

PATIENCE = 300.0
"""Seconds for a dump or a restore: some ten times what 1 GB takes on a busy disk."""

_LIMIT = "/proc/sys/kernel/pid_max"
_PARENT_DEATH = 1
_FAILED = 127
_MAX_LOG = 1 << 20
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC
_NOT_FOR_CRIU = frozenset({6, 7})
"""SETGID and SETUID: with them it would try to be root, whom nobody is inside."""

_ENVIRONMENT = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "HOME": "/"}


class Within(NamedTuple):
    """Cgroups that a tree is in."""

    cgroup: str = ""
    """The session's own; empty if it has none."""

    limited: tuple[int, ...] = ()
    """Of those that keep its limits, the lists of members, opened."""


class Site(NamedTuple):
    """A capsule that CRIU is to work in."""

    record: CapsuleRecord
    first: int
    """The pidfd of its pid 1."""

    within: Within = Within()
    """Where a tree is restored: CRIU works there, and so what it restores is there from
    the beginning, with all its memory."""


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
    afterwards: criu_words.Afterwards = criu_words.Afterwards.STOPS,
    watched: str = "",
    locks: Sequence[int] = (),
) -> None:
    """Dump the session's tree.

    CRIU has the descriptors `locks` as well: what is locked by them stays so until it
    is done, also if we are killed.

    Raises:
        CriuFailed: There is no image, and the tree runs as before.

    """
    record = site.record
    with _opened(program, folders) as handles:
        asked = criu_words.Dump(
            root=record.inner_init,
            images=handles.images,
            work=handles.work,
            terminals=[record.terminal],
            has_own_net=record.net == "own",
            seconds=STOP_SECONDS,
            afterwards=afterwards,
            watched=watched,
        )
        words = [*handles.command, *criu_words.dump_words(asked)]
        become = partial(_become, words, handles, *locks)
        _run(site, become, folders.work / "dump.log")


def restore(  # noqa: PLR0913  # each is a fact of its own
    program: Program,
    site: Site,
    folders: Folders,
    terminal: str,
    *,
    is_still: bool = False,
    is_cut: bool = False,
    is_counted: bool = False,
    gate: NewGate | None = None,
    meanwhile: Callable[[], None] | None = None,
) -> None:
    """Restore a tree into a vacant capsule; it runs when this returns, or stands still.

    `terminal` is the key of the terminal that the tree had when it was dumped. With
    `is_cut` that was in the machine's network, of which no connection was kept. With
    `is_counted` the capsule was made with the `counter_for` the image. With
    `gate` all of it is under that gate's filter from its first moment on, and executes
    nothing. `meanwhile` is called while CRIU works.

    Raises:
        CriuFailed: Nothing was restored.

    """
    if not is_counted:
        set_counter(site, counter_for(folders.images))
    with _opened(program, folders) as handles:

        def become() -> None:
            slave = os.open("/dev/pts/0", os.O_RDWR | os.O_NOCTTY)
            asked = criu_words.Restore(
                images=handles.images,
                work=handles.work,
                terminals=[(slave, terminal)],
                has_own_net=site.record.net == "own" and not is_cut,
                is_still=is_still,
            )
            words = [*handles.command, *criu_words.restore_words(asked)]
            _become(words, handles, slave, gate=gate)

        _run(site, become, folders.work / "restore.log", gate, meanwhile)


def counter_for(images: Path) -> int:
    """Return a number after which CRIU itself can be numbered in a capsule.

    It must not have a number of the image's.

    Raises:
        CriuFailed: There is none.

    """
    try:
        used = _numbers_in(images)
        return free_number(used, int(Path(_LIMIT).read_text("ascii")))
    except NoGap:
        raise CriuFailed("the image uses too many process numbers") from None


def set_counter(site: Site, number: int) -> None:
    """Let the next process of a capsule have the number after this one.

    Raises:
        CriuFailed: The capsule cannot be entered.

    """
    # Inside, /proc/sys may be read-only; the counter is that of who writes.
    counter = os.open(COUNTER, os.O_WRONLY | os.O_CLOEXEC)

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
    for pid in procfs.numbers("/proc") if namespace and depth else ():
        # The link first: it costs a tenth of what the kernel writes down of a process.
        if procfs.link(f"/proc/{pid}/ns/pid") == namespace:
            listed = _nested(pid)
            if len(listed) == depth + 1:
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


def _become(
    words: list[str],
    handles: "_Handles",
    *others: int,
    gate: NewGate | None = None,
) -> NoReturn:
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
    if gate is not None:
        gate.close_behind_us()
    os.execve(words[0], words, environment)  # noqa: S606  # that is the job


def _run(
    site: Site,
    become: Callable[[], None],
    log: Path | None,
    gate: NewGate | None = None,
    meanwhile: Callable[[], None] | None = None,
) -> None:
    join = partial(limits.join, site.within.limited)
    twin = fork_inside(site.record, site.first, join, site.within.cgroup)
    if twin == 0:
        try:
            become()
        finally:
            os._exit(_FAILED)
    try:
        if meanwhile is not None:
            meanwhile()
    finally:
        status = _await(twin, gate)
    if status is None:
        raise CriuFailed(f"it was not done after {PATIENCE:.0f} s, and was ended")
    if status:
        raise CriuFailed(criu_log.cause(_read_log(log)))


def _await(twin: int, gate: NewGate | None) -> int | None:
    """Wait for who waits for CRIU; None if that took too long, and was ended."""
    pidfd = os.pidfd_open(twin)
    try:
        if gate is not None:
            gate.await_end(pidfd, PATIENCE)
        if not select.select([pidfd], [], [], 0 if gate else PATIENCE)[0]:
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
