"""Replaces a parent with its branch: the parent's id and name, the branch's tree.

    1  both could be put to disk, and no file is in conflict     nothing was touched
    2  the branch is stopped, into an image                      the parent lives
    3  the parent is stopped, into an image that is kept         both are on disk
    4  what the branch changed is applied, by a journal          ditto, files in part
    5  the parent's next incarnation goes on from the branch's   the parent lives
       image
    6  image, record and layers of the branch are removed        it is done

A death in between leaves what stands on the right, and the same request goes on from
there. A note beside the branch's layers says that 4 was begun, so that what was applied
is not taken for a conflict. Whether 5 was done, the image says: it is for once.
"""

import contextlib
import os
import time
from typing import NamedTuple

from holdfast.client import keeper, own_files
from holdfast.client.authority import demand_grant
from holdfast.client.calls import checkpoint, preflight
from holdfast.client.lost_sessions import find_lost
from holdfast.client.proven_requests import recovery_by_us
from holdfast.core.capsule.manifest import is_spent
from holdfast.crypto.keys import SigningKey
from holdfast.linux.stored import (
    image_store,
    layer_store,
    own_changes,
    recovery_files,
    recovery_places,
)
from holdfast.linux.stored.book_end import last_entries, life_of
from holdfast.linux.stored.host_key import host_seed
from holdfast.linux.stored.small_files import replace_file
from holdfast.model import errors
from holdfast.model.ids import ENTROPY, FIRST_INCARNATION, SessionId, client_id
from holdfast.model.session_record import SessionRecord, record_of
from holdfast.model.session_requests import Created, Recover

_NOTE = "promoting"

_PATIENCE = 5.0
"""Seconds for processes that let go of a session to have done so."""


class Promoted(NamedTuple):
    """The parent, as it goes on."""

    made: Created
    before: str
    """The image of what it was before; empty if it was on disk already."""

    branch: SessionId
    """What is left to be removed, if its start waits for approval."""


def promote(text: str, *, forced: bool = False) -> Promoted:
    """Replace a parent with its branch, or finish an interrupted promotion.

    Raises:
        Forbidden: An operator involved lacks the right.
        UsageError: It is no branch, something is in the way, or files were changed
            outside too.
        Unavailable: CRIU or the disk refused.

    """
    demand_grant("fork --promote")
    if "/" in text:
        raise errors.OnlyHere("managing branches")
    living = keeper.sessions()
    branch = _meant(text, living)
    parent = _parent_of(branch)
    by_id = {one.id: one for one in living}
    name = by_id[parent].name if parent in by_id else own_files.called(parent)
    if branch not in by_id and _is_done(_image_of(branch), parent):
        clean(branch)
        return Promoted(_as_made(parent, by_id.get(parent)), "", branch)
    shares = recovery_files.facts_of(parent).files != "own"
    both = [by_id[one] for one in (branch, parent) if one in by_id]
    _demand_possible(both, branch, shares=shares, forced=forced)
    if branch in by_id:
        checkpoint(branch, stop=True, label="")
    before = ""
    if parent in by_id:
        label = "before a branch was promoted"
        before = checkpoint(parent, stop=True, label=label).image
    if shares:
        _apply(branch, forced=forced)
    asked = Recover(
        recovers=parent,
        name=name,
        client=client_id(os.urandom(ENTROPY)),
        takes=str(_image_of(branch)),
    )
    made = _begun(asked)
    if made.state != "starting":  # Otherwise it may still be denied.
        clean(branch)
    return Promoted(made, before, branch)


def _begun(asked: Recover) -> Created:
    """Have the parent go on; its keeper may not have heard yet that it has stopped."""
    until = time.monotonic() + _PATIENCE
    while True:
        try:
            return record_of(Created, keeper.request(recovery_by_us(asked)))
        except errors.StillAlive:
            if time.monotonic() >= until:
                raise
        time.sleep(_PATIENCE / 100)


def _meant(text: str, living: list[SessionRecord]) -> SessionId:
    with contextlib.suppress(errors.SessionNotFound):
        return SessionId(keeper.resolve(text, living).id)
    return find_lost(text).id


def _parent_of(branch: SessionId) -> SessionId:
    """Return the parent of a branch, which may be on disk alone."""
    facts = recovery_files.facts_of(branch)
    if facts.parent is None:
        raise errors.NoBranch(facts.name)
    if facts.parent.trial:
        raise errors.OnlyATrial(facts.name)
    return SessionId(facts.parent.session)


def _image_of(branch: SessionId) -> image_store.ImageName:
    """Return the image that a branch is in."""
    return image_store.ImageName(branch, find_lost(branch).image)


def _is_done(image: image_store.ImageName, parent: SessionId) -> bool:
    """Tell whether the parent has lived on from an image of its branch."""
    host = SigningKey.from_seed(host_seed()).public
    entries = last_entries(parent)
    lived = life_of(entries[-1]) if entries else FIRST_INCARNATION
    with image_store.claim(image, host) as claimed:
        return is_spent(once=True, tried=claimed.tried(), lived=lived)


def _demand_possible(
    both: list[SessionRecord], branch: SessionId, *, shares: bool, forced: bool
) -> None:
    for one in both:
        for blocker in preflight(one.id).blockers:
            raise errors.NotCheckpointable(one.label, blocker.what)
    if not shares or forced or _is_begun(branch):
        return
    found = [one.path for one in own_changes.changes(branch) if one.is_conflict]
    if found:
        raise errors.FilesConflict(found[0], len(found))


def _is_begun(branch: SessionId) -> bool:
    return os.path.exists(f"{layer_store.folder_of(branch)}/{_NOTE}")  # noqa: PTH110  # a string


def _apply(branch: SessionId, *, forced: bool) -> None:
    is_begun = _is_begun(branch)
    replace_file(f"{layer_store.folder_of(branch)}/{_NOTE}", b"")
    own_files.apply(branch, forced=forced or is_begun)


def clean(branch: SessionId) -> None:
    """Remove what is left of a branch that its parent goes on as."""
    with contextlib.suppress(errors.HoldfastError, OSError):
        image_store.remove(_image_of(branch))
    with contextlib.suppress(errors.HoldfastError, OSError):
        layer_store.remove(branch)
    recovery_places.remove(branch)


def _as_made(parent: SessionId, known: SessionRecord | None) -> Created:
    one = known or SessionRecord(parent, own_files.called(parent))
    return Created(one.id, one.name, one.pid, one.state, incarnation=one.incarnation)
