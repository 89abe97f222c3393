"""Lost sessions of this machine, for remote operators.

Who may observe a session sees that it was lost. To have it started again takes the
right to create sessions, as every start does, and that to write in it: its command and
its environment are not those of who asks. An agent gets back what it began, which its
holder decides, and so does the policy.
"""

from holdfast.crypto.proof import proven_recovery
from holdfast.host.guests import Guest, wall
from holdfast.host.session_rights import leaves, leaves_anything
from holdfast.linux.stored.lost_sessions import lost
from holdfast.model.envelopes import Right
from holdfast.model.errors import NotAllowed
from holdfast.model.ids import parse_session_id
from holdfast.model.lost_record import LostRecord
from holdfast.model.session_record import Facts, SessionRecord
from holdfast.model.session_requests import Recover

MAX_TOLD = 24 * 1024
"""Bytes of what is told of lost sessions: half a packet, beside those that live."""


def told_to(guest: Guest, listed: list[object]) -> list[Facts]:
    """Return the lost sessions that a guest may know of, as far as there is room.

    `listed` are those that the keeper has. The last to be seen come first.
    """
    living = {SessionRecord.from_facts(one).id for one in listed}
    told: list[Facts] = []
    room = MAX_TOLD
    for one in reversed(lost(living)):
        if guest.may(Right.OBSERVE, one.id) and leaves_anything(guest.id, one.id):
            facts = _told(guest, one).facts()
            room -= len(repr(facts))
            if room < 0:
                break
            told.append(facts)
    return told


def _told(guest: Guest, one: LostRecord) -> LostRecord:
    """Return a lost session without its images, unless the guest may know of them."""
    right = Right.CHECKPOINT
    if guest.may(right, one.id) and leaves(guest.id, right, one.id):
        return one
    return one._replace(saved=0, saved_ms=0)


def vouched_for(guest: Guest, asked: Recover) -> Recover:
    """Return the request as it goes to our own keeper.

    The channel has proven who asks; to our own holder we vouch for it. If no
    environment was kept, it gets that of this host.

    Raises:
        Forbidden: The guest may not.
        UsageError: It names no session.

    """
    session = parse_session_id(asked.recovers)
    if guest.enrolled.promised is not None:
        guest.demand(Right.CREATE, None)  # Else the session's holder decides.
    needed = [Right.INPUT, Right.CHECKPOINT] if asked.image else [Right.INPUT]
    for right in needed:
        guest.demand(right, session)
        if not leaves(guest.id, right, session):
            raise NotAllowed(guest.id, right.value)
    whole = asked._replace(
        env=None, creator=guest.id, asked_ms=round(wall() * 1000), proof=""
    )
    return proven_recovery(whole, guest.enrolled.token())
