"""What may an operator elsewhere ask of this host, and what is it answered?

Everything that is asked is in one table with the right it needs; what is not in
it is refused. The keeper does most of it, and is asked as a local client asks it:
but only what the operator may know is passed on, and whoever creates is on record
as the operator whose key was proven, whatever the packet says.
"""

import asyncio
import base64
import os
import pwd
import socket
from collections.abc import Awaitable, Callable
from typing import NamedTuple

from holdfast.crypto.proof import creation_proof
from holdfast.crypto.rotation import accepted_rotation
from holdfast.host import keeper_requests
from holdfast.host.guests import Guest, wall
from holdfast.host.overview import Overview
from holdfast.host.policy_notices import PolicyNotices
from holdfast.host.session_rights import demand_there, leaves_anything
from holdfast.linux.stored import operators, places
from holdfast.linux.stored.book_pieces import piece_of
from holdfast.model.envelopes import WHOLE_HOST, Right
from holdfast.model.errors import (
    HoldfastError,
    MalformedMessage,
    NoKeeper,
    OnlyHere,
    SessionNotFound,
    UnexpectedMessage,
)
from holdfast.model.ids import SessionId, parse_session_id
from holdfast.model.session_record import SessionRecord, listed_in
from holdfast.model.text import same_name
from holdfast.version import __version__
from holdfast.wire.creation import proven_bytes
from holdfast.wire.requests import Packet, error_from

MAX_PAGE = 48 * 1024
"""Bytes of a list in one packet, as the keeper cuts it."""

MAX_PIECE = 32 * 1024
"""Bytes of a logbook in one packet, before they are written as text."""

MAX_NAMES = 64
"""Operators asked about at once: all that a screen has room for."""

CREATION = ("name", "command", "cwd", "env", "size", "integration", "client")
"""What an operator says about a session it wants; all else is ours to say."""

TOLD = ("id", "name", "pid", "state", "start")
"""What whoever asked for a session is told of it."""


_notices = PolicyNotices()
_seen = Overview()
"""What was last found out about the sessions, by who asked."""


class Demand(NamedTuple):
    """What a request needs: a right, on a session or on the whole host."""

    right: Right | None
    is_about_one: bool


DEMANDS: dict[str, Demand] = {
    "status": Demand(None, is_about_one=False),
    "list": Demand(None, is_about_one=False),
    "overview": Demand(None, is_about_one=False),
    "names": Demand(None, is_about_one=False),
    "rotate": Demand(None, is_about_one=False),
    "create": Demand(None, is_about_one=False),
    "rename": Demand(Right.END, is_about_one=True),
    "keep": Demand(Right.END, is_about_one=True),
    "forget": Demand(Right.END, is_about_one=True),
    "log": Demand(Right.OBSERVE, is_about_one=True),
}
"""Everything there is, with the right it needs; `list` shows what may be observed.
`open` and `join` are the bridge's."""


ONLY_HERE = {
    "apply": "applying a policy",
    "enrol": "making an operator known",
    "invite": "inviting somebody",
    "revoke": "revoking an operator everywhere",
}
"""What somebody elsewhere could wish for, and what to call it in the refusal."""


async def answer(guest: Guest, packet: Packet) -> list[Packet]:
    """Return the answer to a request, in as many packets as it takes.

    Raises:
        Forbidden: The operator may not.
        HoldfastError: It cannot be done, and why.

    """
    do = packet.get("do")
    if isinstance(do, str) and do in ONLY_HERE:
        raise OnlyHere(ONLY_HERE[do])
    demand = DEMANDS.get(do) if isinstance(do, str) else None
    if demand is None or not isinstance(do, str):
        raise UnexpectedMessage(repr(do)[:40], "asking a host")
    session = parse_session_id(str(packet.get("id"))) if demand.is_about_one else None
    if demand.right is not None:
        guest.demand(demand.right, session)
        if session is not None:
            await demand_there(guest, demand.right, session)
    return await _ANSWERS[do](guest, packet, session)


async def _status(guest: Guest, _: Packet, __: SessionId | None) -> list[Packet]:
    told: Packet = {"ok": True, "version": __version__, "name": host_name()}
    if guest.envelope.session is WHOLE_HOST:
        told["notices"] = await asyncio.to_thread(_notices.told)
    return [told]


async def _list(guest: Guest, _: Packet, __: SessionId | None) -> list[Packet]:
    return _pages([one.facts() for one in await _visible(guest)])


async def _overview(guest: Guest, _: Packet, __: SessionId | None) -> list[Packet]:
    return _pages(await _seen.of(guest, await _visible(guest)))


async def _visible(guest: Guest) -> list[SessionRecord]:
    listed = listed_in(await _keeper({"do": "list"}))
    return await asyncio.to_thread(_those_seen, guest, listed)


