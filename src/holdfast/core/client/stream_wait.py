"""Waiting for output: a pattern, silence, or the end.

Every byte comes once, whatever dies meanwhile. "From now on" means from where the
stream stood when we attached: the last command's place is asked for first, so that
most of what is kept is not sent at all.
"""

import math
import re
from abc import abstractmethod
from collections.abc import Callable
from typing import NamedTuple, TypeVar

from holdfast.core.client.attachment import Attachment, News
from holdfast.core.client.exchange import AttachedExchange
from holdfast.core.client.questions import NO_CLIENT
from holdfast.core.client.state_wait import NOT_COME
from holdfast.core.client.time_limit import limit_of
from holdfast.model import errors
from holdfast.model.ids import ClientId, Incarnation
from holdfast.model.text import printable
from holdfast.wire.codec import Message
from holdfast.wire.commands import CommandReport
from holdfast.wire.messages import Attached, Exited, Gap, Output

MAX_MATCH = 64 * 1024
"""Bytes that one match can be long: what is older is let go."""

READING = 10.0
"""Seconds in which a holder sends what it has already."""

Result = TypeVar("Result")


class Match(NamedTuple):
    """Where something that fits stands in the stream, and what it is."""

    offset: int
    data: bytes
    groups: tuple[bytes | None, ...]


class Piece(NamedTuple):
    """A piece of the stream; `gap` bytes before it are kept no longer."""

    incarnation: Incarnation
    offset: int
    gap: int
    content: bytes


class Follow(AttachedExchange[Result]):
    """Sees what is printed from a byte on, from now on, or all that is kept."""

    def __init__(
        self,
        attachment: Attachment,
        *,
        start: int | None = None,
        from_now: bool = False,
    ) -> None:
        super().__init__(attachment)
        # An offset without a life is meant for the one that the session has.
        attachment.offset, attachment.incarnation = start, None
        self._start = start
        self._from_now = from_now
        self._from = 0
        self._is_new = True

    # ── what each of them does in its own way ─────────────────────────────

    @abstractmethod
    def printed(self, offset: int, data: bytes, now: float) -> None:
        """Take new bytes of the stream."""

    @abstractmethod
    def ended(self, status: int) -> None:
        """Note that the session is over."""

    def began(self, attached: Attached, now: float) -> None:
        """Note that a link is up, and where the stream is."""

    def missed(self, now: float) -> None:
        """Note that a part of the stream is gone."""

    # ── what they share ───────────────────────────────────────────────────

    @property
    def end(self) -> int:
        """Up to which byte the stream was seen, or need not be seen."""
        return max(self._from, self.attachment.offset or 0)

    def asks_first(self) -> tuple[ClientId, ...]:
        """Ask for the last command, if nothing before it is wanted."""
        return (NO_CLIENT,) if self._from_now and self._is_new else ()

    def told_first(self, reports: list[CommandReport]) -> None:
        """Begin at the last command; a program that is no shell has none."""
        command = reports[0].command if reports else None
        if command is not None:
            end = command.end
            self.attachment.offset = command.start if end is None else end

    def refused_first(self, error: errors.HoldfastError) -> None:
        """Go on without: it is no shell that we know, or ATTACH is refused next."""

    def attached(self, attached: Attached, now: float) -> list[Message]:
        """Note where the stream is."""
        if self._is_new:
            self._is_new = False
            self._from = attached.end if self._from_now else 0
        self.began(attached, now)
        return []

    def heard(self, news: News, now: float) -> list[Message]:
        """Take what came."""
        match news.message:
            case Output(offset, data):
                end = offset + len(data)
                first = max(end - len(news.printed), self._from)
                if first < end:
                    self.printed(first, data[first - offset :], now)
            case Gap(_, end) if end > self._from:
                self.missed(now)
            case Exited(status):
                self.ended(status)
            case _:
                pass
        return []

    def cut(self, error: errors.SessionUnreachable, now: float) -> None:
        """Go on after the last byte, unless nobody has answered for long."""
        if self.is_lost(now):
            raise error


class _TimedFollow(Follow[Result]):
    """Is given up at a moment, as in vain."""

    def __init__(  # what is watched, and for how long
        self,
        attachment: Attachment,
        what: str,
        now: float,
        timeout: float | None,
        *,
        start: int | None = None,
        from_now: bool = False,
    ) -> None:
        super().__init__(attachment, start=start, from_now=from_now)
        if timeout is not None:
            self.time_limit = limit_of(timeout, what, now)

    def cut(self, error: errors.SessionUnreachable, now: float) -> None:
        """Go on after the last byte, while there is time."""
        self.time_limit.demand(now)
        super().cut(error, now)


class MatchWait(_TimedFollow[Match]):
    """Waits for output that fits a pattern."""

    def __init__(
        self,
        attachment: Attachment,
        pattern: re.Pattern[bytes],
        now: float,
        timeout: float | None,
        start: int | None = None,
    ) -> None:
        what = printable(repr(pattern.pattern), 64)
        super().__init__(attachment, what, now, timeout, start=start)
        self._pattern = pattern
        self._held = bytearray()

    def printed(self, offset: int, data: bytes, now: float) -> None:
        """Look for it."""
        del now
        self._held += data
        if found := self._pattern.search(self._held):
            begin = offset + len(data) - len(self._held)
            self.result = Match(begin + found.start(), found[0], found.groups())
        del self._held[:-MAX_MATCH]

    def missed(self, now: float) -> None:
        """Look no further across a gap."""
        del now
        self._held.clear()

    def ended(self, status: int) -> None:
        """Give up: nothing is printed any more."""
        del status
        raise errors.SessionOver(NOT_COME)


