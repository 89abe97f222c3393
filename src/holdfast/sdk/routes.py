"""The route to a host: directly to its sockets, or through a channel.

The one place that knows. Both ways lead to streams of bytes with a session's holder
at the other end, and to answers of the host's keeper.
"""

import asyncio
from typing import TYPE_CHECKING, TypeAlias

from holdfast.client import hosts
from holdfast.client.current_operator import acting_as, ourselves
from holdfast.model.text import checked_name
from holdfast.sdk.moved_routes import MovedRoutes
from holdfast.sdk.near_route import Near

if TYPE_CHECKING:
    from holdfast.sdk.far_route import Far

Way: TypeAlias = "Near | Far"
"""How a host is reached, and as whom: `slowness` is how many times longer everything
takes there than here, `program` what sort of program we say we are, which others see;
with `is_personal` a session there is given all variables that are set here."""


async def way_to(host: str, operator: str, tasks: asyncio.TaskGroup) -> Way:
    """Return the way to a host, or to this machine if it has no name.

    Raises:
        UsageError: There is no such host, or a name is none.

    """

    def find() -> Way:
        us = acting_as(checked_name(operator)) if operator else ourselves()
        way: Way = Near(us)
        if host:
            # What goes far is slow to load, and most do not.
            from holdfast.sdk.far_route import Far  # noqa: PLC0415

            way = Far(hosts.by_name(host), us, tasks)
        way.moved = MovedRoutes(us, tasks)
        return way

    # A new operator's key is made and written down, which takes a moment.
    return await asyncio.to_thread(find)
