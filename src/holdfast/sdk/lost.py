"""Lost sessions: which there are at a host, and the request that starts one again."""

import asyncio

from holdfast.client.lost_sessions import demand_not_lost, listed_at, wish
from holdfast.client.wanted_session import environment
from holdfast.model.lost_record import lost_in
from holdfast.model.session_requests import ListSessions, Recover
from holdfast.sdk.routes import Way
from holdfast.sdk.values import LostSession

__all__ = ["demand_not_lost", "lost_at", "wish_for"]


async def lost_at(way: Way) -> list[LostSession]:
    """Return every lost session that we may see, the last one last.

    Raises:
        Unavailable: There is no keeper, or the host cannot be reached.

    """
    if way.name:
        found = lost_in(await way.ask(ListSessions()), way.name)
    else:
        _, found = await asyncio.to_thread(listed_at, "")
    return [LostSession(*one) for one in found]


def wish_for(one: LostSession, name: str, way: Way) -> Recover:
    """Return the request for its next life, with our variables if none were kept.

    Raises:
        UsageError: It cannot be recovered.

    """
    asked = wish(one, name)
    if one.needs_environment and not way.name:
        return asked._replace(env=environment(is_personal=way.is_personal))
    return asked
