"""One line that the user types and changes, such as a name.

I1  The cursor is in the line or behind it.
I2  The line is never longer than it may be.
"""


class LineEntry:
    """A line, and where in it the next letter goes."""

    def __init__(self, text: str = "", limit: int = 64) -> None:
        self.text = text[:limit]
        self.cursor = len(self.text)
        self._limit = limit

    def pressed(self, key: str) -> None:
        """Take a key; those that mean nothing here do nothing."""
        before, after = self.text[: self.cursor], self.text[self.cursor :]
        match key:
            case "left" | "right" | "home" | "end":
                self._move(key)
            case "backspace":
                self._become(before[:-1], after)
            case "delete":
                self._become(before, after[1:])
            case "clear":
                self._become("", after)
            case "cut":
                self._become(before, "")
            case "word":
                self._become(before.rstrip().rpartition(" ")[0], after)
            case _ if len(key) == 1 and len(self.text) < self._limit:
                self._become(before + key, after)
            case _:
                pass

    def _move(self, key: str) -> None:
        places = {
            "left": max(0, self.cursor - 1),
            "right": min(len(self.text), self.cursor + 1),
            "home": 0,
            "end": len(self.text),
        }
        self.cursor = places[key]

    def _become(self, before: str, after: str) -> None:
        self.text, self.cursor = before + after, len(before)
