"""Images of this machine's sessions, for remote operators.

An image has the memory of a session's programs. So who may put a session to disk is
told of its images, and nobody else that there are any; and who removes the image that
a stopped session is in ends that session.
"""

import asyncio

from holdfast.host.guests import Guest
from holdfast.host.session_rights import demand_there, leaves
from holdfast.linux.stored import image_list, image_store
from holdfast.linux.stored.image_store import ImageName
from holdfast.model.envelopes import Right
from holdfast.model.errors import ImageNotFound
from holdfast.model.ids import SessionId, parse_session_id
from holdfast.model.image_record import ImageRecord
from holdfast.model.session_record import Facts
from holdfast.model.session_requests import ListImages, RemoveImage

MAX_TOLD = 40 * 1024
"""Bytes of what is told of images: less than a packet."""


async def told_to(guest: Guest, asked: ListImages) -> list[Facts]:
    """Return the images that a guest may know of, the newest first, as far as fits.

    Raises:
        Forbidden: It names a session, which the guest may not put to disk.
        UsageError: What it names is no id.

    """
    session = None
    if asked.id:
        session = parse_session_id(asked.id)
        await _demand(guest, session, Right.CHECKPOINT)
    found = await asyncio.to_thread(_those_of, guest, session)
    told: list[Facts] = []
    room = MAX_TOLD
    for one in found:
        facts = one.facts()
        room -= len(repr(facts))
        if room < 0:
            break
        told.append(facts)
    return told


async def remove(guest: Guest, asked: RemoveImage) -> None:
    """Remove an image, whole or damaged, for a guest who may put its session to disk.

    Raises:
        Forbidden: It is all that there is of the session, which the guest may not end.
        UsageError: There is none.
        Unavailable: It is in use.

    """
    session = parse_session_id(asked.id)
    found = await asyncio.to_thread(image_list.listed, session)
    for one in found:
        if one.number == asked.number:
            if one.once:
                await _demand(guest, session, Right.END)
            await asyncio.to_thread(
                image_store.remove, ImageName(session, asked.number)
            )
            return
    raise ImageNotFound(f"{session}.{asked.number}")


async def _demand(guest: Guest, session: SessionId, right: Right) -> None:
    """Do nothing if both the promise and the session itself allow it."""
    guest.demand(right, session)
    await demand_there(guest, right, session)


def _those_of(guest: Guest, session: SessionId | None) -> list[ImageRecord]:
    """Return the images of sessions that a guest may put to disk."""
    return [
        one
        for one in image_list.listed(session)
        if guest.may(Right.CHECKPOINT, one.id)
        and leaves(guest.id, Right.CHECKPOINT, one.id)
    ]
