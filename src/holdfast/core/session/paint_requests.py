"""The next request to the painter, for one session.

Theory of operation
-------------------
A painter draws the session's screen in another process, and may die of what it
draws. It is asked when a client needs something: a keyframe, the screen,
the place of the cursor. Only then is it fed, from the window, up to the place
the wish speaks of:

    no picture ──Reset, Draw──▶ begun ──Skip, Resize, Feed──▶ painted ──Depict
        ▲                                                              │
        └────────── the painter died, or has put the picture away ◀────┘

Unasked it is fed only so that the window does not roll over what it has not
seen: when more than half of the window waits for it, and not faster than RATE.
A flood that is faster rolls over it, and costs nothing more; what is gone is
left out, and the picture is no longer called exact. The last keyframe is kept,
so that the next painter begins there, and so that a wish for the same picture needs
no painter.

The driver reports what happened (`connected`, `answered`, `died`, …),
then calls `next` until there is nothing to do.

Invariants:

I1  No more than one request is open.
I2  Every wish is settled once: granted, or declined by its deadline.
I3  Between two resets the painter is given every byte once and in order; what
    it is not given is skipped, and then no picture is called exact.
I4  Unasked, the painter is fed at most RATE bytes a second and a half window.
I5  A byte that two painters died of is not given to a third.
I6  What is kept is bounded: MAX_WISHES, MAX_KEPT, MAX_SIZES.
"""

import enum
import math
from collections import deque
from dataclasses import dataclass
from typing import NamedTuple

from holdfast.model.geometry import Size
from holdfast.term.fatal_bytes import FatalBytes

PATIENCE = 3.0
"""Seconds for a keyframe, and for an answer of a painter that has answered before: a
person who attaches is shown the stream instead, and does not wait longer gladly."""

START_PATIENCE = 8.0
"""Seconds for a screen, which nothing can stand in for, and for a painter's first
answer: on a busy machine its interpreter takes so long to start. Clients wait for an
answer two seconds longer than that."""

MAX_WISHES = 64
"""Wishes that wait: more than a session has viewers who come at one moment."""

MAX_FEED = 64 * 1024
"""Bytes in one request: a millisecond's work for the painter."""

RATE = 4 * 1024 * 1024
"""Bytes fed unasked in a second: 2 % of what one core can paint."""

MAX_KEPT = 256 * 1024
"""Longest keyframe kept: two thousand lines of usual length. Without one, the
next painter begins with the window."""

MAX_SIZES = 64
"""Changes of size remembered with their offsets: a window dragged larger makes
dozens. The oldest are forgotten, and what was printed then is painted in a
later size."""

MAX_DEATHS = 6
"""Painters given up for one wish: enough for three bad places. Then all of the
window is a bad place, but for its last part: the painter is not ours alone."""

LAST_PART = 4 * 1024
"""Bytes that are tried all the same: what a program draws to clear up is less."""

REST = 60.0
"""Seconds after which an unused link is closed, so that the painter can rest."""

MAX_PAUSE = 60.0
"""Longest time for which a painter that cannot be reached is not looked for."""

_FIRST_PAUSE = 0.5
_DEATH_PAUSE = 0.05
_MAX_DEATH_PAUSE = 1.0


class Want(enum.Enum):
    """What can be wished for."""

    KEYFRAME = "keyframe"
    SCREEN = "screen"
    CELLS = "cells"
    CURSOR = "cursor"
    PRIVATE_CURSOR = "private-cursor"


_SCREENS = frozenset({Want.SCREEN, Want.CELLS})


@dataclass(frozen=True, slots=True)
class View:
    """Which bytes the window holds now."""

    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Picture:
    """What the painter gave: `data` shows the stream up to `offset`."""

    offset: int
    size: Size
    data: bytes
    exact: bool


# ── what is to be done ────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True)
class Connect:
    """Open a link to the painter, then tell `connected` or `unreachable`."""


@dataclass(frozen=True, slots=True)
class Disconnect:
    """Close the link; nothing that comes on it counts any more."""


@dataclass(frozen=True, slots=True)
class Reset:
    """Ask for a new picture that begins at `at`, over a keyframe's beginning."""

    size: Size
    at: int
    keyframe: bytes


@dataclass(frozen=True, slots=True)
class Draw:
    """Ask for more of the keyframe to be drawn."""

    keyframe: bytes


