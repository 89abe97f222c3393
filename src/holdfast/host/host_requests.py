"""The requests of remote operators to this host, and the answers.

What is asked about one session needs a right there; what is not known is refused. The
keeper does most of it, and is asked as a local client asks it:
but only what the operator may know is passed on, and the creator is on record
as the operator whose key was proven, whatever the packet says.
"""

import asyncio
import socket

from holdfast.host import (
    images_there,
    keeper_requests,
    known_operators,
    lost_there,
)
from holdfast.host.guest_creation import vouched_for
from holdfast.host.guests import Guest
from holdfast.host.overview import Overview
from holdfast.host.policy_notices import PolicyNotices
from holdfast.host.session_rights import demand_there, leaves, leaves_anything
from holdfast.linux.keeper_requests import PATIENCE, ask_keeper
from holdfast.linux.stored.book_pieces import head_of, piece_of
from holdfast.model import errors
from holdfast.model.envelopes import WHOLE_HOST, Right
from holdfast.model.ids import SessionId, parse_session_id
from holdfast.model.process_status import GuestStatus
from holdfast.model.session_record import (
    NO_ATTENTION,
    SessionRecord,
    as_facts,
    listed_in,
    record_of,
)
from holdfast.model.session_requests import (
    Created,
    Creation,
    FindNames,
    Forget,
    Keep,
    ListImages,
    ListSessions,
    ReadLog,
    Recover,
    RemoveImage,
    Rename,
    Request,
    Rotate,
    Status,
    facts_of,
    request_from,
)
from holdfast.model.session_requests import Overview as OverviewRequest
from holdfast.version import __version__
from holdfast.wire.host_requests import Packet

MAX_PAGE = 48 * 1024
"""Bytes of a list in one packet, as the keeper cuts it."""

MAX_PIECE = 32 * 1024
"""Bytes of a logbook in one packet, before they are written as text."""

RESTORING = 40.0
"""Seconds for a restore: its holder has 30 until it must have deposited."""

_notices = PolicyNotices()
_seen = Overview()
"""What was last found out about the sessions, by who asked."""


RIGHTS: dict[type[Request], Right | None] = {
    Status: None,
    ListSessions: None,
    OverviewRequest: None,
    FindNames: None,
    Rotate: None,
    Creation: None,
    Recover: None,
    ListImages: None,
    RemoveImage: Right.CHECKPOINT,
    Rename: Right.END,
    Keep: Right.END,
    Forget: Right.END,
    ReadLog: Right.OBSERVE,
}
"""Everything that is answered, and the right on its session that it needs, if it is
about one. `open`, `join` and `terms` are the bridge's."""


_ABOUT_ONE = (Rename, Keep, Forget, ReadLog, RemoveImage)

ONLY_HERE = {
    "apply": "applying a policy",
    "enrol": "adding an operator",
    "invite": "inviting an operator",
    "revoke": "revoking an operator everywhere",
}
"""Requests that are refused remotely, and their names in the refusal."""


def request_in(packet: Packet) -> Request:
    """Return what an operator elsewhere asks for.

    Raises:
        Forbidden: It is for those who are here.
        PeerError: There is no such request, or something has the wrong type.

    """
    do = packet.get("do")
    if isinstance(do, str) and do in ONLY_HERE:
        raise errors.OnlyHere(ONLY_HERE[do])
    return request_from(packet)


async def answer(guest: Guest, asked: Request) -> list[Packet]:
    """Return the answer to a request, in as many packets as it takes.

    Raises:
        Forbidden: The operator may not.
        HoldfastError: It cannot be done, and why.

    """
    if type(asked) not in RIGHTS:
        raise errors.UnexpectedMessage(type(asked).__name__, "asking a host")
    right = RIGHTS[type(asked)]
    if isinstance(asked, _ABOUT_ONE) and right is not None:
        session = parse_session_id(asked.id)
        guest.demand(right, session)
        await demand_there(guest, right, session)
    return await _answered(guest, asked)


