"""Which image is sent to the other host next?

Theory of operation
-------------------
Images that were made unasked are sent to another host, which keeps them in case this
one dies. A copy is worth as much as it is new: of each session only the newest image
waits. One is sent at a time, the one that has waited longest first. One that could not
be sent waits, longer each time, and is replaced by the next image as any other.

    WAITING ──its turn──▶ SENDING ──sent──▶ (gone)
       ▲                     └──failed──▶ WAITING, later
       └── made

Invariants, checked by tests/core/capsule/test_copy_queue.py:

I1  One is sent at a time.
I2  Of each session at most one image waits, the newest.
I3  After a failure a session waits FIRST seconds, then twice as long each time, up to
    LONGEST; a new image does not shorten that.
I4  Every session that waits has its turn.
"""

from dataclasses import dataclass

from holdfast.model.ids import SessionId

FIRST = 10.0
"""Seconds after the first failure: a host that is restarted is back by then."""

LONGEST = 600.0


@dataclass(slots=True)
class _Waiting:
    image: str
    since: float
    not_before: float


class CopyQueue:
    """The images that wait to be sent."""

    def __init__(self) -> None:
        self._waiting: dict[SessionId, _Waiting] = {}
        self._pauses: dict[SessionId, float] = {}
        self._sending: SessionId | None = None

    def made(self, session: SessionId, image: str, now: float) -> None:
        """Take that an image was made."""
        waiting = self._waiting.get(session)
        if waiting is not None:
            waiting.image = image
        else:
            self._waiting[session] = _Waiting(image, now, now)

    def next_image(self, now: float) -> str | None:
        """Return the image to send now; None if none is due, or one is being sent."""
        due = [one for one in self._waiting if self._waiting[one].not_before <= now]
        if self._sending is not None or not due:
            return None
        session = min(due, key=lambda one: self._waiting[one].since)
        self._sending = session
        return self._waiting.pop(session).image

    def sent(self) -> None:
        """Take that the one that was being sent is there."""
        if self._sending is not None:
            self._pauses.pop(self._sending, None)
            self._sending = None

    def failed(self, image: str, now: float) -> None:
        """Take that the one that was being sent is not there."""
        session, self._sending = self._sending, None
        if session is None:
            return
        pause = min(self._pauses.get(session, FIRST / 2) * 2, LONGEST)
        self._pauses[session] = pause
        newer = self._waiting.get(session)
        kept = image if newer is None else newer.image
        self._waiting[session] = _Waiting(kept, now, now + pause)

    def dropped(self) -> None:
        """Take that the one that was being sent can never be: it is given up."""
        self.sent()
