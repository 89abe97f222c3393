"""Restores the tree of an image, which stays stopped until resumed.

What need not be done before is done while CRIU works: its first process executes what
it is for, the process that waits for the word is made, and the try is noted.
"""

import contextlib
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

from holdfast.core.capsule.limit_choice import LimitChoice
from holdfast.holder import session_limits
from holdfast.holder.capsule_start import recorded
from holdfast.holder.held_leader import HeldLeader
from holdfast.holder.image_parts import CRIU_FILES, TYPED
from holdfast.holder.provenance.process_starters import restored_starters
from holdfast.linux import spawn
from holdfast.linux.capsule import starter
from holdfast.linux.capsule.start import Capsule, Vacant
from holdfast.linux.capsule.view import View
from holdfast.linux.criu import restored_tree
from holdfast.linux.criu.engine import Within
from holdfast.linux.criu.program import Program
from holdfast.linux.criu.restored_tree import RestoredTree
from holdfast.linux.stored import layer_store, places
from holdfast.linux.stored.image_store import ClaimedImage
from holdfast.model.errors import HoldfastError
from holdfast.model.ids import SessionId


class Place(NamedTuple):
    """Where a tree goes on."""

    session: SessionId
    view: View
    stack: layer_store.Stack | None
    """What its own files are made of; None if it has none."""

    limits: LimitChoice


def restored(
    image: ClaimedImage,
    program: Program,
    place: Place,
    leader: spawn.Leader,
    note_try: Callable[[], None],
    undo: Callable[[], None],
) -> HeldLeader:
    """Restore the tree of an image, which waits for the word; else call `undo`.

    That it is tried is noted by `note_try`, before anything of it can run.

    Raises:
        HoldfastError: It cannot be restored; nothing of it is left.
        OSError: Likewise.

    """
    begun: list[starter.Starter] = []

    def meanwhile(vacant: Vacant) -> None:
        ends = vacant.pid, vacant.first
        begun.append(starter.make(ends, image.manifest.stopped, undo))
        note_try()

    with (
        session_limits.prepared(place.session, place.limits) as ready,
        _dismissed_at_failure(begun),
    ):
        made, choice = ready.made, ready.choice
        tree = restored_tree.restore_tree(
            program,
            Path(image.folder, CRIU_FILES),
            image.manifest,
            place.view,
            places.criu_dir(),
            Within(leader.cgroup, ready.handles),
            meanwhile,
        )
        # It has its memory and its processes already, and CRIU needed some besides.
        with _dropped_at_failure(tree):
            image.end_verifying()
            session_limits.apply(made, choice)
            restored_tree.type_ahead(tree, Path(image.folder, TYPED).read_bytes())
            held = begun[0].held(tree.leader, leader.program, tree.listener)
            starters = restored_starters(tree.members, tree.leader, image.manifest)
            if place.stack is not None:
                # From here on a session that is lost goes on with the image's files.
                layer_store.write(place.stack)
    record = tree.record if place.stack is None else recorded(tree.record, place.stack)
    vacant = tree.capsule
    whole = Capsule(held, record, vacant.master, vacant.first, vacant.lifeline)
    whole = session_limits.recorded_in(whole, made)
    return HeldLeader(held, vacant.master, whole, choice.limits, starters)


@contextlib.contextmanager
def _dropped_at_failure(tree: RestoredTree) -> Iterator[None]:
    try:
        yield
    except (HoldfastError, OSError):
        tree.capsule.drop()
        if tree.listener is not None:
            os.close(tree.listener)
        raise


@contextlib.contextmanager
def _dismissed_at_failure(begun: list[starter.Starter]) -> Iterator[None]:
    try:
        yield
    except (HoldfastError, OSError):
        for one in begun:
            one.dismiss()
        raise
