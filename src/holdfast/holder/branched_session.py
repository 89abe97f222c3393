"""Starts a branch: a new session that continues from an image of another.

The image's session may live, be lost or have ended; nothing of it is touched. So nobody
has to be dead for it, as for the next life of a session (holder/restored_session.py),
and the image is not spent. What was made for one branch alone is removed with it.
"""

import contextlib

from holdfast.core.capsule.manifest import PASSING
from holdfast.core.session.recovery import read_facts, read_tail
from holdfast.crypto.keys import SigningKey
from holdfast.holder import image_parts
from holdfast.holder.fork_right import demand_fork
from holdfast.holder.new_session import make_session
from holdfast.holder.recovered_session import NextLife
from holdfast.holder.session_descriptors import SessionDescriptors
from holdfast.linux.stored import image_store, operators
from holdfast.linux.stored.host_key import host_seed
from holdfast.linux.stored.image_store import ClaimedImage, ImageName
from holdfast.model.errors import HoldfastError
from holdfast.model.ids import FIRST_INCARNATION, SessionId
from holdfast.model.session_record import ParentRecord
from holdfast.model.session_requests import Creation


def make(
    asked: Creation, session: SessionId, creator: operators.Enrolled
) -> SessionDescriptors:
    """Make a session that goes on from an image of another; it stands still.

    Raises:
        HoldfastError: There is no such image, or it cannot be restored here.
        Forbidden: Its creator may make no branch of that session.
        OSError: The kernel refuses.

    """
    name = ImageName.parse(asked.branches)
    host = SigningKey.from_seed(host_seed()).public
    try:
        with image_store.claim(name, host) as image:
            life = demand_branch(image, creator, trial=asked.trial)
            made = make_session(life.creation(asked), session, creator, life)
            made.restored = image_parts.restored_from(image.manifest)
            return made
    finally:
        remove_passing(name)


def demand_branch(
    image: ClaimedImage, creator: operators.Enrolled, *, trial: bool = False
) -> NextLife:
    """Return what to begin a session with that goes on from this image.

    Raises:
        Forbidden: Its creator may make no branch of that session.
        UsageError: The image cannot go on here.
        PeerError: It is damaged.

    """
    manifest = image.manifest
    image.begin_verifying()
    facts = read_facts(image_parts.part_of(image, image_parts.START), manifest.session)
    demand_fork(manifest.session, facts.creator, creator)
    image_parts.check_programs(manifest)
    parent = ParentRecord(
        manifest.session,
        manifest.number,
        manifest.incarnation,
        manifest.log_index,
        trial,
    )
    tail = read_tail(image_parts.part_of(image, image_parts.WINDOW))
    return NextLife(facts, tail, FIRST_INCARNATION, image, parent)


def remove_passing(name: ImageName) -> None:
    """Remove an image that was made for one branch; a sweep would do it later."""
    with contextlib.suppress(HoldfastError, OSError):
        if image_store.has_file(name, PASSING):
            image_store.remove(name)
