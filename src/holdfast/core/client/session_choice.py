"""The list for choosing a session by typing.

Theory of operation
-------------------
The user types parts of what a session is called, runs or does; those that fit all of
them are left, best first. Keys move the choice among these.

    typed ──▶ query ──▶ those that fit ──▶ the chosen one ──Enter──▶ Chosen
                                                          ──Escape─▶ Closed

Sessions may come, go and change while the list is open: the chosen one stays chosen as
long as it fits.

Invariants, each checked by tests/core/client/test_session_choice.py:

I1  The chosen session is one of those that fit, unless none does.
I2  What is shown has room for the chosen one, whatever the room.
I3  Without a query all sessions fit, in their order.
"""

from collections.abc import Sequence
from typing import NamedTuple

from holdfast.core.client.line_entry import CANCELS, without_word

MAX_QUERY = 100
"""Characters of a query; more is a cat on the keyboard."""


_MOVES = {key: key for key in ("Up", "Down", "PageUp", "PageDown", "Home", "End")} | {
    "C-p": "Up",
    "C-n": "Down",
    "Tab": "Down",
    "C-a": "Home",
    "C-e": "End",
}


class Candidate(NamedTuple):
    """A session to choose, in words that are safe to print."""

    id: str
    label: str
    state: str = ""
    what: str = ""
    """What it runs, or shows as its title."""

    is_current: bool = False


class Chosen(NamedTuple):
    """Go to this session."""

    id: str


class Closed(NamedTuple):
    """Go back to where we were."""


Effect = Chosen | Closed


class SessionChoice:
    """A list from which one session is chosen."""

    def __init__(self, candidates: Sequence[Candidate], first: str = "") -> None:
        """Offer `candidates`; `first` is chosen to begin with."""
        self.query = ""
        self._all = list(candidates)
        self._fitting = self._all
        self._chosen = first
        self._page = 1
        self._settle()

    @property
    def chosen(self) -> Candidate | None:
        """The chosen session."""
        return next((one for one in self._fitting if one.id == self._chosen), None)

    @property
    def count(self) -> tuple[int, int]:
        """How many fit, of how many."""
        return len(self._fitting), len(self._all)

    def offer(self, candidates: Sequence[Candidate]) -> None:
        """Take what there is now."""
        self._all = list(candidates)
        self._settle()

    def rows(self, room: int) -> list[Candidate]:
        """Return as many as there is room for, the chosen one among them."""
        self._page = max(1, room)
        place = self._place()
        first = max(0, min(place - room // 2, len(self._fitting) - room))
        return self._fitting[first : first + max(0, room)]

    def pressed(self, key: str) -> Effect | None:
        """Take a key; return what to do, if it ends the choice."""
        match key:
            case "Enter":
                return None if self.chosen is None else Chosen(self._chosen)
            case "BSpace" | "C-u" | "C-w":
                self._shorten(key)
            case _ if key in CANCELS:
                return Closed()
            case _ if key in _MOVES:
                self._move(_MOVES[key])
            case _ if len(key) == 1 and len(self.query) < MAX_QUERY:
                self.query += key
                self._settle(is_new=True)
            case _:
                pass
        return None

    def _move(self, key: str) -> None:
        last = len(self._fitting) - 1
        if last < 0:
            return
        place = self._place()
        steps = {
            "Up": place - 1 if place else last,
            "Down": place + 1 if place < last else 0,
            "PageUp": max(0, place - self._page),
            "PageDown": min(last, place + self._page),
            "Home": 0,
            "End": last,
        }
        self._chosen = self._fitting[steps[key]].id

    def _shorten(self, key: str) -> None:
        if key == "BSpace":
            self.query = self.query[:-1]
        elif key == "C-u":
            self.query = ""
        else:
            self.query = without_word(self.query)
        self._settle()

    def _place(self) -> int:
        ids = [one.id for one in self._fitting]
        return ids.index(self._chosen) if self._chosen in ids else 0

    def _settle(self, *, is_new: bool = False) -> None:
        """Find those that fit; the best is chosen, if the query was made longer."""
        words = self.query.casefold().split()
        ranked = [(_rank(one, words), one) for one in self._all]
        fitting = [(rank, one) for rank, one in ranked if rank is not None]
        fitting.sort(key=lambda pair: pair[0])
        self._fitting = [one for _, one in fitting]
        if self._fitting and (is_new or self.chosen is None):
            self._chosen = self._fitting[0].id


def _rank(one: Candidate, words: list[str]) -> int | None:
    """Return how well a session fits, 0 being best; None if it does not."""
    label = one.label.casefold()
    others = f"{one.state} {one.what} {one.id}".casefold()
    rank = 0
    for word in words:
        if label == word:
            continue
        if label.startswith(word):
            rank += 1
        elif word in label:
            rank += 2
        elif word in others:
            rank += 8
        else:
            return None
    return rank
