"""What runs in a capsule, and what listens in its network, at one moment."""

import time
from typing import NamedTuple

from holdfast.core.capsule.preview_findings import Glance
from holdfast.linux import procfs
from holdfast.linux.criu.engine import numbers
from holdfast.linux.process_table import read_process
from holdfast.linux.sockets import Tables

MOMENT = 0.05
"""Seconds that a process must have lived for to count as left."""


class Place(NamedTuple):
    """A capsule, by one of its processes."""

    member: int
    """The number of that process outside."""

    @property
    def is_rootless(self) -> bool:
        """Whether it knows other users than the machine does."""
        theirs, ours = (
            procfs.link(f"/proc/{one}/ns/user") for one in (self.member, "self")
        )
        return theirs != ours

    def glance(self) -> Glance:
        """Return what is there now."""
        processes = {}
        for inner, pid in numbers(self.member).items():
            process = read_process(pid)
            if process is not None and not process.is_dead:
                command = procfs.command_of(pid) or procfs.status(pid, "Name")
                processes[inner, process.started] = command
        ports = frozenset(
            f"{one.protocol} {_shown(one.local)}:{one.local_port}"
            for one in Tables().all_listening(self.member)
        )
        return Glance(processes, ports)

    def settled(self) -> Glance:
        """Return what is there and stays for a moment: a shell ends some of its own."""
        first = self.glance()
        time.sleep(MOMENT)
        second = self.glance()
        stays = {
            mark: command
            for mark, command in second.processes.items()
            if mark in first.processes
        }
        return Glance(stays, second.ports)


def _shown(address: str) -> str:
    return f"[{address}]" if ":" in address else address
