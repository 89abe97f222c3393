"""The images on this host: listing them, and finding one by name."""

import contextlib
import os
from collections.abc import Sequence
from typing import NamedTuple

from holdfast.client import keeper
from holdfast.client.profile import our_id
from holdfast.client.wanted_session import are_we_a_person
from holdfast.core.capsule.manifest import is_passing
from holdfast.crypto.keys import SigningKey
from holdfast.linux.stored import (
    image_store,
    kept_copies,
    lost_sessions,
    put_back,
    sealed_images,
    session_names,
)
from holdfast.linux.stored.config import settings
from holdfast.linux.stored.host_key import host_seed
from holdfast.linux.stored.image_store import ImageName, Listed
from holdfast.linux.stored.spent_images import is_needed
from holdfast.model import errors
from holdfast.model.ids import SessionId
from holdfast.model.text import printable, same_name


def listed(session: str = "") -> list[Listed]:
    """Return the images of all sessions, or of one by its name or id.

    Raises:
        UsageError: There is no such session, and no image of one.

    """
    host = SigningKey.from_seed(host_seed()).public
    found = image_store.listed(host, meant(session) if session else None)
    return [
        one for one in found if one.manifest is None or not is_passing(one.manifest)
    ]


def meant(text: str) -> SessionId:
    """Return the session of that name or id, which may be on disk alone.

    Raises:
        UsageError: There is none.

    """
    if "/" in text:
        raise errors.OnlyHere("managing images")
    known = keeper.sessions()
    for one in reversed(lost_sessions.lost({one.id for one in known})):
        if one.is_called(text):
            return one.id
    with contextlib.suppress(errors.HoldfastError):
        return SessionId(keeper.resolve(text, known).id)
    # One that has ended is known by its images.
    for image in sorted(listed(), key=_made, reverse=True):
        session = image.name.session
        if text == session or same_name(called(session), text):
            return session
    raise errors.ImageNotFound(printable(text))


def _made(one: Listed) -> int:
    return 0 if one.manifest is None else one.manifest.made_ms


def whole_image(text: str) -> ImageName:
    """Return the image that is meant: SESSION.NUMBER, or the newest of a session.

    Raises:
        UsageError: There is none.

    """
    if text.startswith("h_"):
        raise errors.ImageOnlyKept(printable(text))
    session, _, number = text.rpartition(".")
    if session and number.isdecimal():
        return ImageName.parse(f"{meant(session)}.{number}")
    names = [one.name for one in listed(text) if one.manifest is not None]
    if not names:
        raise errors.ImageNotFound(printable(text))
    return names[-1]


def called(session: SessionId) -> str:
    """Return what a session was called last; its id's beginning if nobody knows."""
    return session_names.last_name(session) or session[2:8]


def named(image: ImageName) -> str:
    """Return what the session is called that goes on from an image."""
    return called(image.session)


def remove(text: str) -> None:
    """Remove an image, whole or damaged.

    Raises:
        UsageError: There is none.
        Forbidden: The operator is not a person.
        Unavailable: It is in use.

    """
    demand_person()
    if text.startswith("h_"):
        sealed_images.remove(text)
        return
    try:
        image_store.remove(whole_image(text))
    except errors.ImageNotFound:
        kept_copies.remove(kept_copies.find(text))


def imported() -> list[str]:
    """Return the names of images that other hosts have made."""
    return sealed_images.imported()


class Room(NamedTuple):
    """What images take, and what they may."""

    number: int
    size: int
    kept: int
    """How many of a session without a label are kept."""

    limit: int


def room(found: Sequence[Listed]) -> Room:
    """Return what these images take, and what is kept by the settings."""
    told = settings()
    size = sum(map(size_of, found))
    return Room(len(found), size, told.images_kept, told.images_size)


def size_of(one: Listed) -> int:
    """Return the bytes of an image; 0 of one that cannot be believed."""
    files = () if one.manifest is None else one.manifest.files
    return sum(file.size for file in files)


def remove_some(session: str, before_ms: int) -> tuple[list[ImageName], int]:
    """Remove images made before a moment, of all sessions or of one.

    Return which, and how many stay because their sessions consist of them, or because
    somebody uses them.

    Raises:
        UsageError: There is no such session.
        Forbidden: We are no person.

    """
    demand_person()
    removed, kept = list[ImageName](), 0
    for one in listed(session):
        if one.manifest is not None and one.manifest.made_ms >= before_ms:
            continue
        if _is_removed(one):
            removed.append(one.name)
        else:
            kept += 1
    return removed, kept


def _is_removed(one: Listed) -> bool:
    if one.manifest is not None and is_needed(one.name, once=one.manifest.once):
        return False
    try:
        image_store.remove(one.name)
    except (errors.ImageBusy, errors.ImageNotFound):
        return False
    return True


def demand_person() -> None:
    """Do nothing if a person asks: images belong to the users of the machine.

    Raises:
        Forbidden: We are none.

    """
    if not are_we_a_person():
        raise errors.NotAllowed(our_id(), "checkpoint")


def gone(image: ImageName) -> list[str]:
    """Return the files that an image has copies of and that are not there any more."""
    return [path for path in _copied(image) if not os.path.lexists(path)]


def kept_beside(image: ImageName, life: int) -> list[tuple[str, str]]:
    """Return which files were put back when that life began, and what was kept."""
    return [
        (path, kept)
        for path in _copied(image)
        for kept in put_back.kept_beside(path, life)
    ]


def _copied(image: ImageName) -> list[str]:
    host = SigningKey.from_seed(host_seed()).public
    for one in image_store.listed(host, image.session):
        if one.name == image and one.manifest is not None:
            return [file.path for file in one.manifest.open_files if file.copy]
    return []
