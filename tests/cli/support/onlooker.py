"""Somebody at a terminal, of which one sees what a real emulator shows."""

import time
from collections.abc import Callable

from tests.cli.support.pty_user import PATIENCE, User

from holdfast.model.geometry import Size
from holdfast.painter.ghostty import GhosttyCore
from holdfast.term.screen import Screen


class Onlooker(User):
    """Runs `holdfast` with `words`; `screen` is what is to be seen by now."""

    def __init__(
        self,
        *words: str,
        size: tuple[int, int] = (80, 24),
        env: dict[str, str] | None = None,
    ) -> None:
        self.core = GhosttyCore(Size(*size))
        self._fed = 0
        super().__init__(*words, size=size, env=env)

    def screen(self) -> Screen:
        shown = self.shown
        self.core.feed(shown[self._fed :])
        self._fed = len(shown)
        return self.core.screen()

    def lines(self) -> list[str]:
        return [line.rstrip() for line in self.screen().lines]

    def finds(self, text: str) -> Screen:
        """Return the screen as soon as a line of it has `text`."""
        return self.until(text, lambda: any(text in one for one in self.lines()))

    def until(self, what: str, happened: Callable[[], bool]) -> Screen:
        deadline = time.monotonic() + PATIENCE
        while not happened():
            assert time.monotonic() < deadline, (what, self.lines())
            time.sleep(0.01)
        return self.screen()

    def has_mode(self, mode: int) -> bool:
        self.screen()
        return self.core.has_mode(mode)

    def close(self) -> None:
        super().close()
        self.core.close()
