"""Repairs a session whose checkpoint was interrupted."""

import contextlib

from holdfast.linux.capsule import stopped_processes
from holdfast.linux.stored import image_store
from holdfast.linux.stored.checkpoint_note import LockedNote
from holdfast.model.errors import HoldfastError


def let_go_on(note: LockedNote, first: int) -> None:
    """Let the tree go on, but for what stood still before; leave no draft, no note.

    `first` is pid 1 of its capsule. To do it twice does no harm.
    """
    stopped_processes.let_go(first, note.read().spared)
    with contextlib.suppress(OSError, HoldfastError):
        image_store.sweep()
    note.remove()
