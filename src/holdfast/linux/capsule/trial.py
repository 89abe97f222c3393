"""Whether a capsule can be made here, tested by making one."""

import os

from holdfast.linux import exec_filter, spawn
from holdfast.linux.capsule.overlays import Layered
from holdfast.linux.capsule.start import hold_leader
from holdfast.linux.capsule.view import View
from holdfast.model.errors import HoldfastError, NoCapsule, NoOwnFiles
from holdfast.model.geometry import DEFAULT_SIZE


def why_not(layers: tuple[Layered, ...] = ()) -> str:
    """Return why no capsule can be made, perhaps with files of its own.

    Nothing if one can; it is gone already.
    """
    leader = spawn.Leader(("/bin/true",), "/", {})
    is_root = exec_filter.is_privileged()
    view = View((), is_root=is_root, uid=os.getuid(), layers=layers)
    try:
        made = hold_leader(leader, view, DEFAULT_SIZE)
    except (NoCapsule, NoOwnFiles) as error:
        return str(error.facts["why"])
    except HoldfastError as error:
        return str(error)
    held = made.held
    for fd in (made.lifeline, made.master, made.first, held.word, held.report):
        os.close(fd)
    os.waitpid(made.record.first, 0)
    return ""
