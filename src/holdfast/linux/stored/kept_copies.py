"""Copies of other hosts' sessions that are kept here, in case such a host dies.

    images/copies/HOST.SESSION.NUMBER/   as a parcel (linux/stored/parcels.py), and
        sender                           the key of the host that sent it

A copy goes on here only if the session's relay grants its next life, which it does not
before the lease of the host that sent it has run out. For that it becomes a parcel like
that of a move; the copy itself stays as it is until the session goes on.

Of each session the newest KEPT are here; all together are no larger than the settings
allow images to be. One that has not come whole is removed when the next one comes.
"""

# ruff: noqa: PTH208  # strings, beside parcels

import contextlib
import os
import shutil
from pathlib import Path
from typing import NamedTuple

from holdfast.core.capsule.manifest import read_manifest
from holdfast.core.capsule.retention import Bounds, Kept, removable
from holdfast.core.session.recovery import OutputTail, read_facts, read_tail
from holdfast.crypto.keys import PUBLIC
from holdfast.linux.stored import folders, parcels
from holdfast.linux.stored.book_end import last_entries_in
from holdfast.linux.stored.image_store import ImageName, images_folder
from holdfast.linux.stored.parcels import Parcel
from holdfast.linux.stored.small_files import read_file, replace_file
from holdfast.model.errors import (
    HoldfastError,
    ImageNotFound,
    ImageTooLarge,
    ParcelRefused,
)
from holdfast.model.ids import HostId, host_id
from holdfast.model.image_copy import ImageCopy
from holdfast.model.text import printable, same_name

KEPT = 2
"""Copies of a session: the newest may be of a moment in which something was broken."""

MAX_FACTS = 1 << 26
"""Bytes of what a session was started with, and of what it printed last."""


class Found(NamedTuple):
    """One copy that is here, whole."""

    told: ImageCopy
    name: ImageName
    sender: bytes
    folder: str


def receive(
    name: ImageName, sender: bytes, papers: bytes, signed: bytes, limit: int
) -> Parcel:
    """Begin to receive a copy, or go on with what has come of it.

    Raises:
        PeerError: It is not to be believed.
        UsageError: There is no room for it here.
        Unavailable: Somebody brings it at this moment, or the disk is full.

    """
    folder = f"{_home()}/{host_id(sender)}.{name}"
    parcel = parcels.receive(name, sender, papers, signed, limit, folder)
    try:
        _remove_unfinished(folder)
        _demand_room(parcel, limit)
        replace_file(f"{folder}/sender", sender)
    except BaseException:
        parcel.remove()
        parcel.close()
        raise
    return parcel


def trim(limit: int) -> list[str]:
    """Remove copies that newer ones have taken the place of; return their names."""
    found = [(one, _kept(one)) for one in _found()]
    chosen = removable([kept for _, kept in found], Bounds(KEPT, limit))
    gone = [one for one, kept in found if any(kept is other for other in chosen)]
    for one in gone:
        remove(one)
    return [str(one.name) for one in gone]


def listed() -> list[ImageCopy]:
    """Return the copies that are here, the newest life and image of each first."""
    return [one.told for one in _found()]


def find(text: str) -> Found:
    """Return the copy that is meant: SESSION.NUMBER, or the newest of a session.

    Raises:
        UsageError: There is none.

    """
    for one in _found():
        names = (one.told.image, one.told.session)
        if text in names or same_name(one.told.name, text):
            return one
    raise ImageNotFound(printable(text))


def stage(found: Found) -> Parcel:
    """Make of a copy what can go on here, as what a move brings; the copy stays.

    Raises:
        Unavailable: Somebody does this at this moment, or the disk is full.
        PeerError: The copy is damaged.

    """
    folder = parcels.arriving(found.name)
    with contextlib.suppress(ParcelRefused):
        begun = parcels.find(found.name, found.sender)
        if begun.is_whole:
            return begun  # Somebody was killed who had begun it.
        begun.remove()
        begun.close()
    with parcels.writing():
        draft = f"{folder}.new"
        shutil.rmtree(draft, ignore_errors=True)
        # The image is never written to; the logbook goes on.
        shutil.copytree(f"{found.folder}/image", f"{draft}/image", copy_function=_link)
        shutil.copytree(f"{found.folder}/book", f"{draft}/book")
        for one in ("papers", "manifest", "whole"):
            replace_file(f"{draft}/{one}", _read(f"{found.folder}/{one}"))
        shutil.rmtree(folder, ignore_errors=True)
        os.rename(draft, folder)  # noqa: PTH104  # strings
    return parcels.find(found.name, found.sender)


