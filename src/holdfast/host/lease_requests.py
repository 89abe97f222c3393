"""What the leases of movable sessions are asked for by programs of this machine."""

from holdfast.host.lease_driver import SILENT, Leases
from holdfast.model.errors import LeaseNeeded
from holdfast.model.ids import HostId, Incarnation, SessionId, parse_session_id
from holdfast.model.session_requests import ClaimLease, PassLease
from holdfast.wire.host_requests import Packet


async def answer(leases: Leases, asked: ClaimLease | PassLease) -> Packet:
    """Ask the relay of a session, and return what came of it.

    Raises:
        HoldfastError: It refuses, or does not answer.

    """
    session = parse_session_id(asked.id)
    try:
        if isinstance(asked, ClaimLease):
            return await _claimed(leases, session, asked)
        await leases.pass_on(
            session,
            asked.relay,
            Incarnation(asked.life),
            [HostId(one) for one in asked.heirs],
            releases=asked.release,
        )
    except TimeoutError:
        raise LeaseNeeded(session, SILENT) from None
    return {"ok": True}


async def _claimed(leases: Leases, session: SessionId, asked: ClaimLease) -> Packet:
    seen, dead = Incarnation(asked.seen), Incarnation(asked.dead)
    was = Incarnation(asked.was) if asked.was else None
    life, expires = await leases.claim(session, asked.relay, seen, was, dead)
    return {"ok": True, "incarnation": life, "expires_ms": int(expires * 1000)}
