"""The arguments of CRIU, for one dump or one restore of a capsule.

CRIU runs inside the capsule's namespaces and handles the session's tree alone. What it
must reach outside is handed in by descriptor: the folder of the image, a folder for its
log, the slave of the new terminal. So nothing of holdfast has to be visible inside.

Invariants, checked by tests/core/capsule/test_criu_words.py:

W1  No file of the user's is read for options: a line in one could make CRIU run a
    program with its own rights.
W2  A dump has a deadline of CRIU's own; what stands still for it goes on afterwards.
W3  Nothing incremental is asked for: without soft-dirty pages CRIU dies of it.
"""

import enum
from collections.abc import Sequence
from dataclasses import dataclass

GHOST_LIMIT = 1 << 30
"""Bytes of an unlinked file that are put into an image; a larger one is refused."""

_ALWAYS = (
    "--no-default-config",
    # Root, too: then what CRIU finds out about the kernel is kept in the folder that
    # it is given, and not asked for again. It does not lessen what root may do.
    "--unprivileged",
    "--file-locks",
    "--link-remap",
    "--manage-cgroups=ignore",
    "-v2",
)


class Afterwards(enum.StrEnum):
    """What becomes of the tree once it has been dumped."""

    RUNS = "--leave-running"
    STOPS = "--leave-stopped"


@dataclass(frozen=True, slots=True)
class Dump:
    """One dump: paths and numbers as they are inside the capsule."""

    root: int
    """The session's init, whose tree is dumped."""

    images: str
    work: str
    terminals: Sequence[str]
    """`tty[rdev:dev]` of every slave whose master is outside."""

    has_own_net: bool
    seconds: int
    afterwards: Afterwards = Afterwards.STOPS
    watched: str = ""
    """The folder in which watched files are looked for, if any are watched."""

    frozen_cgroup: str = ""
    """The control group, if the session is frozen by it."""


@dataclass(frozen=True, slots=True)
class Restore:
    """One restore; `terminals` says which descriptor stands for which slave."""

    images: str
    work: str
    terminals: Sequence[tuple[int, str]]
    has_own_net: bool
    pid_file: str = "pid"
    is_still: bool = False
    """Whether the restored tree stays stopped until it is resumed."""


def dump_words(dump: Dump) -> list[str]:
    """Return the words for a dump, from the verb on."""
    words = ["dump", *_ALWAYS, "-t", str(dump.root)]
    words += ["-D", dump.images, "-W", dump.work, "-o", "dump.log"]
    words += ["--ghost-limit", str(GHOST_LIMIT), "--timeout", str(dump.seconds)]
    for key in dump.terminals:
        words += ["--external", key]
    # Nothing outside may be told to hold packets back: that takes rights over the
    # host's network. A connection in the making is dropped, as a busy server drops it.
    words += [_connections(dump.has_own_net), "--network-lock", "skip"]
    words.append("--skip-in-flight")
    if dump.watched:
        words += ["--force-irmap", "--irmap-scan-path", dump.watched]
    if dump.frozen_cgroup:
        words += ["--freeze-cgroup", dump.frozen_cgroup]
    return [*words, dump.afterwards.value]


def restore_words(restore: Restore) -> list[str]:
    """Return the words for a restore, from the verb on."""
    words = ["restore", *_ALWAYS, "-D", restore.images, "-W", restore.work]
    words += ["-o", "restore.log", "-d", "--pidfile", restore.pid_file]
    for number, key in restore.terminals:
        words += ["--inherit-fd", f"fd[{number}]:{key}"]
    words += [Afterwards.STOPS.value] if restore.is_still else []
    return [*words, _connections(restore.has_own_net)]


def _connections(has_own_net: bool) -> str:  # noqa: FBT001  # one of two words
    # In a network of its own both ends of a connection are in the image.
    return "--tcp-established" if has_own_net else "--tcp-close"
