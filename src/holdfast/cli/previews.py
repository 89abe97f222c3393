"""Screens of sessions, fetched in the background: a slow one delays no key.

One thread asks for one session at a time, for the one that was wanted last; what was
wanted before and not begun is forgotten. What is found is kept while the list is open.
"""

import threading
from collections.abc import Callable

from holdfast.cli.panels import Preview
from holdfast.client.calls import state
from holdfast.client.driver import ask
from holdfast.core.client.screen_question import screen
from holdfast.model.errors import HoldfastError
from holdfast.model.text import printable

REST = 0.12
"""Seconds on one row before its session is asked: who scrolls past wakes nobody."""


AGAIN = 1.0
"""Seconds before one that did not answer is asked again: a painter may be starting."""


class Previews:
    """Looks sessions up; `found` is called, in another thread, when one was."""

    def __init__(self, found: Callable[[], None]) -> None:
        self._found = found
        self._known: dict[str, Preview] = {}
        self._unsure: set[str] = set()
        self._wanted = ""
        self._is_open = True
        self._changed = threading.Condition()
        threading.Thread(target=self._look, name="previews", daemon=True).start()

    def of(self, session: str) -> Preview | None:
        """Return what a session shows; None while that is being found out."""
        with self._changed:
            if self._wanted != session:
                self._wanted = session
                self._changed.notify()
            return self._known.get(session)

    def close(self) -> None:
        """Ask nobody any more."""
        with self._changed:
            self._is_open = False
            self._changed.notify()

    def _look(self) -> None:
        while session := self._next():
            seen, is_sure = look_at(session)
            with self._changed:
                self._known[session] = seen
                self._unsure.discard(session)
                if not is_sure:
                    self._unsure.add(session)
                is_open = self._is_open
            if is_open:
                self._found()

    def _next(self) -> str:
        """Wait for a session that stays selected; '' at the end."""
        with self._changed:
            while self._is_open:
                wanted = self._wanted
                is_known = wanted in self._known
                if not wanted or (is_known and wanted not in self._unsure):
                    self._changed.wait()
                elif not self._changed.wait(AGAIN if is_known else REST):
                    return wanted
            return ""


def look_at(session: str) -> tuple[Preview, bool]:
    """Return what a session shows, and what it does; and whether it said so."""
    try:
        seen = ask(session, screen(cells=False)).screen
        does = state(session)
    except HoldfastError as error:
        return Preview((), printable(str(error))), False
    told = f"{does.state}{'' if does.sure else ' (not sure)'}"
    return Preview(seen.lines, told), True
