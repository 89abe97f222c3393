"""One line that the user types and changes, such as a name.

I1  The cursor is in the line or behind it.
I2  The line is never longer than it may be.
"""

CANCELS = ("Escape", "C-c", "C-g", "C-]")
"""Keys that leave what is open over a session."""


class LineEntry:
    """A line, and where in it the next letter goes."""

    def __init__(self, text: str = "", limit: int = 64) -> None:
        self.text = text[:limit]
        self.cursor = len(self.text)
        self._limit = limit

    def pressed(self, key: str) -> None:
        """Take a key; those that mean nothing here do nothing."""
        before, after = self.text[: self.cursor], self.text[self.cursor :]
        places = {
            **dict.fromkeys(("Left", "C-b"), max(0, self.cursor - 1)),
            **dict.fromkeys(("Right", "C-f"), min(len(self.text), self.cursor + 1)),
            **dict.fromkeys(("Home", "C-a"), 0),
            **dict.fromkeys(("End", "C-e"), len(self.text)),
        }
        self.cursor = places.get(key, self.cursor)
        match key:
            case "BSpace":
                self._become(before[:-1], after)
            case "Delete" | "C-d":
                self._become(before, after[1:])
            case "C-u":
                self._become("", after)
            case "C-k":
                self._become(before, "")
            case "C-w":
                self._become(without_word(before), after)
            case _ if len(key) == 1 and len(self.text) < self._limit:
                self._become(before + key, after)
            case _:
                pass

    def _become(self, before: str, after: str) -> None:
        self.text, self.cursor = before + after, len(before)


def without_word(text: str) -> str:
    """Return a text without its last word."""
    return text.rstrip().rpartition(" ")[0]
