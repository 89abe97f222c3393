"""Panels over a session, until a key closes them: a list, a question, the keys.

A panel is told keys and says what to do; `drawn` is the whole screen, so that nothing
of what was there before can shine through. Everything in it is safe to print.
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple

from holdfast.cli.config_text import MEANING
from holdfast.core.client.line_entry import CANCELS, LineEntry
from holdfast.core.client.session_choice import Chosen, Closed, SessionChoice
from holdfast.model.settings import KEYS, Settings, key_told
from holdfast.model.text import MAX_NAME, printable
from holdfast.model.text_width import columns_of, padded

Look = Callable[[str], bytes]
"""Returns what makes text look like one of the colours of the settings."""

LEAST_PREVIEW = 4
"""Rows of a preview; fewer say nothing."""

_PLAIN = b"\x1b[0m"
_SHOW, _HIDE = b"\x1b[?25h", b"\x1b[?25l"
_NAME_COLUMNS, _STATE_COLUMNS = 20, len("waiting-for-secret")


class Named(NamedTuple):
    """Call the session so."""

    name: str


Outcome = Chosen | Named | Closed


class Preview(NamedTuple):
    """What a session shows; empty lines, and why, if that is not known."""

    lines: Sequence[str] = ()
    told: str = ""


class SwitchPanel:
    """Sessions to choose from, with what the chosen one shows."""

    def __init__(
        self,
        choice: SessionChoice,
        preview: Callable[[str], Preview | None],
        missing: Callable[[], str] = str,
    ) -> None:
        """Offer a choice; `preview` returns what a session shows, once it is known.

        `missing` says whose sessions may be missing.
        """
        self.choice = choice
        self._preview = preview
        self._missing = missing

    def pressed(self, key: str) -> Outcome | None:
        """Take a key."""
        return self.choice.pressed(key)

    def drawn(self, columns: int, rows: int, look: Look) -> bytes:
        """Return the screen."""
        fit, of = self.choice.count
        asked = f"switch to: {printable(self.choice.query)}"
        counted = f" {fit} of {of}" if fit < of else f" {of}"
        head = padded(asked, max(0, columns - len(counted))) + counted
        offered = rows - 2 if rows > 2 else rows - 1  # noqa: PLR2004  # head and foot
        listed = self._listed(columns, offered, look)
        below = offered - len(listed)
        shown = self._shown(columns, below, look) if below >= LEAST_PREVIEW else []
        told = ("enter goes there", "escape goes back", printable(self._missing()))
        foot = [_line("   ".join(filter(None, told)), columns, look("faint"))]
        blank = [b""] * (offered - len(listed) - len(shown))
        lines = [_line(head, columns), *listed, *shown, *blank, *foot]
        cursor = min(columns, columns_of(asked) + 1)
        return _screen(lines, rows, (1, cursor))

    def _listed(self, columns: int, room: int, look: Look) -> list[bytes]:
        # Half of the room is for the preview, unless there is none to speak of.
        half = room // 2 if room >= 2 * LEAST_PREVIEW else room
        found = self.choice.rows(min(half, room))
        if not found:
            return [_line("no session matches", columns, look("faint"))][:room]
        lines = []
        for one in found:
            mark = "*" if one.is_current else " "
            name = padded(one.label, min(_NAME_COLUMNS, columns))
            if columns_of(one.label) > _NAME_COLUMNS and one == self.choice.chosen:
                name = one.label  # Whole, at the cost of what comes after it.
            state = padded(one.state, _STATE_COLUMNS)
            is_chosen = one == self.choice.chosen
            colour = look("selected") if is_chosen else b""
            lines.append(_line(f"{mark}{name} {state} {one.what}", columns, colour))
        return lines

    def _shown(self, columns: int, room: int, look: Look) -> list[bytes]:
        chosen = self.choice.chosen
        seen = self._preview(chosen.id) if chosen else None
        told = "…" if seen is None else printable(seen.told, 200)
        label = f"── {chosen.label} {told} " if chosen else ""
        rule = label + "─" * max(0, columns - columns_of(label))
        lines = [printable(one, 1000) for one in (seen.lines if seen else ())]
        while lines and not lines[-1].strip():
            lines.pop()
        kept = lines[-(room - 1) :] if room > 1 else []
        return [
            _line(rule, columns, look("faint")),
            *(_line(one, columns) for one in kept),
        ][:room]


class RenamePanel:
    """A line in which the session's name is changed."""

    def __init__(self, name: str, why: str = "") -> None:
        """Ask for another name than `name`; `why` says what was wrong with it."""
        self._entry = LineEntry(name, MAX_NAME)
        self._why = why

    def pressed(self, key: str) -> Outcome | None:
        """Take a key."""
        if key in CANCELS:
            return Closed()
        if key == "Enter":
            return Named(self._entry.text) if self._entry.text else Closed()
        self._entry.pressed(key)
        return None

    def drawn(self, columns: int, rows: int, look: Look) -> bytes:
        """Return the screen."""
        asked = "new name: "
        before = printable(self._entry.text[: self._entry.cursor])
        lines = [_line(asked + printable(self._entry.text), columns)]
        foot = self._why or "enter renames the session   escape goes back"
        lines.append(_line(printable(foot, 500), columns, look("faint")))
        cursor = min(columns, len(asked) + columns_of(before) + 1)
        return _screen(lines, rows, (1, cursor))


class HelpPanel:
    """The keys, until any key is pressed."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings

    def pressed(self, key: str) -> Outcome | None:
        """Take a key, whichever."""
        del key
        return Closed()

    def drawn(self, columns: int, rows: int, look: Look) -> bytes:
        """Return the screen; what has no room is left out."""
        prefix = key_told(self._settings.prefix)
        lines = [_line(f"after {prefix}:", columns)]
        keys = self._settings.keys
        told = [
            f"{key_told(keys[what]):>8}  {MEANING[f'keys.{what}']}"
            for what in KEYS
            if what in keys and what not in _PANS
        ]
        # On one line, so that all keys fit a terminal of 24.
        if pans := [key_told(keys[what]) for what in _PANS if what in keys]:
            told.append(f"{' '.join(pans):>8}  another part of a larger session")
        told.append(f"{prefix:>8}  send {prefix} itself")
        lines += [_line(one, columns) for one in told[: max(0, rows - 2)]]
        lines.append(_line("any key goes back", columns, look("faint")))
        return _screen(lines, rows, None)


_PANS = ("pan-left", "pan-down", "pan-up", "pan-right")

Panel = SwitchPanel | RenamePanel | HelpPanel


def _line(text: str, columns: int, look: bytes = b"") -> bytes:
    shown = padded(text, columns).encode()
    return look + shown + _PLAIN if look else shown


def _screen(lines: Sequence[bytes], rows: int, cursor: tuple[int, int] | None) -> bytes:
    """Return the whole screen, and where the cursor is if it is to be seen."""
    shown = [*lines[:rows], *[b""] * (rows - len(lines))]
    # Erased first: behind the last column that would take its letter away.
    placed = [
        b"\x1b[%d;1H\x1b[2K%s" % (row, line) for row, line in enumerate(shown, start=1)
    ]
    end = b"\x1b[%d;%dH%s" % (*cursor, _SHOW) if cursor else b""
    # As one picture, where the terminal knows how.
    return b"\x1b[?2026h%s%s%s\x1b[?2026l" % (_HIDE, b"".join(placed), end)