async def _answered(  # noqa: C901, PLR0911  # one case for each request
    guest: Guest, asked: Request
) -> list[Packet]:
    match asked:
        case Status():
            return [await _status(guest)]
        case ListSessions():
            return await _list(guest, asked)
        case OverviewRequest():
            return _pages(await _seen.of(guest, await _visible(guest, ListSessions())))
        case Creation():
            return [await _create(guest, asked)]
        case Recover():
            return [await _recover(guest, asked)]
        case ListImages():
            return [{"ok": True, "images": await images_there.told_to(guest, asked)}]
        case RemoveImage():
            await images_there.remove(guest, asked)
            return [{"ok": True}]
        case Rename() | Keep() | Forget():
            # Both the promise and the session itself have been asked.
            await _keeper(keeper_requests.vouched(asked))
            return [{"ok": True}]
        case ReadLog():
            read = head_of if asked.head else piece_of
            piece = await asyncio.to_thread(read, asked, MAX_PIECE)
            return [{"ok": True, **facts_of(piece)}]
        case FindNames():
            return [await known_operators.names(guest, asked)]
        case Rotate():
            return [await known_operators.rotate(guest, asked)]
        case _:
            raise AssertionError(asked)


async def _status(guest: Guest) -> Packet:
    told = GuestStatus(__version__, host_name())
    if guest.envelope.session is WHOLE_HOST:
        told = told._replace(notices=tuple(await asyncio.to_thread(_notices.told)))
    return {"ok": True, **as_facts(told)}


async def _list(guest: Guest, asked: ListSessions) -> list[Packet]:
    listed = listed_in(await _keeper(asked))
    seen = await asyncio.to_thread(those_seen, guest, listed)
    gone = await asyncio.to_thread(lost_there.told_to, guest, listed)
    pages = _pages([one.facts() for one in seen])
    pages[-1]["lost"] = gone
    return pages


async def _visible(guest: Guest, asked: ListSessions) -> list[SessionRecord]:
    listed = listed_in(await _keeper(asked))
    return await asyncio.to_thread(those_seen, guest, listed)


def those_seen(guest: Guest, sessions: list[object]) -> list[SessionRecord]:
    """Return the sessions that a guest may observe."""
    # What the host has promised, and what the session itself has left of it.
    return [
        _branch(guest, one)
        if leaves(guest.id, Right.OBSERVE, one.id)
        else _unseen(_branch(guest, one))
        for one in map(SessionRecord.from_facts, sessions)
        if guest.may(Right.OBSERVE, one.id) and leaves_anything(guest.id, one.id)
    ]


def _branch(guest: Guest, one: SessionRecord) -> SessionRecord:
    """Return a session without its parent, if the guest may not know of that."""
    parent = one.parent
    if parent is None or guest.may(Right.OBSERVE, SessionId(parent.session)):
        return one
    return one._replace(parent=None)


def _unseen(one: SessionRecord) -> SessionRecord:
    """Return a session without what was printed in it."""
    return one._replace(attention=NO_ATTENTION)


def _pages(shown: list[Packet]) -> list[Packet]:
    pages: list[Packet] = [{"ok": True, "sessions": [], "more": False}]
    room = MAX_PAGE
    for one in shown:
        size = len(repr(one))
        if pages[-1]["sessions"] and size > room:
            pages[-1]["more"] = True
            pages.append({"ok": True, "sessions": [], "more": False})
            room = MAX_PAGE
        pages[-1]["sessions"].append(one)
        room -= size
    return pages


async def _create(guest: Guest, asked: Creation) -> Packet:
    if guest.enrolled.promised is not None:
        guest.demand(Right.CREATE, None)  # Else the session's holder decides.
    whole = await asyncio.to_thread(vouched_for, guest, asked)
    patience = RESTORING if asked.branches else PATIENCE
    made = record_of(Created, await _keeper(whole, patience))
    return {"ok": True, **facts_of(made._replace(no_new_privs=False))}


async def _recover(guest: Guest, asked: Recover) -> Packet:
    whole = await asyncio.to_thread(lost_there.vouched_for, guest, asked)
    patience = RESTORING if asked.image else PATIENCE
    made = record_of(Created, await _keeper(whole, patience))
    return {"ok": True, **facts_of(made._replace(no_new_privs=False))}


async def _keeper(asked: Request, patience: float = keeper_requests.PATIENCE) -> Packet:
    return await asyncio.to_thread(ask_keeper, asked, patience=patience)


def host_name() -> str:
    """Return what this machine calls itself, for those who have no name for it yet."""
    return socket.gethostname().partition(".")[0]
