"""Whether a capsule can be made here, found out by making one."""

import os

from holdfast.linux import exec_filter, spawn
from holdfast.linux.capsule.start import hold_leader
from holdfast.linux.capsule.view import View
from holdfast.model.errors import HoldfastError, NoCapsule
from holdfast.model.geometry import DEFAULT_SIZE


def why_not() -> str:
    """Return why no capsule can be made; nothing if one can. It is gone already."""
    leader = spawn.Leader(("/bin/true",), "/", {})
    view = View((), is_root=exec_filter.is_privileged(), uid=os.getuid())
    try:
        made = hold_leader(leader, view, DEFAULT_SIZE)
    except NoCapsule as error:
        return str(error.facts["why"])
    except HoldfastError as error:
        return str(error)
    held = made.held
    for fd in (made.lifeline, made.master, made.first, held.word, held.report):
        os.close(fd)
    os.waitpid(made.record.first, 0)
    return ""
