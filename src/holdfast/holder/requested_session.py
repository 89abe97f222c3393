"""Makes the requested session: a new one, a branch, or a next incarnation."""

import os

from holdfast.holder import recovered_session
from holdfast.holder.granted_life import granted_life
from holdfast.holder.new_session import make_session
from holdfast.holder.session_descriptors import SessionDescriptors
from holdfast.linux.stored import operators
from holdfast.model.ids import SessionId
from holdfast.model.session_requests import Creation


def made_for(
    asked: Creation, session: SessionId, creator: operators.Enrolled
) -> SessionDescriptors:
    """Make a session, a branch of one, or the next life of one that is lost.

    Raises:
        HoldfastError: It cannot be made.
        OSError: The kernel refuses.

    """
    if asked.branches and not asked.recover:
        # Few sessions are ever branches: the nursery does without its code.
        from holdfast.holder import branched_session  # noqa: PLC0415  # see above

        return branched_session.make(asked, session, creator)
    if not asked.recover:
        return make_session(asked, session, creator)
    locked = recovered_session.lock(session)
    try:
        if asked.image or asked.takes:
            # Few sessions are ever restored: the nursery does without its code.
            from holdfast.holder import restored_session  # noqa: PLC0415  # see above

            return restored_session.make(asked, session, creator)
        life, asked = granted_life(recovered_session.demand_lost(session), asked)
        recovered_session.clear_way(session)
        return make_session(life.creation(asked), session, creator, life)
    finally:
        os.close(locked)