def remove(found: Found) -> None:
    """Remove a copy."""
    with (
        contextlib.suppress(HoldfastError, OSError),
        parcels.find(found.name, found.sender, found.folder) as parcel,
    ):
        parcel.remove()


def forget(found: Found, life: int) -> None:
    """Remove the copies of a session that goes on here, as that life."""
    for one in _found():
        if one.name.session == found.name.session and one.told.incarnation < life:
            remove(one)


def relay_of(found: Found) -> str:
    """Return the relay that decides about a session.

    Raises:
        PeerError: It is damaged.

    """
    raw = _read(f"{found.folder}/image/start.bin")
    return read_facts(raw, found.name.session).authority


def _found() -> list[Found]:
    # To look makes no folder: the disk may be read-only.
    if not os.path.isdir(f"{images_folder()}/copies"):  # noqa: PTH112  # a string
        return []
    home = _home()
    seen = (_looked_at(f"{home}/{name}") for name in sorted(os.listdir(home)))
    found = [one for one in seen if one is not None]
    return sorted(
        found, key=lambda one: (one.told.incarnation, one.told.made_ms), reverse=True
    )


def _looked_at(folder: str) -> Found | None:
    """Return a copy; None if it is not whole, or not to be believed."""
    host, _, rest = os.path.basename(folder).partition(".")  # noqa: PTH119  # a string
    with contextlib.suppress(HoldfastError, OSError, ValueError):
        sender, name = read_file(f"{folder}/sender", PUBLIC + 1), ImageName.parse(rest)
        if host_id(sender) != host or not os.path.exists(f"{folder}/whole"):  # noqa: PTH110  # a string
            return None
        papers = parcels.read_papers(_read(f"{folder}/papers"))
        manifest = read_manifest(_read(f"{folder}/manifest"), sender)
        book = last_entries_in(Path(folder, "book/log"))
        last = book[-1].get("index") if book else None
        tail = _tail(folder)
        told = ImageCopy(
            image=str(name),
            session=name.session,
            name=papers.name,
            host=HostId(host),
            host_name=papers.host,
            made_ms=manifest.made_ms,
            size=sum(one.size for one in manifest.files),
            incarnation=manifest.incarnation,
            through=manifest.log_index,
            known=last if isinstance(last, int) else manifest.log_index,
            printed=0 if tail is None else tail.start + len(tail.data),
        )
        return Found(told, name, sender, folder)
    return None


def _tail(folder: str) -> OutputTail | None:
    with contextlib.suppress(HoldfastError, OSError):
        return read_tail(_read(f"{folder}/image/window.bin"))
    return None


def _demand_room(parcel: Parcel, limit: int) -> None:
    coming = Kept(
        parcel.manifest.session,
        parcel.manifest.number,
        parcel.manifest.made_ms,
        sum(one.size for one in parcel.manifest.files),
        "",
        is_session=False,
    )
    others = [_kept(one) for one in _found() if str(one.name) != _name(parcel)]
    gone = removable([*others, coming], Bounds(KEPT, limit))
    left = {*others, coming} - {*gone}
    total = sum(one.size for one in left)
    if total > limit or coming not in left:
        raise ImageTooLarge(total, limit)


def _kept(found: Found) -> Kept:
    told = found.told
    return Kept(
        found.name.session,
        found.name.number,
        told.made_ms,
        told.size,
        "",
        is_session=False,
    )


def _remove_unfinished(but: str) -> None:
    """Remove what was cut of other images of the same session."""
    prefix = but.rpartition(".")[0]
    for name in os.listdir(_home()):
        folder = f"{_home()}/{name}"
        is_other = folder.rpartition(".")[0] == prefix and folder != but
        if is_other and not os.path.exists(f"{folder}/whole"):  # noqa: PTH110  # a string
            shutil.rmtree(folder, ignore_errors=True)


def _name(parcel: Parcel) -> str:
    return f"{parcel.manifest.session}.{parcel.manifest.number}"


def _link(source: str, target: str) -> None:
    os.link(source, target, follow_symlinks=False)


def _read(path: str) -> bytes:
    return read_file(path, MAX_FACTS)


def _home() -> str:
    return folders.owned(f"{images_folder()}/copies")
