"""Resumes a restored tree on command, or ends it.

A process outside the capsule that waits as a leader does which was forked
(linux/spawn.py): for one byte. The session's holder may by then be another process
than the one that restored it; when nobody has the other end any more, the tree ends.
It is made while CRIU restores the tree, because two forks take as long as a sixth of
what that takes.
"""

import contextlib
import os
import signal
import socket
from collections.abc import Callable, Collection
from typing import NamedTuple, NoReturn

from holdfast.linux import spawn
from holdfast.linux.capsule import stopped_processes
from holdfast.linux.freezer import Mark

_NOTHING = b"0"
"""The word that there is nothing to be done."""


class Starter(NamedTuple):
    """Our ends of a process that waits for the word."""

    word: int
    report: int

    def held(self, leader: int, program: str, listener: int | None) -> spawn.Held:
        """Have the tree of that leader wait, which stands still by now.

        `listener` is that of its exec gate, if it has one.
        """
        return spawn.Held(leader, self.word, self.report, program, listener)

    def dismiss(self) -> None:
        """Do without it: there is no tree, and others undo what was done for one."""
        spawn.say(self.word, _NOTHING)
        os.close(self.word)
        os.close(self.report)


def make(
    capsule: tuple[int, int], stopped: Collection[int], undo: Callable[[], None]
) -> Starter:
    """Make the process that waits; the tree need not be there yet.

    `capsule` is pid 1, as the machine numbers it, and its pidfd; `stopped` are those
    that are to stay so, by the capsule's numbers. If the tree is ended instead, `undo`
    is called, which must not count on any descriptor.
    """
    report, theirs = socket.socketpair()
    reader, word = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            # Twice: nobody has to wait for what is not their child.
            if os.fork() == 0:
                _be_starter(reader, theirs.fileno(), capsule, stopped, undo)
        finally:
            os._exit(0)
    os.waitpid(child, 0)
    theirs.close()
    os.close(reader)
    return Starter(word, report.detach())


def _be_starter(
    reader: int,
    report: int,
    capsule: tuple[int, int],
    stopped: Collection[int],
    undo: Callable[[], None],
) -> NoReturn:
    pid, first = capsule
    try:
        os.setsid()
        kept = sorted((reader, report, first))
        os.closerange(0, kept[0])
        ends = [*kept[1:], os.sysconf("SC_OPEN_MAX")]
        for below, above in zip(kept, ends, strict=True):
            os.closerange(below + 1, above)
        said = os.read(reader, 1)
        if said == spawn.GO:
            # First: what is executed from now on is not the start that was judged.
            os.close(report)
            stopped_processes.let_go(pid, _marks(pid, stopped))
        elif said != _NOTHING:
            with contextlib.suppress(ProcessLookupError):
                signal.pidfd_send_signal(first, signal.SIGKILL)
            undo()
    finally:
        os._exit(0)


def _marks(pid: int, stopped: Collection[int]) -> list[Mark]:
    """Return how those are known out here who are to stand still for longer."""
    members = stopped_processes.members(pid) if stopped else {}
    return [members[one].mark for one in stopped if one in members]
