"""Restores the tree of an image into a new capsule, where it stays stopped."""

import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import NamedTuple

from holdfast.linux.capsule import stopped_processes
from holdfast.linux.capsule.start import Vacant, begin_vacant
from holdfast.linux.capsule.view import STATE_PIPE, View
from holdfast.linux.criu import engine, typeahead
from holdfast.linux.criu.new_gate import NewGate
from holdfast.linux.criu.program import Program
from holdfast.linux.criu.terminal_settings import set_terminal
from holdfast.linux.process_table import Process
from holdfast.model.errors import CriuFailed, HoldfastError
from holdfast.model.geometry import clamped
from holdfast.model.session_record import CapsuleRecord
from holdfast.wire.image_manifest import Manifest


class RestoredTree(NamedTuple):
    """A tree that stands still, and its capsule."""

    capsule: Vacant
    record: CapsuleRecord
    leader: int
    """The leader, as the machine numbers it."""

    members: Mapping[int, Process]
    """All of it, by the capsule's own numbers."""

    listener: int | None = None
    """Of its exec gate, if it has one."""


def restore_tree(  # noqa: PLR0913, PLR0917  # each is a fact of its own
    program: Program,
    images: Path,
    manifest: Manifest,
    view: View,
    cache: Path,
    within: engine.Within,
    meanwhile: Callable[[Vacant], None],
) -> RestoredTree:
    """Restore what CRIU has written into `images`; `cache` is for what it finds out.

    `meanwhile` is called while CRIU works.

    Raises:
        HoldfastError: It cannot be restored; nothing of it is left.
        OSError: Likewise.

    """
    size = manifest.terminal.size
    counter = engine.counter_for(images)
    vacant, awaited = begin_vacant(view, clamped(size.columns, size.rows), counter)
    gate = NewGate() if manifest.capsule.exec_gate else None

    def work_on() -> None:
        awaited.wait()
        meanwhile(vacant)

    try:
        record = _record(manifest, vacant, view)
        site = engine.Site(record, vacant.first, within)
        with tempfile.TemporaryDirectory(dir=cache) as work:
            folders = engine.Folders(images, Path(work), cache)
            engine.restore(
                program,
                site,
                folders,
                manifest.terminal.key,
                is_still=True,
                is_counted=True,
                is_cut=manifest.capsule.net != "own",
                gate=gate,
                meanwhile=work_on,
            )
        set_terminal(vacant.master, manifest.terminal)
        tree = _found(vacant, record)
        return tree if gate is None else tree._replace(listener=gate.taken())
    except (HoldfastError, OSError):
        vacant.drop()
        raise
    finally:
        awaited.link.close()
        if gate is not None:
            gate.close()


def type_ahead(tree: RestoredTree, typed: bytes) -> None:
    """Have wait to be read what waited when the tree was dumped.

    Raises:
        OSError: The terminal is gone.

    """
    typeahead.replay(tree.capsule.master, typed)


def _record(manifest: Manifest, vacant: Vacant, view: View) -> CapsuleRecord:
    made = manifest.capsule
    return CapsuleRecord(
        first=vacant.pid,
        space=Path(f"/proc/{vacant.pid}/ns/pid").stat().st_ino,
        inner_init=made.root_pid,
        inner_leader=made.leader_pid,
        terminal=vacant.terminal,
        rootless=made.rootless,
        net="own" if view.has_own_net else "host",
        pipe=STATE_PIPE if view.pipe else "",
    )


def _found(vacant: Vacant, record: CapsuleRecord) -> RestoredTree:
    """Find out who is who in the tree."""
    members = stopped_processes.members(record.first)
    init, leader = members.get(record.inner_init), members.get(record.inner_leader)
    if init is None or leader is None:
        raise CriuFailed("the leader is not in the restored tree")
    known = record._replace(init=init.pid, parent=leader.parent)
    return RestoredTree(vacant, known, leader.pid, members)
