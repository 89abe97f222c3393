"""The way to a host: straight to its sockets, or through a channel.

The one place that knows. Both ways lead to streams of bytes with a session's holder
at the other end, and to answers of the host's keeper.
"""

import asyncio
from functools import cache, partial
from typing import Protocol

from holdfast.aio.holder_link import READ, SocketStream, Stream, connect
from holdfast.client import hosts, keeper
from holdfast.client.current_operator import acting_as, our_name, pen_of
from holdfast.client.proven_requests import change_proven, proven
from holdfast.core.client.holder_link import Credentials
from holdfast.core.client.signing import Pen
from holdfast.crypto.proof import local_proof
from holdfast.linux.packets import is_ours
from holdfast.linux.stored import folders, session_names
from holdfast.linux.stored.book_pieces import piece_of
from holdfast.linux.stored.operators import Enrolled
from holdfast.model.actors import ActorKind
from holdfast.model.ids import ActorId, SessionId
from holdfast.model.session_record import Facts
from holdfast.model.session_requests import (
    Creation,
    ProvenChange,
    ReadLog,
    Request,
    facts_of,
)
from holdfast.model.text import checked_name, same_name
from holdfast.wire.messages import ClientKind


class Way(Protocol):
    """How a host is reached, and as whom."""

    name: str
    us: ActorId
    is_personal: bool
    """Whether a session there is given all variables that are set here."""

    slowness: float
    """So many times longer everything takes than on this machine."""

    program: ClientKind
    """What sort of program we say we are; others see it."""

    async def dial(self, session: SessionId) -> Stream:
        """Return a stream that leads to a session's holder.

        Raises:
            Unavailable: None answers now.
            Forbidden: The host does not let us in.

        """
        ...

    def credentials(self, session: SessionId) -> Credentials:
        """Return who we are to a holder, and what proves it."""
        ...

    async def pen(self) -> Pen | None:
        """Return what we sign our inputs with; None if our key is not here."""
        ...

    def is_called(self, session: SessionId, name: str) -> bool:
        """Tell whether a session that lives has this name; False if nobody knows."""
        ...

    async def ask(self, asked: Request) -> Facts:
        """Ask the host's keeper, and return its answer.

        Raises:
            HoldfastError: It refused, and why.
            Unavailable: It does not answer.

        """
        ...

    async def close(self) -> None:
        """Hang up on whatever is kept open."""
        ...


class Near:
    """The machine we are on: its sockets are ours."""

    def __init__(self, us: Enrolled) -> None:
        self.name = ""
        self.us = us.actor.id
        self.is_personal = us.actor.kind is ActorKind.HUMAN
        self.slowness = 1.0
        self.program = ClientKind.SDK
        self._operator = us
        self._pen = cache(partial(pen_of, us, self.us))

    async def dial(self, session: SessionId) -> Stream:
        """Connect to a holder's socket."""
        address = folders.session_address(session)
        link = await connect(session, address, is_ours)
        return await SocketStream.over(session, link)

    def credentials(self, session: SessionId) -> Credentials:
        """Prove it with the token that only this user can read."""
        prove = partial(local_proof, self._operator.token(), session)
        return Credentials(self.us, self.program, prove)

    async def pen(self) -> Pen | None:
        """Return our key of this machine."""
        return await asyncio.to_thread(self._pen)

    def is_called(self, session: SessionId, name: str) -> bool:
        """Look at the name that its holder keeps beside its socket."""
        return same_name(session_names.name_of(session), name)

    async def ask(self, asked: Request) -> Facts:
        """Ask the keeper in a thread: it blocks, for a moment or until one starts."""
        if isinstance(asked, Creation):
            asked = proven(asked, self.us, self._operator.token())
        if isinstance(asked, ProvenChange):
            asked = change_proven(asked, self.us, self._operator.token())
        if isinstance(asked, ReadLog):  # The book is here; a host would read it too.
            return facts_of(await asyncio.to_thread(piece_of, asked, READ))
        return await asyncio.to_thread(keeper.request, asked)

    async def close(self) -> None:
        """Do nothing: no link to the keeper is kept."""


async def way_to(host: str, operator: str, tasks: asyncio.TaskGroup) -> Way:
    """Return the way to a host, or to this machine if it has no name.

    Raises:
        UsageError: There is no such host, or a name is none.

    """

    def find() -> Way:
        us = acting_as(checked_name(operator) if operator else our_name())
        if not host:
            return Near(us)
        # What goes far is slow to load, and most do not.
        from holdfast.sdk.far_route import Far  # noqa: PLC0415

        return Far(hosts.by_name(host), us, tasks)

    # A new operator's key is made and written down, which takes a moment.
    return await asyncio.to_thread(find)
