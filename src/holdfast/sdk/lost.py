"""Lost sessions and images on a host, and requests to recover or restore them."""

import asyncio
import time

from holdfast.client import branches, images, lost_sessions
from holdfast.client.lost_sessions import demand_not_lost, listed_at, wish
from holdfast.client.wanted_session import environment
from holdfast.linux.stored import image_list, image_store
from holdfast.linux.stored.book_rights import Books
from holdfast.linux.stored.image_store import ImageName
from holdfast.model.envelopes import Right
from holdfast.model.errors import ImageNotFound, NotAllowed, OnlyHere
from holdfast.model.ids import ActorId
from holdfast.model.image_record import ImageRecord, images_in
from holdfast.model.lost_record import lost_in
from holdfast.model.session_requests import (
    Creation,
    ListImages,
    ListSessions,
    Recover,
    RemoveImage,
)
from holdfast.model.text import printable, same_name
from holdfast.sdk.routes import Way
from holdfast.sdk.values import ImageInfo, LostSession

__all__ = [
    "demand_not_lost",
    "images_at",
    "lost_at",
    "remove_image",
    "wish_for",
    "wish_for_branch",
    "wish_for_image",
]


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


async def images_at(way: Way, text: str = "") -> list[ImageInfo]:
    """Return the images that we may see, the newest first: all, or of one session.

    Raises:
        Unavailable: The host cannot be reached.

    """
    if way.name:
        found = images_in(await way.ask(ListImages()))
    else:
        found = await asyncio.to_thread(
            _images_here, None if way.is_personal else way.us
        )
    return [
        ImageInfo(*one)
        for one in found
        if text in ("", one.id) or same_name(one.name, text)
    ]


def _images_here(agent: ActorId | None) -> list[ImageRecord]:
    """Return the images of this machine; for an agent those it may make and restore.

    Logbooks say which: an agent that none of them names has not begun its session.
    """
    found = image_list.listed()
    if agent is None:
        return found
    books, now = Books(), time.time_ns() / 1e9
    left = {one.id: books.envelope(agent, one.id) for one in found}
    return [
        one
        for one in found
        if (envelope := left[one.id]) is not None
        and envelope.covers(Right.CHECKPOINT, one.id, now)
    ]


async def image_called(way: Way, text: str) -> ImageInfo:
    """Return the image that is meant: SESSION.NUMBER, or the newest of a session.

    Raises:
        UsageError: There is none.
        Unavailable: The host cannot be reached.

    """
    session, _, number = text.rpartition(".")
    if session and number.isdecimal():
        named = [
            one for one in await images_at(way, session) if str(one.number) == number
        ]
    else:
        named = [one for one in await images_at(way, text) if one.is_restorable]
    if not named:
        raise ImageNotFound(printable(text))
    return named[0]


async def wish_for_image(
    text: str, name: str, way: Way, open_files: str = ""
) -> Recover:
    """Return the request for the next life of a session from an image of it.

    Raises:
        UsageError: There is no such image.
        Unavailable: The host cannot be reached.

    """
    one = await image_called(way, text)
    wanted = name or one.name
    return lost_sessions.wish_for_image(one.id, one.number, wanted, open_files)


async def remove_image(text: str, way: Way) -> None:
    """Remove an image.

    Raises:
        UsageError: There is no such image.
        Forbidden: We may not.
        Unavailable: It is in use, or the host cannot be reached.

    """
    one = await image_called(way, text)
    if way.name:
        await way.ask(RemoveImage(one.id, one.number))
    elif way.is_personal:
        await asyncio.to_thread(image_store.remove, ImageName(one.id, one.number))
    else:
        raise NotAllowed(way.us, "checkpoint")


async def wish_for_branch(text: str, name: str, way: Way) -> Creation:
    """Return the request for a branch that goes on from an image of a session.

    Raises:
        UsageError: There is no such image, or it would be elsewhere.

    """
    if way.name:
        raise OnlyHere("making a branch")
    image = await asyncio.to_thread(images.whole_image, text)
    own = name or await asyncio.to_thread(branches.free_name, images.named(image))
    return Creation(name=own, branches=str(image))


def wish_for(one: LostSession, name: str, way: Way) -> Recover:
    """Return the request for its next life, with our variables if none were kept.

    Raises:
        UsageError: It cannot be recovered.

    """
    asked = wish(one, name)
    if one.needs_environment and not way.name:
        return asked._replace(env=environment(is_personal=way.is_personal))
    return asked
