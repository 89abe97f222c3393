"""Removes images that are too many, by the settings."""

import contextlib

from holdfast.core.capsule.manifest import is_passing
from holdfast.core.capsule.retention import Bounds, Kept, has_room, removable
from holdfast.crypto.keys import SigningKey
from holdfast.linux.stored import image_store
from holdfast.linux.stored.config import settings
from holdfast.linux.stored.host_key import host_seed
from holdfast.linux.stored.spent_images import is_needed
from holdfast.model.errors import HoldfastError, ImageUnwritten
from holdfast.model.settings import bytes_told


def retain() -> None:
    """Remove images that are too many, or too old where all of them take too much."""
    for one in removable(_kept(), _bounds()):
        with contextlib.suppress(HoldfastError, OSError):  # Somebody uses it.
            image_store.remove(image_store.ImageName(one.session, one.number))


def demand_room() -> None:
    """Do nothing if one more image with a label may be made: it is never removed.

    Raises:
        Unavailable: Those that there are take all that images may.

    """
    if not has_room(_kept(), bounds := _bounds()):
        most = bytes_told(bounds.size)
        why = f"images with a label take {most}, which is all, and none is removed"
        raise ImageUnwritten(f"{why} by itself")


def _bounds() -> Bounds:
    found = settings()
    return Bounds(count=found.images_kept, size=found.images_size)


def _kept() -> list[Kept]:
    host = SigningKey.from_seed(host_seed()).public
    return [
        Kept(
            one.name.session,
            one.name.number,
            one.manifest.made_ms,
            sum(file.size for file in one.manifest.files),
            one.manifest.label,
            is_session=is_needed(one.name, once=one.manifest.once),
        )
        for one in image_store.listed(host)
        if one.manifest is not None and not is_passing(one.manifest)
    ]
