"""A link to a holder in the name of an operator whose key was proven to the host."""

import socket
from functools import partial

from holdfast.aio.holder_link import Link, SocketStream, connect
from holdfast.core.client.holder_link import Credentials
from holdfast.crypto.local_proof import local_proof
from holdfast.host.guests import Guest
from holdfast.linux.packets import is_ours
from holdfast.linux.stored import folders
from holdfast.model.ids import SessionId
from holdfast.wire.messages import ClientKind


async def holder_socket(session: SessionId) -> socket.socket:
    """Connect to a session's holder.

    Raises:
        Unavailable: None listens.

    """
    return await connect(session, folders.session_address(session), is_ours)


async def visit(guest: Guest, session: SessionId, holder: socket.socket) -> Link:
    """Greet a holder as `guest`.

    Raises:
        Unavailable: It does not answer.

    """
    prove = partial(local_proof, guest.enrolled.token(), session)
    ours = Credentials(guest.id, ClientKind.SERVICE, prove)
    return await Link.open(session, await SocketStream.over(session, holder), ours)
