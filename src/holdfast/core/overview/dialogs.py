"""Lines that are typed in the overview, questions, and the review of an approval."""

from holdfast.core.client.line_entry import LineEntry
from holdfast.core.overview.acts import Effect
from holdfast.core.overview.sessions import Key, Row, Waiting
from holdfast.term.canvas import wrapped

MAX_ENTRY = 500

UNREAD = "there is more below: scroll to the end first"
GONE = "no longer pending: decided, withdrawn or changed"


class Entry:
    """A line being typed; `kind` says what for."""

    def __init__(  # all but two by name
        self,
        kind: str,
        title: str,
        text: str = "",
        *,
        host: str = "",
        name: str = "",
        key: Key | None = None,
    ) -> None:
        self.kind = kind
        self.title = title
        self.line = LineEntry(text, MAX_ENTRY)
        self.host = host
        self.name = name
        self.key = key

    @property
    def text(self) -> str:
        """What has been typed."""
        return self.line.text

    def press(self, name: str) -> None:
        """Take a key: a letter is typed, others change what is there."""
        self.line.pressed(name)

    def type(self, text: str) -> None:
        """Add what was typed or pasted, as far as it is text in one line."""
        for letter in filter(str.isprintable, text):
            self.line.pressed(letter)


class Question:
    """Something to say yes to."""

    def __init__(self, text: str, effect: Effect) -> None:
        self.text = text
        self.effect = effect


class Review:
    """What waits for approval in one session, one thing at a time.

    What is shown stays the same thing, by ticket and digest, until the user turns to
    another: what is decided is what was read. If more is found out about it, that has
    to be read too.
    """

    def __init__(self, key: Key, label: str) -> None:
        self.key = key
        self.label = label
        self.shown: Waiting | None = None
        self.waiting: tuple[Waiting, ...] = ()
        self.is_gone = False
        self.top = 0
        self._count = 0
        self._room = 1
        self._seen = 0

    @property
    def is_read(self) -> bool:
        """Whether its end has been on the screen."""
        return 0 < self._count <= self._seen

    @property
    def place(self) -> int | None:
        """Which of those that wait it is, from 0; None if it waits no longer."""
        for at, one in enumerate(self.waiting):
            if self.shown is not None and _is_same(one, self.shown):
                return at
        return None

    def lines(self, width: int) -> list[str]:
        """Return what is to be read, as lines that fit."""
        if self.shown is None:
            return ["looking…"]
        return [piece for line in self.shown.lines for piece in wrapped(line, width)]

    def look(self, row: Row | None) -> None:
        """Take what waits now."""
        self.waiting = row.pending if row is not None else ()
        if self.shown is None and self.waiting:
            self._show(self.waiting[0])
        place = self.place
        self.is_gone = self.shown is not None and place is None
        if place is not None and self.waiting[place] != self.shown:
            self._show(self.waiting[place])

    def fit(self, width: int, room: int) -> None:
        """Note how much room there is for it."""
        self._count, self._room = len(self.lines(width)), max(1, room)
        self.scroll(0)

    def painted(self) -> None:
        """Note that it is on the screen, as far as it fits."""
        self._seen = max(self._seen, self.top + self._room)

    def press(self, name: str) -> None:
        """Take a key that moves the text."""
        page = max(1, self._room - 1)
        steps = {"Up": -1, "k": -1, "Down": 1, "j": 1, " ": page}
        steps |= {"PageUp": -page, "PageDown": page, "End": self._count}
        self.scroll(steps.get(name, 0))

    def scroll(self, by: int) -> None:
        """Move the text."""
        self.top = max(0, min(self.top + by, self._count - self._room))

    def turn(self, by: int) -> None:
        """Show the next that waits."""
        if self.waiting:
            place = self.place
            at = 0 if place is None else (place + by) % len(self.waiting)
            self._show(self.waiting[at])

    def hindrance(self, *, approves: bool) -> str:
        """Return why what is shown cannot be approved or denied; empty if it can."""
        if self.is_gone or self.shown is None:
            return GONE
        if not approves:
            return "" if self.shown.may_deny else self.shown.hindrance
        return self.shown.hindrance or ("" if self.is_read else UNREAD)

    def _show(self, one: Waiting) -> None:
        self.shown, self.is_gone = one, False
        self.top = self._seen = self._count = 0


def _is_same(one: Waiting, other: Waiting) -> bool:
    return (one.ticket, one.digest) == (other.ticket, other.digest)
