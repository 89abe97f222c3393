"""A path, part by part, with the links on it put in the place of their names.

Nothing is asked of the file system here: the caller looks at each step, and says
whether it is a link.
"""

MAX_STEPS = 256
"""Parts of a path and of the links in it; the kernel follows 40 links."""


class PathWalk:
    """One path on its way to where it leads."""

    def __init__(self, parts: list[str], done: str = "") -> None:
        self.done = done
        """Where it has led so far, with no link in it; empty at the root."""

        self.left = parts[::-1]
        """The parts that follow, the last one first."""

        self.step = done
        """What is to be looked at."""

        self._budget = MAX_STEPS

    @property
    def is_over(self) -> bool:
        """Whether all of it was followed; False if it is too long, or a circle."""
        return not self.left

    def advance(self) -> bool:
        """Go to the next step; False if there is none, or if it were one too many."""
        while self.left and self._budget:
            self._budget -= 1
            part = self.left.pop()
            if part == "..":
                self.done = self.done.rpartition("/")[0]
            elif part not in ("", "."):
                self.step = f"{self.done}/{part}"
                return True
        return False

    def keep(self) -> None:
        """Note that the step is no link."""
        self.done = self.step

    def follow(self, target: str) -> None:
        """Note that the step is a link, and where it points."""
        self.left += target.split("/")[::-1]
        if target.startswith("/"):
            self.done = ""