@dataclass(frozen=True, slots=True)
class Feed:
    """Ask for the window's bytes from `start` to `end` to be painted."""

    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Skip:
    """Ask to go on at `at`, as if nothing had been printed before it."""

    at: int


@dataclass(frozen=True, slots=True)
class Resize:
    """Ask for another size."""

    size: Size


@dataclass(frozen=True, slots=True)
class Depict:
    """Ask for what is wished."""

    want: Want


@dataclass(frozen=True, slots=True)
class Drop:
    """Ask to put the picture away for good."""


@dataclass(frozen=True, slots=True)
class Grant:
    """Hand over what was wished under `ticket`."""

    ticket: int
    picture: Picture


@dataclass(frozen=True, slots=True)
class Decline:
    """Say that the wish under `ticket` cannot be granted."""

    ticket: int


Request = Reset | Draw | Feed | Skip | Resize | Depict | Drop
Effect = Connect | Disconnect | Request | Grant | Decline


class Past(NamedTuple):
    """What a holder that goes leaves for the next one's painting."""

    is_whole: bool
    begin: int
    sizes: tuple[tuple[int, Size], ...]
    kept: Picture | None


@dataclass(slots=True)
class _Wish:
    ticket: int
    want: Want
    upto: int | None
    until: float


class Painting:
    """One session's dealings with the painter."""

    def __init__(self, view: View, size: Size, *, capacity: int, is_new: bool) -> None:
        """Begin; `is_new` if every byte of the stream comes after this moment."""
        self._capacity = capacity
        self._is_whole = is_new
        self._sizes = [(0, size)]
        self._wishes: deque[_Wish] = deque()
        self._tickets = 0
        self._settled: list[Effect] = []
        self._fatal = FatalBytes()
        self._kept: Picture | None = None
        self._is_kept_suspect = False
        self._from = view.start
        self._painted: int | None = None
        self._painted_size = size
        self._is_exact = False
        self._undrawn = b""
        self._feeding_to: int | None = None
        self._feed_at = 0.0
        self._is_linked = False
        self._has_answered = False
        self._open: Request | None = None
        self._serving: int | None = None
        self._asked_at = 0.0
        self._again_at = 0.0
        self._shut_until = 0.0
        self._failures = 0
        self._deaths = 0
        self._has_given_up = False
        self._is_over = False

    # ── from one holder to the next ───────────────────────────────────────

    @property
    def is_quiet(self) -> bool:
        """Whether nobody waits for a picture, and the painter for nothing."""
        return not self._wishes and self._open is None and not self._settled

    def past(self) -> Past:
        """Return what another process needs to go on from here."""
        return Past(self._is_whole, self._from, tuple(self._sizes), self._kept)

    def go_on(self, past: Past) -> None:
        """Go on where another process was; call it first."""
        self._is_whole, self._from = past.is_whole, past.begin
        self._kept = past.kept
        # The terminal may have been resized by another process since.
        now = self._sizes[-1][1]
        self._sizes = [*past.sizes] or [*self._sizes]
        if self._sizes[-1][1] != now:
            self._sizes.append((self._sizes[-1][0], now))

    # ── what happened ─────────────────────────────────────────────────────

    def wish(self, want: Want, upto: int | None, now: float) -> int:
        """Take a wish for the picture at `upto`, or as it is when its turn comes.

        Return the ticket under which it will be settled.
        """
        self._tickets += 1
        if len(self._wishes) >= MAX_WISHES or now < self._shut_until:
            self._settled.append(Decline(self._tickets))
        else:
            patience = START_PATIENCE if want in _SCREENS else PATIENCE
            self._wishes.append(_Wish(self._tickets, want, upto, now + patience))
        return self._tickets

    def resized(self, offset: int, size: Size) -> None:
        """Take note that what is printed from `offset` on has another size."""
        self._sizes.append((offset, size))
        if len(self._sizes) > MAX_SIZES:
            self._is_whole = False
            del self._sizes[0]

    def ended(self) -> None:
        """Take note that the session is over: nobody may need its picture again."""
        self._is_over = True

    def connected(self) -> None:
        """Take note that there is a link."""
        self._is_linked, self._has_answered = True, False

    def unreachable(self, now: float) -> None:
        """Take note that there is no painter to be had: nobody waits for one."""
        self._shut(now)
        self._decline_all()
        self._painted = None

    def answered(self, at: int, size: Size, data: bytes) -> bool:
        """Take the answer to what was asked; False if it is none, and to hang up."""
        request, self._open = self._open, None
        self._has_answered = True
        self._failures = 0
        if request is None or at != self._expected(request):
            return False
        self._take(request, Picture(at, size, data, self._is_exact))
        return True

    def refused(self) -> None:
        """Take note that the painter has no such picture, or no longer."""
        self._open = self._painted = None
        self._has_answered = True
        self._set_back()

    def died(self, now: float, *, of_ours: bool) -> None:
        """Take note that the link is gone, perhaps of what we had asked for."""
        request, self._open = self._open, None
        painted, self._painted = self._painted, None
        self._is_linked = False
        pause = min(_DEATH_PAUSE * self._deaths, _MAX_DEATH_PAUSE)
        self._again_at = now + pause
        if not of_ours or request is None:
            self._deaths += 1
            return
        match request:
            case Reset() | Draw():
                # One death proves nothing; at the second we go without it.
                self._kept = None if self._is_kept_suspect else self._kept
                self._is_kept_suspect = True
            case Feed(start, end):
                self._fatal.died(start, end)
            case Skip() | Resize() | Depict() | Drop():
                self._fatal.died(painted or 0, painted or 0)
        self._set_back()

    # ── what to do ────────────────────────────────────────────────────────

    def next(self, view: View, now: float) -> list[Effect]:
        """Return what is to be done now; call it again after that was done."""
        self._expire(now)
        effects, self._settled = self._settled, []
        if effects or self._open is not None:
            return effects
        upto = self._target(view, now)
        if upto is None:
            return self._unneeded(now)
        if (kept := self._kept_for(upto)) is not None:
            return [Grant(self._wishes.popleft().ticket, kept)]
        if not self._is_linked:
            return [Connect()] if now >= self._again_at else []
        return self._ask(self._request(view, upto), now)

    def next_deadline(self) -> float | None:
        """Return when to call `next`, or None when there is nothing to wait for."""
        deadline = None
        if self._open is not None:
            deadline = self._due_at
        elif self._is_linked:
            deadline = self._asked_at + REST
        elif self._wishes:
            deadline = self._again_at
        if self._wishes and deadline is not None:
            deadline = min(deadline, *(wish.until for wish in self._wishes))
        return deadline

    @property
    def _due_at(self) -> float:
        """The moment at which the open request counts as unanswered."""
        return self._asked_at + (PATIENCE if self._has_answered else START_PATIENCE)

    @property
    def full_at(self) -> float:
        """Offset after which half the window is unpainted, and must not be lost."""
        return math.inf if self._is_over else self._reached() + self._capacity / 2

    def is_due(self, start: int, end: int, now: float) -> bool:
        """Tell, at little cost, whether `next` has something to do."""
        if self._wishes or self._is_linked:
            deadline = self.next_deadline()
            if deadline is not None and now >= deadline:
                return True
        return self._open is None and self._may_feed(start, end, now)

    # ── inside ────────────────────────────────────────────────────────────

    def _take(self, request: Request, got: Picture) -> None:
        match request:
            case Reset():
                self._painted, self._painted_size = got.offset, got.size
            case Draw(keyframe):
                self._undrawn = self._undrawn[len(keyframe) :]
            case Feed():
                self._painted = got.offset
                self._fatal.painted(got.offset)
            case Skip():
                self._painted, self._is_exact = got.offset, False
            case Resize():
                self._painted_size = got.size
            case Depict(want):
                self._depicted(want, got)
            case Drop():
                self._painted = None

    def _expire(self, now: float) -> None:
        is_late = self._open is not None and now >= self._due_at
        is_served = self._open is not None and self._has_answered
        for wish in [wish for wish in self._wishes if now >= wish.until]:
            # A painter that has yet to answer at all may still be starting.
            is_late = is_late or (is_served and wish is self._wishes[0])
            self._wishes.remove(wish)
            self._settled.append(Decline(wish.ticket))
        if is_late:
            # An answer that comes later would be taken for another's.
            if not self._has_answered:
                self._shut(now)
                self._decline_all()
            self._open = self._painted = None
            self._is_linked = False
            self._settled.append(Disconnect())

    def _kept_for(self, upto: int) -> Picture | None:
        """Return the last keyframe if it is what is wished for next."""
        kept = self._kept
        if kept is None or self._is_kept_suspect or kept.offset != upto:
            return None
        is_wished = bool(self._wishes) and self._wishes[0].want is Want.KEYFRAME
        return kept if is_wished and kept.size == self._size_at(upto) else None

    def _target(self, view: View, now: float) -> int | None:
        if self._wishes:
            wish = self._wishes[0]
            if wish.upto is None:
                wish.upto = view.end
            return wish.upto
        if self._feeding_to is None and self._may_feed(view.start, view.end, now):
            self._feeding_to = view.end
            self._feed_at = now + (view.end - self._reached()) / RATE
        return self._feeding_to

    def _may_feed(self, start: int, end: int, now: float) -> bool:
        if end <= self.full_at:
            return False
        reached = self._reached()
        # What has been rolled over is lost already: there is no more hurry.
        is_time = now >= max(self._feed_at, self._shut_until, self._again_at)
        return is_time and reached >= start

    def _reached(self) -> int:
        if self._painted is not None:
            return self._painted
        return self._from if self._kept is None else self._kept.offset

    def _unneeded(self, now: float) -> list[Effect]:
        is_unused = now >= self._asked_at + REST
        if self._is_over and self._painted is not None and not is_unused:
            return self._ask(Drop(), now) if self._is_linked else [Connect()]
        if not (self._is_linked and is_unused):
            return []
        self._is_linked = False
        return [Disconnect()]

    def _ask(self, request: Request, now: float) -> list[Effect]:
        self._open = request
        self._asked_at = now
        return [request]

    def _request(self, view: View, upto: int) -> Request:
        self._fatal.rolled(view.start)
        if self._has_given_up:
            self._has_given_up = False
            for _ in range(2):
                self._fatal.died(view.start, max(view.start, upto - LAST_PART))
        if self._painted is None:
            return self._begin(view)
        if self._undrawn:
            return Draw(self._undrawn[:MAX_FEED])
        size = self._size_at(self._painted)
        if size != self._painted_size:
            return Resize(size)
        if self._painted < upto:
            return self._advance(self._painted, view, upto)
        self._serving = self._wishes[0].ticket if self._wishes else None
        return Depict(self._wishes[0].want if self._wishes else Want.KEYFRAME)

    def _begin(self, view: View) -> Request:
        kept = self._kept
        if kept is None:
            self._undrawn = b""
            self._is_exact = self._is_whole and view.start == 0
            return Reset(self._size_at(view.start), view.start, b"")
        self._undrawn = kept.data[MAX_FEED:]
        self._is_exact = kept.exact
        return Reset(kept.size, kept.offset, kept.data[:MAX_FEED])

    def _advance(self, painted: int, view: View, upto: int) -> Request:
        if painted < view.start:
            return Skip(view.start)
        clear = self._fatal.clear(painted, upto)
        if not clear:
            return Skip(upto)
        if clear[0].start > painted:
            return Skip(clear[0].start)
        changes = [offset for offset, _ in self._sizes if offset > painted]
        return Feed(painted, min([*changes, clear[0].end, painted + MAX_FEED]))

    def _size_at(self, offset: int) -> Size:
        size = self._sizes[0][1]
        for changed_at, other in self._sizes:
            if changed_at <= offset:
                size = other
        return size

    def _expected(self, request: Request) -> int:
        match request:
            case Reset():
                return request.at
            case Feed():
                return request.end
            case Skip():
                return request.at
            case Drop():
                return 0
            case Draw() | Resize() | Depict():
                return self._painted or 0

    def _depicted(self, want: Want, picture: Picture) -> None:
        self._deaths = 0
        if want is Want.KEYFRAME and len(picture.data) <= MAX_KEPT:
            self._kept, self._is_kept_suspect = picture, False
            # Older sizes are in the keyframe.
            size = self._size_at(picture.offset)
            later = [one for one in self._sizes if one[0] > picture.offset]
            self._sizes = [(picture.offset, size), *later]
        if self._serving is not None:
            self._wishes.popleft()
            self._settled.append(Grant(self._serving, picture))
        else:
            self._feeding_to = None

    def _set_back(self) -> None:
        self._deaths += 1
        if self._deaths >= MAX_DEATHS:
            self._deaths = 0
            self._has_given_up = True
            self._feeding_to = None
            if self._wishes:
                self._settled.append(Decline(self._wishes.popleft().ticket))

    def _shut(self, now: float) -> None:
        pause = min(_FIRST_PAUSE * 2**self._failures, MAX_PAUSE)
        self._failures = min(self._failures + 1, 16)
        self._shut_until = now + pause
        self._feeding_to = None

    def _decline_all(self) -> None:
        self._settled += [Decline(wish.ticket) for wish in self._wishes]
        self._wishes.clear()
