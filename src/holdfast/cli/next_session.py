"""Switches to another session, and keeps track of the open panel.

Between the view of a session and `cli.session_switch`, which is loaded only when one
of its keys is pressed.
"""

import math
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from holdfast.cli.prefix import Move
    from holdfast.cli.session_switch import SessionSwitch
    from holdfast.model.session_record import SessionRecord

PATIENCE = 3.0
"""Seconds for another session to answer: the user could go on with this one."""

MAX_AHEAD = 4096
"""Bytes typed for a session that is not shown yet."""


class NextSession:
    """How to leave the session that is shown."""

    def __init__(
        self,
        session: "SessionRecord",
        find: "Callable[[SessionRecord], SessionSwitch]",
        ahead: bytes = b"",
        news: "Iterable[str]" = (),
    ) -> None:
        """Start with keys typed `ahead` and `news` to show; `find` loads the switch."""
        self.goes_to: SessionRecord | None = None
        """The session that is to be shown next, if this is left for another."""

        self.ahead = ahead
        """What was typed for a session before it was shown: this one, or the next."""

        self.patience = math.inf
        """Seconds for the session to answer, if it is not the first."""

        self.has_come = False
        """Whether the session is shown, or was."""

        self.news = list(news)
        self._session = session
        self._find = find
        self._going: SessionSwitch | None = None

    @property
    def session(self) -> "SessionRecord":
        """The session that is shown, as it is called now."""
        return self._session if self._going is None else self._going.session

    def moved(self, session: "SessionRecord") -> "SessionRecord":
        """Return the session that is shown, at the host that it went to."""
        from holdfast.client import session_location  # noqa: PLC0415  # rarely needed

        self._session = session._replace(host=session_location.home_of(session.id))
        return self._session

    @property
    def is_open(self) -> bool:
        """Whether something is open over the session."""
        return self._going is not None and self._going.is_open

    @property
    def deadline(self) -> float | None:
        """When to call `ticked`, at the latest."""
        return None if self._going is None else self._going.deadline

    def typed(self, keys: bytes) -> bool:
        """Take what was typed, if it is not for the session; tell whether it was."""
        if self.goes_to is not None:
            self.ahead = (self.ahead + keys)[:MAX_AHEAD]
            return True
        if self._going is None or not self._going.is_open:
            return False
        self.goes_to = self._going.typed(keys, time.monotonic())
        return True

    def moves(self, move: "Move") -> str:
        """Take a key that leads elsewhere or opens something.

        Returns what is to be said if it does neither.
        """
        if self._going is None:
            self._going = self._find(self._session)
        self.goes_to = self._going.pressed(move.go)
        return self._going.said

    def ticked(self, now: float) -> None:
        """Note that time has passed, or that an answer has come."""
        if self._going is not None and self._going.is_open:
            self.goes_to = self._going.ticked(now)

    def redraw(self) -> None:
        """Draw what is open, in the terminal's present size."""
        if self._going is not None:
            self._going.redraw()

    def close(self) -> None:
        """Show the session and nothing over it."""
        if self._going is not None:
            self._going.close()

    def take_ahead(self) -> bytes:
        """Return what was typed for this session before it was shown, once."""
        ahead, self.ahead = self.ahead, b""
        return ahead

    def take_news(self) -> list[str]:
        """Return what is to be said, once."""
        news, self.news = self.news, []
        return news
