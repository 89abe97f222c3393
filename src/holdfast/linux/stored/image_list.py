"""The images of this host, as records for clients."""

from holdfast.crypto.keys import SigningKey
from holdfast.linux.stored import image_store, session_names
from holdfast.linux.stored.host_key import host_seed
from holdfast.linux.stored.image_store import Listed
from holdfast.model.ids import SessionId
from holdfast.model.image_record import ImageRecord
from holdfast.model.text import printable


def listed(session: SessionId | None = None) -> list[ImageRecord]:
    """Return the images of one session or of all, the newest first."""
    host = SigningKey.from_seed(host_seed()).public
    found = [record_of(one) for one in image_store.listed(host, session)]
    return sorted(found, key=lambda one: (one.made_ms, one.number), reverse=True)


def size_of(session: SessionId, number: int) -> int:
    """Return how many bytes an image has; 0 if it is not there."""
    sizes = (one.size for one in listed(session) if one.number == number)
    return next(sizes, 0)


def record_of(one: Listed) -> ImageRecord:
    """Return what is told of an image."""
    session = one.name.session
    name = session_names.last_name(session) or session[2:8]
    if one.manifest is None:
        problem = printable(one.problem) or "it is damaged"
        return ImageRecord(session, one.name.number, name, problem=problem)
    return ImageRecord(
        session,
        one.name.number,
        name,
        one.manifest.label,
        one.manifest.made_ms,
        sum(file.size for file in one.manifest.files),
        one.manifest.incarnation,
        one.manifest.once,
    )
