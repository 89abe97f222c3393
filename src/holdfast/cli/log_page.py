"""Lays out a line of the story for a terminal or a file.

Every actor has a colour, the same in every session and on every day. Colours are for
terminals only, and NO_COLOR is respected.
"""

import datetime as dt
import os
import sys
import zlib

from holdfast.cli.story import Line, Tone
from holdfast.client.directory import actor_elsewhere
from holdfast.model.ids import ActorId
from holdfast.model.text import printable

_FINGERPRINT = 8
_HUES = (36, 32, 33, 34, 35, 96, 92, 94, 95)
"""Colours of actors. Red is for what went wrong."""

_TONES = {Tone.PLAIN: "", Tone.QUIET: "2", Tone.LOUD: "31"}
_WIDTH = 14
"""Columns for the actor; a longer name pushes its line to the right."""


class Page:
    """Lines laid out for a terminal or a file."""

    def __init__(self, names: dict[str, str]) -> None:
        self._names = names
        self._day = ""
        self._today = dt.datetime.now().astimezone().date()
        self._has_colours = (
            sys.stdout.isatty()
            and not os.environ.get("NO_COLOR")
            and os.environ.get("TERM") != "dumb"
        )

    def name(self, actor: str) -> str:
        """Return an actor's name, or the start of its id."""
        return self._dyed(self._called(actor), str(_hue(actor)))

    def show(self, lines: list[Line]) -> None:
        """Print lines, each day under its heading."""
        for line in lines:
            day, clock = _moment(line.at_wall_ms, self._today)
            if day != self._day:
                self._day = day
                print(self._dyed(day, "1"))
            # Escapes have no width, so the padding is computed without them.
            blanks = " " * max(1, _WIDTH - len(self._called(line.actor)))
            who = self.name(line.actor) if line.actor else ""
            text = self._dyed(line.text, _TONES[line.tone])
            print(f"  {self._dyed(clock, '2')}  {who}{blanks}{text}")

    def _called(self, actor: str) -> str:
        if actor not in self._names:
            found = actor_elsewhere(ActorId(actor))
            letters = actor.removeprefix("a_")[:_FINGERPRINT]
            self._names[actor] = printable(letters) if found is None else found.name
        return self._names[actor]

    def _dyed(self, text: str, code: str) -> str:
        return f"\x1b[{code}m{text}\x1b[0m" if self._has_colours and code else text


def _hue(actor: str) -> int:
    """Return the colour of an actor: the same in every session, on every day."""
    return _HUES[zlib.crc32(actor.encode("utf-8", "replace")) % len(_HUES)]


def _moment(at_wall_ms: int, today: dt.date) -> tuple[str, str]:
    try:
        then = dt.datetime.fromtimestamp(at_wall_ms / 1000).astimezone()
    except (ValueError, OverflowError, OSError):
        return "At an impossible time", "--:--:--"
    day = f"{then:%A} {then.day} {then:%B} {then.year}"
    distance = (today - then.date()).days
    lead = {0: "Today, ", 1: "Yesterday, "}.get(distance, "")
    return lead + day, f"{then:%H:%M:%S}"
