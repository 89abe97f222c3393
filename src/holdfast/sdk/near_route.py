"""The route to sessions of the machine we are on: directly to their sockets."""

import asyncio
from collections.abc import Callable
from functools import cache, partial
from typing import TYPE_CHECKING, TypeVar

from holdfast.aio.holder_link import READ, SocketStream, Stream, connect
from holdfast.client import keeper
from holdfast.client.current_operator import in_name_of, pen_of
from holdfast.client.proven_requests import change_proven, proven, recovery_proven
from holdfast.core.client.holder_link import Credentials
from holdfast.core.client.signing import Pen
from holdfast.crypto.local_proof import local_proof
from holdfast.linux.packets import is_ours
from holdfast.linux.stored import folders, session_names
from holdfast.linux.stored.book_pieces import piece_of
from holdfast.linux.stored.operators import Enrolled
from holdfast.model.actors import ActorKind
from holdfast.model.ids import SessionId
from holdfast.model.session_record import Facts
from holdfast.model.session_requests import (
    Creation,
    ProvenChange,
    ReadLog,
    Recover,
    Request,
    facts_of,
)
from holdfast.model.text import same_name
from holdfast.wire.messages import ClientKind

if TYPE_CHECKING:
    from holdfast.sdk.moved_routes import MovedRoutes

Result = TypeVar("Result")


class Near:
    """The machine we are on: its sockets are ours."""

    moved: "MovedRoutes | None" = None
    """Where sessions went that were here; None: nothing is followed."""

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
        if isinstance(asked, Recover):
            asked = recovery_proven(asked, self.us, self._operator.token())
        if isinstance(asked, ProvenChange):
            asked = change_proven(asked, self.us, self._operator.token())
        if isinstance(asked, ReadLog):  # The book is here; a host would read it too.
            return facts_of(await asyncio.to_thread(piece_of, asked, READ))
        return await asyncio.to_thread(keeper.request, asked)

    async def in_our_name(self, work: Callable[[], Result]) -> Result:
        """Have the code of the command line do something, which blocks, as us."""

        def do() -> Result:
            with in_name_of(self._operator):
                return work()

        return await asyncio.to_thread(do)

    async def close(self) -> None:
        """Do nothing: no link to the keeper is kept."""
