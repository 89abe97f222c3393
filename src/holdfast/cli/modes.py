r"""The modes that a program has left on in the user's terminal.

Theory of operation
-------------------
Everything the session prints goes to the terminal unchanged, and passes through here.
We note each sequence that switches the terminal into another mode, and can undo exactly
those when the user leaves: the program in the session keeps its own state, and the
shell outside gets back the terminal it had. A mode that was never switched on is not
switched off, because leaving an alternate screen that was never entered moves the
cursor.

Invariants:

I1  However the stream is cut, the same modes are noted.
I2  After `undo`, whatever the stream was, no noted mode is on.
I3  What is remembered is bounded, whatever the stream holds.
"""

import re

_SWITCH = re.compile(
    rb"\x1b(?:\[\?([0-9;]{1,64})([hl])"  # private modes
    rb"|\[([<>=])([0-9;]{0,16})u"  # kitty's keyboard
    rb"|\[>4(;[0-9]{1,3})?m"  # xterm's other keys
    rb"|\[([0-9]{0,3}) q"  # shape of the cursor
    rb"|\[([0-9;]{0,16})r"  # scrolling region
    rb"|\[2([23])(?:;[02](?:;[0-9]{1,3})?)?t"  # the title put away, and taken back
    rb"|([=>c]))"  # keypad; full reset
)
_UNFINISHED = 72
"""Bytes kept of an incomplete sequence: the longest we look for."""

ON_BY_DEFAULT = frozenset({7, 25})
"""Wrapping, and a visible cursor."""

KNOWN = ON_BY_DEFAULT | {
    *(1, 5, 6, 9, 45, 47, 66, 69),
    *(1000, 1001, 1002, 1003, 1004, 1005, 1006, 1007, 1015, 1016),
    *(1047, 1049, 2004, 2026, 2031, 2048),
}
"""Modes that would affect the shell afterwards."""

SCREENS = (47, 1047, 1049)
"""Left last, so that nothing else is undone on the wrong screen."""

INPUT = KNOWN - ON_BY_DEFAULT - {5, 6, 45, 47, 69, 1047, 1049, 2026}
"""Modes that change what keys and mouse send."""

_MAX_DEPTH = 16
_ALWAYS = b"\x18\x1b\\\x1b[0m\x1b(B\x0f"
"""End a sequence cut in the middle; plain colours; ordinary letters."""


class ModeWatch:
    """Watches output on its way to a terminal."""

    def __init__(self) -> None:
        self._held = b""
        self._forget()

    def feed(self, data: bytes) -> None:
        """Take the next output."""
        if not self._held and b"\x1b" not in data:
            return
        seen = self._held + data
        end = 0
        for found in _SWITCH.finditer(seen):
            self._note(found)
            end = found.end()
        last = seen.rfind(b"\x1b", max(end, len(seen) - _UNFINISHED))
        self._held = seen[last:] if last >= 0 else b""

    @property
    def is_elsewhere(self) -> bool:
        """Whether the alternate screen is shown."""
        return not self._on.isdisjoint(SCREENS)

    @property
    def can_be_covered(self) -> bool:
        """Whether another screen can be shown meanwhile, and this one as it was."""
        placed = {6, 69} & self._on  # What is drawn would be drawn elsewhere.
        return not (self.is_elsewhere or self._region or placed)

    def suspended(self) -> tuple[bytes, bytes]:
        """Return what has keys arrive as usual, and what undoes that."""
        modes = sorted(self._on & INPUT)
        off = [b"\x1b[?%dl" % mode for mode in modes]
        on = [b"\x1b[?%dh" % mode for mode in modes]
        if self._other_keys:
            off.append(b"\x1b[>4m")
            on.append(b"\x1b[>4%sm" % self._other_keys)
        if self._depth or self._kitty:
            off.append(b"\x1b[>0u")
            on.append(b"\x1b[<1u")
        if self._keypad:
            off.append(b"\x1b>")
            on.append(b"\x1b=")
        on.append(b"\x1b[?25l" if 25 in self._off else b"\x1b[?25h")  # noqa: PLR2004  # the cursor
        if 7 in self._off:  # noqa: PLR2004  # wrapping
            off.append(b"\x1b[?7h")
            on.append(b"\x1b[?7l")
        return b"".join(off), b"".join(on)

    def undo(self) -> bytes:
        """Return the bytes that restore the terminal, and reset."""
        parts = [_ALWAYS]
        if self._other_keys:
            parts.append(b"\x1b[>4m")
        if self._depth:
            parts.append(b"\x1b[<%du" % self._depth)
        if self._kitty:
            parts.append(b"\x1b[=0u")
        parts.append(b"\x1b[23;2t" * self._titles)
        if self._region:
            parts.append(b"\x1b7\x1b[r\x1b8")  # It would move the cursor home.
        if self._shape:
            parts.append(b"\x1b[0 q")
        if self._keypad:
            parts.append(b"\x1b>")
        parts += [b"\x1b[?%dl" % mode for mode in sorted(self._on - {*SCREENS})]
        parts += [b"\x1b[?%dh" % mode for mode in sorted(self._off)]
        parts += [b"\x1b[?%dl" % mode for mode in SCREENS if mode in self._on]
        self._forget()
        self._held = b""
        return b"".join(parts)

    def _forget(self) -> None:
        self._on: set[int] = set()
        self._off: set[int] = set()
        self._depth = 0
        self._kitty = self._region = False
        self._other_keys = b""
        self._titles = 0
        self._shape = self._keypad = False

    def _note(self, found: re.Match[bytes]) -> None:
        modes, switch, kitty, count, others, shape, region, title, letter = (
            found.groups()
        )
        if modes is not None:
            self._switched(modes, is_on=switch == b"h")
        elif kitty is not None:
            self._keyboard(kitty, count)
        elif shape is not None:
            self._shape = shape not in (b"", b"0")
        elif region is not None:
            self._region = bool(region)
        elif title is not None:
            step = 1 if title == b"2" else -1
            self._titles = min(max(0, self._titles + step), _MAX_DEPTH)
        elif letter == b"c":
            self._forget()
        elif letter is not None:
            self._keypad = letter == b"="
        else:
            self._other_keys = b"" if others in (None, b";0") else others

    def _switched(self, modes: bytes, *, is_on: bool) -> None:
        for mode in {int(number) for number in modes.split(b";") if number} & KNOWN:
            changed, other = (
                (self._off, self._on)
                if mode in ON_BY_DEFAULT
                else (self._on, self._off)
            )
            if is_on == (changed is self._on):
                changed.add(mode)
            else:
                changed.discard(mode)
            other.discard(mode)

    def _keyboard(self, how: bytes, count: bytes) -> None:
        match how:
            case b">":
                self._depth = min(self._depth + 1, _MAX_DEPTH)
            case b"<":
                popped = int(count) if count.isdigit() else 1
                self._depth = max(0, self._depth - popped)
            case _:
                self._kitty = not count.startswith(b"0")
