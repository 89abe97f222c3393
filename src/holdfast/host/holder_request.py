"""One request of a service of this host to a session's holder, and its answer."""

from typing import TypeVar

from holdfast.host.guests import Guest
from holdfast.host.holder_visit import holder_socket, visit
from holdfast.model.ids import SessionId
from holdfast.wire.checkpoints import Checkpointed, CheckpointRequest
from holdfast.wire.codec import Message, error_from
from holdfast.wire.messages import Refuse
from holdfast.wire.preflights import Preflight, PreflightRequest

Answer = TypeVar("Answer")


async def asked(
    guest: Guest, session: SessionId, question: Message, kind: type[Answer]
) -> Answer:
    """Return the holder's answer of that kind.

    Raises:
        HoldfastError: It refuses, or cannot be reached.

    """
    async with await visit(guest, session, await holder_socket(session)) as link:
        await link.send(question)
        while True:
            message = await link.receive()
            if isinstance(message, kind):
                return message
            if isinstance(message, Refuse):
                raise error_from(message)


async def blockers(guest: Guest, session: SessionId) -> str:
    """Return what keeps a session from being put to disk; empty if nothing does.

    Raises:
        HoldfastError: It cannot be asked.

    """
    told = await asked(guest, session, PreflightRequest(), Preflight)
    return "; ".join(one.what for one in told.blockers)


async def image(guest: Guest, session: SessionId, *, stop: bool) -> Checkpointed:
    """Have a session put to disk; with `stop`, it ends there.

    Raises:
        HoldfastError: It cannot be, and goes on.

    """
    wish = CheckpointRequest(stop=stop, label="", branch=False, key="")
    return await asked(guest, session, wish, Checkpointed)
