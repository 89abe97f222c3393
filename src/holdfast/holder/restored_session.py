"""Starts the next incarnation of a session from one of its images.

As for a recovery (holder/recovered_session.py), and under its lock: nobody may have the
session, and no leader of it may run. The image is ours alone for as long as it takes,
and is believed only once all of it was read.
"""

import contextlib
import dataclasses
import time

from holdfast.core.capsule.manifest import check_unspent
from holdfast.core.capsule.open_files import Wish, to_put_back, wish_of
from holdfast.core.session.recovery import read_facts, read_tail
from holdfast.holder import image_parts
from holdfast.holder.fork_right import demand_fork
from holdfast.holder.granted_life import granted_life
from holdfast.holder.new_session import make_session
from holdfast.holder.recovered_session import NextLife, clear_way, demand_dead
from holdfast.holder.session_descriptors import SessionDescriptors
from holdfast.linux.stored import move_notes, operators, put_back, recovery_files
from holdfast.linux.stored.book_end import last_entries, life_of
from holdfast.linux.stored.image_store import ClaimedImage, ImageName
from holdfast.model import errors
from holdfast.model.ids import Incarnation, SessionId, next_incarnation
from holdfast.model.session_requests import Creation


def make(
    asked: Creation, session: SessionId, creator: operators.Enrolled
) -> SessionDescriptors:
    """Make the next life of a session, which goes on from an image; it stands still.

    Raises:
        HoldfastError: It cannot be restored.
        OSError: The kernel refuses.

    """
    begun_at = time.monotonic()
    name = ImageName(session, asked.image)
    if asked.takes:
        name = ImageName.parse(asked.takes)
    with image_parts.claimed(name) as image:
        if asked.takes:
            life = demand_promotable(session, image, creator)
        else:
            granted = Incarnation(asked.incarnation) if asked.incarnation else None
            wish = wish_of(asked.open_files)
            life = demand_restorable(session, image, wish, granted)
            demand_no_move(session, asked)
        life, asked = granted_life(life, asked)
        clear_way(session)
        made = make_session(life.creation(asked), session, creator, life)
        told = image_parts.restored_from(image.manifest)
        made.restored = told._replace(origin=asked.origin)
        if life.forked_at is not None:
            # Its book is the session's, which knows none of the branch's commands.
            told = made.restored._replace(through=life.forked_at, command=0)
            made.restored = told
        made.taken = image.manifest.session if asked.takes else None
        made.begun_at = begun_at
        return made


def demand_restorable(
    session: SessionId,
    image: ClaimedImage,
    wish: Wish = Wish.REFUSE,
    granted: Incarnation | None = None,
) -> NextLife:
    """Return what to begin a session with that goes on from this image.

    `wish` is what becomes of open files that have changed, `granted` the life that its
    relay has given us for it.

    Raises:
        UsageError: The session is running, or the image cannot be restored here.
        PeerError: The image is damaged.
        OSError: The kernel refuses.

    """
    lived, tried = life_of_book(session), image.tried()
    check_unspent(image.manifest, tried, lived)
    image.begin_verifying()
    image_parts.check_programs(image.manifest)
    opened = image.manifest.open_files
    changed = to_put_back(opened, put_back.looked_at(opened), wish)
    facts = read_facts(image_parts.part_of(image, image_parts.START), session)
    tail = read_tail(image_parts.part_of(image, image_parts.WINDOW))
    known = facts
    with contextlib.suppress(errors.HoldfastError, OSError):
        known = recovery_files.facts_of(session)
    note = move_notes.find(session)
    is_foreign = note is not None and note.stage == move_notes.ARRIVING
    # The leader of a life elsewhere says nothing: the relay has granted this one.
    demand_dead(session, None if is_foreign and known is facts else known)
    if not is_foreign:
        demand_dead(session, facts)
    last = max(lived, known.incarnation, tried or Incarnation(0))
    life = next_incarnation(Incarnation(last))
    image.put_back = tuple(changed)
    # Others can be restored from a disk that is read-only.
    tried_as = (granted or life) if image.manifest.once else None
    return NextLife(facts, tail, life, image, tried_as=tried_as)


def demand_no_move(session: SessionId, asked: Creation) -> None:
    """Do nothing if the session was not to move, or its relay has granted this life.

    Raises:
        Unavailable: It was to move, and its relay was not asked.

    """
    if not asked.incarnation and move_notes.find(session) is not None:
        raise errors.LeaseNeeded(session, "it was on its way to another host")


def demand_promotable(
    session: SessionId, image: ClaimedImage, creator: operators.Enrolled
) -> NextLife:
    """Return what to begin a session with that goes on as a branch of it did.

    What the session is stays: its creator, its rules, its network, whose files it has.
    What runs in it is the branch's.

    Raises:
        UsageError: One of the two is in use, or it is not a branch of this session.
        Forbidden: Who asks may make no branch of it.
        PeerError: The image is damaged.
        OSError: The kernel refuses.

    """
    branch = image.manifest.session
    lived, tried = life_of_book(session), image.tried()
    check_unspent(image.manifest, tried, lived)
    image.begin_verifying()
    image_parts.check_programs(image.manifest)
    facts = read_facts(image_parts.part_of(image, image_parts.START), branch)
    if facts.parent is None or facts.parent.session != session:
        raise errors.NoBranch(branch)
    if facts.parent.trial:
        raise errors.OnlyATrial(branch)
    known = recovery_files.facts_of(session)
    demand_fork(session, known.creator, creator)
    demand_dead(session, known)
    demand_dead(branch, facts)
    last = max(lived, known.incarnation, tried or Incarnation(0))
    life = next_incarnation(Incarnation(last))
    goes_on = dataclasses.replace(
        known,
        command=facts.command,
        cwd=facts.cwd,
        environment=facts.environment,
        integration=facts.integration,
        window=facts.window,
        shell_of=facts.shell_of,
    )
    tail = read_tail(image_parts.part_of(image, image_parts.WINDOW))
    forked_at = facts.parent.entry
    return NextLife(goes_on, tail, life, image, forked_at=forked_at, tried_as=life)


def life_of_book(session: SessionId) -> Incarnation:
    """Return the last life that a session's logbook tells of.

    Raises:
        UsageError: It cannot be read.

    """
    entries = last_entries(session)
    if not entries:
        raise errors.NotRecoverable(session, "its logbook cannot be read")
    return life_of(entries[-1])
