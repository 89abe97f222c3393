"""Somebody at a real terminal, whose screen an emulator shows."""

import re

from tests.cli.support.pty_user import User
from tests.scenarios.support import eventually

from holdfast.model.geometry import Size
from holdfast.painter.keyframes import GhosttyEmulator
from holdfast.term.screen import Screen


class Seat(User):
    """A user whose terminal can be looked at."""

    def __init__(
        self,
        *words: str,
        size: tuple[int, int] = (80, 24),
        env: dict[str, str] | None = None,
    ) -> None:
        super().__init__(
            *words, size=size, env={"TERM": "xterm-256color", **(env or {})}
        )
        self.size = size

    def screen(self) -> Screen:
        """Return what the terminal shows now."""
        emulator = GhosttyEmulator(Size(*self.size))
        emulator.feed(self.shown)
        seen = emulator.screen()
        emulator.close()
        return seen

    def has_modes(self, *numbers: int) -> list[bool]:
        """Tell which private modes the terminal is in."""
        emulator = GhosttyEmulator(Size(*self.size))
        emulator.feed(self.shown)
        found = [emulator.has_mode(number) for number in numbers]
        emulator.close()
        return found

    def lines(self) -> tuple[str, ...]:
        return self.screen().lines

    def shows(self, pattern: str, row: int | None = None) -> None:
        """Wait until the screen, or one row of it, shows this."""

        def is_there() -> bool:
            lines = self.lines()
            text = "\n".join(lines) if row is None else lines[row]
            return re.search(pattern, text) is not None

        eventually(f"{pattern!r} in {self.size}", is_there)

    def misses(self, pattern: str) -> None:
        """Wait until the screen does not show this."""
        eventually(
            f"no {pattern!r}",
            lambda: re.search(pattern, "\n".join(self.lines())) is None,
        )