def _those_seen(guest: Guest, sessions: list[object]) -> list[SessionRecord]:
    """Return the sessions that a guest may observe."""
    # What the host has promised, and what the session itself has left of it.
    return [
        one
        for one in map(SessionRecord.from_facts, sessions)
        if guest.may(Right.OBSERVE, one.id) and leaves_anything(guest.id, one.id)
    ]


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


async def _create(guest: Guest, packet: Packet, _: SessionId | None) -> list[Packet]:
    known = guest.enrolled
    if known.promised is not None:
        guest.demand(Right.CREATE, None)  # Else the session's holder decides.
    asked = {name: packet[name] for name in CREATION if packet.get(name) is not None}
    if not isinstance(asked.get("env", {}), dict):
        raise MalformedMessage("creation", "env is of the wrong type")
    us = pwd.getpwuid(os.getuid())
    whole: Packet = {
        "command": [us.pw_shell or "/bin/sh"],
        "cwd": us.pw_dir,
        **asked,
        "ground": True,
        "creator": guest.id,
        "asked_ms": round(wall() * 1000),
    }
    # The channel has proven who asks; to our own holder we vouch for it.
    whole["proof"] = creation_proof(known.token(), proven_bytes(whole)).hex()
    made = await _keeper({**whole, "do": "create"}, keeper_requests.CREATION_PATIENCE)
    return [{"ok": True, **{name: made.get(name) for name in TOLD}}]


async def _change(_: Guest, packet: Packet, session: SessionId | None) -> list[Packet]:
    wanted: Packet = {
        name: packet[name] for name in ("do", "name", "keep") if name in packet
    }
    # Both the promise and the session itself have been asked.
    await _keeper(keeper_requests.vouched({**wanted, "id": session}))
    return [{"ok": True}]


async def _log(_: Guest, packet: Packet, session: SessionId | None) -> list[Packet]:
    assert session is not None  # noqa: S101  # the table says that it is about one
    if packet.get("head"):
        return [{"ok": True, **await asyncio.to_thread(_head, session)}]
    piece = await asyncio.to_thread(piece_of, session, packet, MAX_PIECE)
    return [{"ok": True, **piece}]


def _head(session: SessionId) -> Packet:
    try:
        raw = places.session_head(session).read_bytes()[:MAX_PIECE]
    except FileNotFoundError:
        raise SessionNotFound(session) from None
    return {"data": base64.b64encode(raw).decode(), "size": len(raw)}


async def _keeper(packet: Packet, patience: float = keeper_requests.PATIENCE) -> Packet:
    try:
        heard = await asyncio.to_thread(keeper_requests.ask, packet, patience)
    except OSError as error:
        raise NoKeeper(error.strerror or "the connection broke") from error
    if not heard.get("ok"):
        raise _passed_on(heard)
    return heard


def _passed_on(heard: Packet) -> HoldfastError:
    return error_from(heard)


async def _names(guest: Guest, packet: Packet, _: SessionId | None) -> list[Packet]:
    actors, called = _words(packet, "actors"), _words(packet, "called")
    if guest.envelope.session is not WHOLE_HOST:
        # Whoever is here for one session meets its operators by their ids; it must
        # not try out who else there is.
        called = []
    known = await asyncio.to_thread(operators.enrolled)
    found = [
        one.actor
        for one in known
        if one.actor.id in actors
        or any(same_name(one.actor.name, name) for name in called)
    ]
    names = {one.id: {"name": one.name, "kind": one.kind.value} for one in found}
    return [{"ok": True, "names": names}]


def _words(packet: Packet, member: str) -> list[str]:
    match packet.get(member, []):
        case [*words] if len(words) <= MAX_NAMES:
            if all(isinstance(one, str) for one in words):
                return words
    raise MalformedMessage("names", f"`{member}` is no list of a few texts")


async def _rotate(guest: Guest, packet: Packet, _: SessionId | None) -> list[Packet]:
    known = guest.enrolled
    if known.is_at_home:
        raise OnlyHere("changing the key of an operator that is at home here")
    try:
        raw = bytes.fromhex(str(packet.get("statement")))
    except ValueError:
        raise MalformedMessage("rotation", "it is not written in hex") from None
    rotation = accepted_rotation(raw, known.public_key)
    await asyncio.to_thread(operators.rotate, known, rotation.new, raw, None)
    return [{"ok": True}]


def host_name() -> str:
    """Return what this machine calls itself, for whoever has no name for it yet."""
    return socket.gethostname().partition(".")[0]


_ANSWERS: dict[
    str, Callable[[Guest, Packet, SessionId | None], Awaitable[list[Packet]]]
] = {
    "status": _status,
    "list": _list,
    "overview": _overview,
    "names": _names,
    "rotate": _rotate,
    "create": _create,
    "rename": _change,
    "keep": _change,
    "forget": _change,
    "log": _log,
}
