"""The images of stopped sessions, which exist only on disk."""

from holdfast.core.capsule.manifest import is_spent
from holdfast.linux.stored import image_store
from holdfast.linux.stored.book_end import last_entries, life_of
from holdfast.linux.stored.image_store import ImageName
from holdfast.model.errors import HoldfastError


def is_needed(name: ImageName, *, once: bool) -> bool:
    """Tell whether an image has taken its session's place, and was not restored yet.

    Where that cannot be found out, it counts as needed.
    """
    if not once:
        return False
    try:
        tried = image_store.tried(name)
    except HoldfastError:
        return True
    entries = last_entries(name.session)
    if not entries:
        return True
    return not is_spent(once=once, tried=tried, lived=life_of(entries[-1]))
