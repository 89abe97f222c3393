"""What keeps a session from moving to another host, or says where it went."""

from holdfast.model.errors.branches import Unavailable, UsageError


class MoveBlocked(UsageError):
    """Something stands in the way of a move; nothing was stopped."""

    session: str
    host: str
    why: str

    says = "{session} cannot move to {host}: {why}"
    next_step = "Nothing was stopped. Clear what is named, and move it again."


class SessionMoved(UsageError):
    """A session went to another host, and goes on there."""

    session: str
    host: str

    says = "{session} has moved to {host}"
    next_step = "`holdfast attach` follows it there, if you are known there."


class SessionLeft(Unavailable):
    """A session goes to another host, or went there: `word` says where, signed."""

    session: str
    why: str
    word: str

    says = "{session} has moved: {why}"
    next_step = "A client that is known there follows by itself."


class MoveUnfinished(Unavailable):
    """A session was stopped to be moved, and neither host goes on with it yet."""

    session: str
    host: str
    why: str

    says = "{session} is on disk here, on its way to {host}: {why}"
    next_step = "`holdfast move` with the same words finishes it; so does `restore`."


class MoveFailed(Unavailable):
    """The other host could not go on with a session; it goes on here."""

    session: str
    host: str
    why: str

    says = "{session} did not move to {host}, and goes on here: {why}"
    next_step = "Clear what is named, and move it again."


class ParcelRefused(Unavailable):
    """What was brought of a session is not whole here, or does not belong together."""

    why: str

    says = "the parcel is not as it should be: {why}"
    next_step = "`holdfast move` again; what is damaged is sent anew."


class LeaseNeeded(Unavailable):
    """A session that was on its way to another host goes on only by a lease."""

    session: str
    why: str

    says = "{session} cannot go on here: {why}"
    next_step = "Its relay must be reached, and must not have given it to another host."
