"""Restores a session's tree from an image; it stays stopped until resumed.

So it waits to be judged, as a leader does that was forked (linux/capsule/starter.py).
"""

from functools import partial

from holdfast.core.capsule.limit_choice import LimitChoice
from holdfast.core.capsule.manifest import check_machine
from holdfast.holder.capsule_start import view_for, with_layers
from holdfast.holder.held_leader import HeldLeader
from holdfast.holder.image_manifest import machine_of
from holdfast.holder.recovered_session import NextLife
from holdfast.holder.tree_dump import usable_criu
from holdfast.holder.waiting_tree import Place, restored
from holdfast.linux import exec_filter, spawn
from holdfast.linux.criu.program import Program
from holdfast.linux.own_files import trees_for
from holdfast.linux.stored import layer_archive, layer_store, put_back
from holdfast.linux.stored.image_store import ClaimedImage
from holdfast.model import errors
from holdfast.model.ids import SessionId
from holdfast.model.session_requests import Creation
from holdfast.wire.image_manifest import Manifest


def hold(
    life: NextLife,
    asked: Creation,
    session: SessionId,
    leader: spawn.Leader,
    choice: LimitChoice,
) -> HeldLeader:
    """Restore the tree of an image, which stands still, on a terminal of its own.

    Files that it has open are put back first, and are as they were if it does not go
    on after all.

    Raises:
        HoldfastError: It cannot be restored here.
        OSError: The kernel refuses.

    """
    image = life.image
    if image is None:
        raise errors.ImageNotFound(session)
    if asked.exec_gate and not image.manifest.capsule.exec_gate:
        # Nobody may come by a session without its gate in this way.
        raise errors.ImageDamaged("its session had an exec gate, and it has none")
    program = _fitting(image.manifest)
    wanted = asked._replace(net=_net_of(asked, image.manifest.capsule.net))
    view = view_for(wanted, session, leader)
    kept_from = (*view.hidden, *view.fixed)
    stack = _files_of(image, asked, session)
    if stack is not None:
        view = with_layers(view, stack, leader.environment)
    done = put_back.put_back(image.folder, image.put_back, kept_from, life.incarnation)
    undo = partial(put_back.undo, done, kept_from)
    place = Place(session, view, stack, choice)

    def note_try() -> None:
        if life.tried_as is not None:
            image.try_as(life.tried_as)

    try:
        return restored(image, program, place, leader, note_try, undo)
    except (errors.HoldfastError, OSError):
        undo()
        raise


def _fitting(manifest: Manifest) -> Program:
    """Return the CRIU to restore with, if the image can go on here."""
    program = usable_criu()
    check_machine(manifest.machine, machine_of(program))
    is_root = exec_filter.is_privileged()
    if manifest.capsule.rootless is is_root:
        theirs, ours = _user(is_root=not is_root), _user(is_root=is_root)
        raise errors.ImageMisfit("a capsule of", theirs, ours)
    return program


def _files_of(
    image: ClaimedImage, asked: Creation, session: SessionId
) -> layer_store.Stack | None:
    """Return the files of its own that a session goes on with.

    Those are what an image has kept; a branch of a session without any has the
    machine's below a layer in which nothing was changed.
    """
    made = image.manifest.capsule
    if made.files != "own" and asked.branches:
        return layer_store.make(session, trees_for(asked.cwd))
    if made.files != "own" or (asked.takes and asked.files != "own"):
        return None
    path = f"{image.folder}/{layer_archive.FILES}"
    is_branch = bool(asked.branches)
    return layer_archive.unpack(
        session, made.trees, made.layers, path, is_branch=is_branch
    )


def _net_of(asked: Creation, dumped_in: str) -> str:
    """Return which network a tree is restored into."""
    if asked.branches:  # Two trees in one network would want the same ports.
        return "own"
    return asked.net if asked.takes else dumped_in


def _user(*, is_root: bool) -> str:
    return "root" if is_root else "an ordinary user"
