"""Decides whether a session is shown raw or framed.

Theory of operation
-------------------
*Raw* passes on what the program prints: the terminal keeps its own lines above the
screen. It is right only on a terminal of the session's size. *Framed* draws the screen,
or as much of it as there is room for, with a status line. By itself (`auto`) a
terminal shows raw what has its size, and frames what has another; a key chooses the
other view, until it is pressed again.

A change waits for a keyframe, which is asked for once; a terminal that is resized many
times a second changes its view no more often than every CALM seconds.

Invariants:

I1  No more than one keyframe is asked for at a time.
I2  Between two changes there are at least CALM seconds, unless the user pressed a key.
"""

from holdfast.model.geometry import Size

AUTO, RAW, FRAMED = "auto", "raw", "framed"

CALM = 0.5
"""Seconds between two changes of the view that nobody asked for."""

MAX_REFUSALS = 4
"""Keyframes asked for in vain, after which it stays raw: a painter that has to be
started on a busy machine may be late once or twice."""

PATIENCE = 5.0
"""Seconds to wait for a keyframe, before it is asked for again."""


class ViewChoice:
    """How one terminal shows one session."""

    def __init__(self, preferred: str = AUTO) -> None:
        self.preferred = preferred
        self.is_framed = False
        """Whether it is drawn in a frame now."""

        self.is_looking_back = False
        """Whether a look back is wanted, for which it is framed meanwhile."""

        self._asked_at: float | None = None
        self._calm_at = 0.0
        self._refusals = 0

    def wants_frame(self, ours: Size, session: Size | None) -> bool:
        """Tell whether it is to be framed, on a terminal of this size."""
        if self.is_looking_back or self.preferred == FRAMED:
            return True
        return self.preferred == AUTO and session not in (None, ours)

    def toggle(self, ours: Size, session: Size | None) -> None:
        """Note that the user wants the other view."""
        is_framed = self.wants_frame(ours, session)
        self.is_looking_back = False
        self.preferred = AUTO
        if self.wants_frame(ours, session) is is_framed:
            self.preferred = RAW if is_framed else FRAMED
        self._calm_at = 0.0

    def look_back(self) -> None:
        """Note that the user wants to see what has scrolled away."""
        self.is_looking_back, self._calm_at = True, 0.0

    def asks(self, ours: Size, session: Size | None, now: float) -> bool:
        """Tell whether to ask for a keyframe now, for the other view."""
        if self.wants_frame(ours, session) is self.is_framed or now < self._calm_at:
            return False
        return self.asks_again(now)

    def asks_again(self, now: float) -> bool:
        """Tell whether to ask for a keyframe now, whichever the view."""
        if self._asked_at is not None and now - self._asked_at < PATIENCE:
            return False
        self._asked_at = now
        return True

    def deadline(self, ours: Size, session: Size | None) -> float | None:
        """Return when to call `asks`, if there is something to ask for."""
        if self.wants_frame(ours, session) is self.is_framed:
            return None
        if self._asked_at is not None:
            return self._asked_at + PATIENCE
        return self._calm_at

    def painted(self, ours: Size, session: Size | None, now: float) -> bool:
        """Note that a keyframe comes; return whether it is for a frame."""
        wanted = self.wants_frame(ours, session)
        if wanted is not self.is_framed:
            self._calm_at = now + CALM
        self.is_framed, self._asked_at, self._refusals = wanted, None, 0
        return wanted

    def refused(self, now: float) -> bool:
        """Note that there was no keyframe; tell whether it will not be asked again."""
        self._asked_at, self._calm_at = None, now + CALM
        self._refusals += 1
        if self._refusals < MAX_REFUSALS:
            return False
        self._refusals = 0
        self.preferred, self.is_looking_back = RAW, False
        return True
