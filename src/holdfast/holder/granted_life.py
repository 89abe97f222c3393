"""The next life of a movable session, which begins only once its relay has granted it.

Another host may have a copy of the session, and may have gone on with it while this
machine was down: only the relay knows. So whoever asks, and by whatever way, the host
of this machine is asked first, and asks the relay. A session that was just created is
known to nobody else, and does not wait (docs/spec/leases.md, 4.13).
"""

from holdfast.holder.recovered_session import NextLife
from holdfast.linux import packets
from holdfast.linux.stored import places
from holdfast.model.errors import LeaseLost, LeaseNeeded
from holdfast.model.ids import Incarnation, SessionId
from holdfast.model.session_requests import ClaimLease, Creation, packet_of
from holdfast.wire.host_requests import error_from

PATIENCE = 15.0
"""Seconds for the host: it waits for the relay."""


def granted_life(life: NextLife, asked: Creation) -> tuple[NextLife, Creation]:
    """Return the life that the session's relay has granted, and the request for it.

    One that is not movable has the next life by itself.

    Raises:
        Unavailable: Its relay does not grant it, or cannot be asked.

    """
    if not asked.incarnation and life.facts.authority:
        asked = claimed(life, asked)
    if not asked.incarnation:
        return life, asked
    if asked.incarnation < life.incarnation:
        raise LeaseLost(Incarnation(asked.incarnation))
    granted = Incarnation(asked.incarnation)
    return life._replace(incarnation=granted, is_moved=bool(asked.origin)), asked


def claimed(life: NextLife, asked: Creation) -> Creation:
    """Have the host claim the next life, of a session that nobody has here.

    Raises:
        Unavailable: The relay refuses, or cannot be asked.

    """
    session, seen = life.facts.session, life.incarnation - 1
    wish = ClaimLease(session, life.facts.authority, seen, dead=life.facts.incarnation)
    answer = _asked(session, wish)
    if answer.get("ok") is not True:
        raise error_from(answer)
    return asked._replace(
        incarnation=int(str(answer["incarnation"])),
        expires_ms=int(str(answer["expires_ms"])),
    )


def _asked(session: SessionId, wish: ClaimLease) -> packets.Packet:
    try:
        with packets.connect(places.host_socket(), PATIENCE) as link:
            packets.send(link, packet_of(wish))
            heard = packets.receive(link)
    except OSError:
        heard = None
    if heard is None:
        raise LeaseNeeded(session, "no host runs here; `holdfast up` starts it")
    packets.close(heard[1])
    return heard[0]