class QuietWait(_TimedFollow[int]):
    """Waits until nothing was printed for a while; the result is the stream's end."""

    def __init__(
        self, attachment: Attachment, seconds: float, now: float, timeout: float | None
    ) -> None:
        super().__init__(attachment, "quiet", now, timeout, from_now=True)
        self._seconds = seconds
        self._quiet_at = math.inf

    def began(self, attached: Attached, now: float) -> None:
        """Wait from here on."""
        del attached
        self._quiet_at = now + self._seconds

    def printed(self, offset: int, data: bytes, now: float) -> None:
        """Wait anew."""
        del offset, data
        self._quiet_at = now + self._seconds

    def missed(self, now: float) -> None:
        """Wait anew: what is missing was printed."""
        self._quiet_at = now + self._seconds

    def ended(self, status: int) -> None:
        """Nothing is quieter."""
        del status
        self.result = self.end

    def ticked(self, now: float) -> list[Message]:
        """Tell when it was quiet for long enough."""
        if now < self._quiet_at:
            return super().ticked(now)
        self.result = self.end
        return []

    def deadline(self, now: float) -> float:
        """Return when it will have been quiet for long enough."""
        return min(super().deadline(now), self._quiet_at)


class Tail(Follow[bool]):
    """Hands out what comes, every byte once, until the session is over."""

    def __init__(
        self, attachment: Attachment, *, start: int | None, from_now: bool
    ) -> None:
        super().__init__(attachment, start=start, from_now=from_now)
        self._taken: list[Message] = []

    def take(self) -> list[Message]:
        """Return what has come since the last time."""
        taken, self._taken = self._taken, []
        return taken

    def heard(self, news: News, now: float) -> list[Message]:
        """Keep it, as far as it is wanted."""
        match news.message:
            case Output():
                super().heard(news, now)
            case Gap(start, end):
                if end > self._from:
                    self._taken.append(Gap(max(start, self._from), end))
            case message:
                self._taken.append(message)
                is_last = isinstance(message, Exited)
                self.result = True if is_last else self.result
        return []

    def printed(self, offset: int, data: bytes, now: float) -> None:
        """Keep it."""
        del now
        self._taken.append(Output(offset, data))

    def ended(self, status: int) -> None:
        """Do nothing: that it is over was kept."""


class Whole(Follow[int]):
    """Passes on all that a session prints; the result is how it ended."""

    def __init__(
        self, attachment: Attachment, passes_on: Callable[[bytes], None]
    ) -> None:
        super().__init__(attachment)
        self.missing = 0
        """How many bytes were gone before they could be read."""

        self._passes_on = passes_on
        self._at = 0

    def printed(self, offset: int, data: bytes, now: float) -> None:
        """Pass it on."""
        del now
        self.missing += offset - self._at
        self._at = offset + len(data)
        self._passes_on(data)

    def ended(self, status: int) -> None:
        """Take the status."""
        self.result = status


class EndWait(_TimedFollow[int]):
    """Waits for the end; the result is the status."""

    def __init__(
        self, attachment: Attachment, now: float, timeout: float | None
    ) -> None:
        super().__init__(attachment, "the end", now, timeout, from_now=True)

    def printed(self, offset: int, data: bytes, now: float) -> None:
        """Wait on."""

    def ended(self, status: int) -> None:
        """Take the status."""
        self.result = status


class Reading(_TimedFollow[Piece]):
    """Reads what there is of the stream now; the result is at most `limit` bytes."""

    def __init__(
        self, attachment: Attachment, start: int | None, limit: int | None, now: float
    ) -> None:
        super().__init__(attachment, "the stream", now, READING, start=start)
        self._limit = limit
        self._first: int | None = None
        self._content = bytearray()
        self._last = 0
        self._oldest = 0

    def began(self, attached: Attached, now: float) -> None:
        """Read up to where the stream ends now."""
        del now
        self._last, self._oldest = attached.end, attached.start
        self._finish()

    def printed(self, offset: int, data: bytes, now: float) -> None:
        """Keep it."""
        del now
        self._first = offset if self._first is None else self._first
        self._content += data
        self._finish()

    def missed(self, now: float) -> None:
        """Note that there may be nothing more to come."""
        del now
        self._finish()

    def ended(self, status: int) -> None:
        """Read on: what was printed before comes first."""
        del status
        self._finish()

    def _finish(self) -> None:
        begin = self._oldest if self._start is None else self._start
        is_full = self._limit is not None and len(self._content) >= self._limit
        if not is_full and max(begin, self.end) < self._last:
            return
        offset = max(begin, self.end) if self._first is None else self._first
        self.result = Piece(
            self.attachment.life,
            offset,
            max(0, offset - begin),
            bytes(self._content[: self._limit]),
        )
