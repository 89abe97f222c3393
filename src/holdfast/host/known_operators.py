"""Known operators, for remote ones: their names, and key rotation."""

import asyncio

from holdfast.crypto.rotation import accepted_rotation
from holdfast.host.guests import Guest
from holdfast.linux.stored import operators
from holdfast.model.envelopes import WHOLE_HOST
from holdfast.model.errors import MalformedMessage, OnlyHere
from holdfast.model.session_requests import FindNames, Rotate
from holdfast.model.text import same_name
from holdfast.wire.host_requests import Packet

MAX_NAMES = 64
"""Operators asked about at once: all that a screen has room for."""


async def names(guest: Guest, asked: FindNames) -> Packet:
    """Say what operators are called, as far as the guest may ask.

    Raises:
        PeerError: It asks about too many.

    """
    if max(len(asked.actors), len(asked.called)) > MAX_NAMES:
        raise MalformedMessage("names", "it is not a short list of strings")
    # A guest who is here for one session meets its operators by their ids; it must not
    # try out who else there is.
    called = asked.called if guest.envelope.session is WHOLE_HOST else ()
    known = await asyncio.to_thread(operators.enrolled)
    found = [
        one.actor
        for one in known
        if one.actor.id in asked.actors
        or any(same_name(one.actor.name, name) for name in called)
    ]
    names = {one.id: {"name": one.name, "kind": one.kind.value} for one in found}
    return {"ok": True, "names": names}


async def rotate(guest: Guest, asked: Rotate) -> Packet:
    """Give a guest another key.

    Raises:
        Forbidden: It is at home here.
        PeerError: The statement proves nothing.

    """
    known = guest.enrolled
    if known.is_at_home:
        raise OnlyHere("changing the key of an operator that is at home here")
    try:
        raw = bytes.fromhex(asked.statement)
    except ValueError:
        raise MalformedMessage("rotation", "it is not written in hex") from None
    rotation = accepted_rotation(raw, known.public_key)
    await asyncio.to_thread(operators.rotate, known, rotation.new, raw, None)
    return {"ok": True}
