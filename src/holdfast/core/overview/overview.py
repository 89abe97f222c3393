"""The overview: which session is selected, and what each key does.

Theory of operation
-------------------
The overview knows sessions by host and id, and one of them is selected. What hosts
list and what was seen of a session comes as events; keys change what is shown, or
become effects, which the driver performs.

    LIST ◀──w──▶ WALL          every session; Enter attaches
      │ a
    REVIEW                     what waits for approval, all of it; y or n decides
      ?  HELP                  until the next key

Above each of them there may be an *entry* (a line being typed) or a *question* that
y answers; they take all keys.

Invariants, each checked by tests/core/overview/test_overview.py:

I1  The selection follows its session, however the list is ordered; if that is gone,
    the one that has taken its place is selected.
I2  Nothing is approved but what is under review, by its digest, and not before its
    end was on the screen. If it is gone, the review says so, and decides nothing.
I3  What cannot be undone (an end, a seize from an operator) is asked about first, and
    the question is about the session that was selected then.
I4  What is pasted is never a command.
"""

from holdfast.core.overview import acts, geometry
from holdfast.core.overview.dialogs import Entry, Question, Review
from holdfast.core.overview.sessions import (
    URGENT,
    Key,
    Look,
    Row,
    fits,
    ordered,
    refreshed,
    walled,
)
from holdfast.term.key_reader import Paste

LIST, WALL, REVIEW, HELP = "list", "wall", "review", "help"

NOTICE = 6.0
"""Seconds for which something that was said stays, unless a key is pressed."""

WHEEL = 3
"""Rows that the wheel moves by."""

_MOVES = {
    "Up": -1,
    "k": -1,
    "Left": -1,
    "h": -1,
    "Down": 1,
    "j": 1,
    "Right": 1,
    "l": 1,
}


class Overview:
    """One user's overview of the sessions of all hosts."""

    def __init__(self) -> None:
        self.columns, self.lines = 80, 24
        self.known: dict[Key, Row] = {}
        self.away: dict[str, str] = {}
        """Hosts that do not answer, and why."""

        self.is_loading = True
        """Whether no host has answered yet."""

        self.page = LIST
        self.selected: Key | None = None
        self.top = 0
        """The first row of the list that is shown."""

        self.wanted = ""
        """What sessions are looked for with."""

        self.entry: Entry | None = None
        self.question: Question | None = None
        self.review: Review | None = None
        self.notice: acts.Told | None = None
        self._notice_until = 0.0
        self._before_help = LIST
        self._is_used = False
        """Whether a key was pressed: before that, what is most urgent is selected."""

        self._order: list[Row] | None = None
        self._at = 0

    # ── queries ───────────────────────────────────────────────────────────

    def order(self) -> list[Row]:
        """Return the sessions shown, in their order."""
        if self._order is None:
            found = [row for row in self.known.values() if fits(row, self.wanted)]
            self._order = ordered(found) if self.page != WALL else walled(found)
        return self._order

    def chosen(self) -> Row | None:
        """Return the session that is selected."""
        return self.known.get(self.selected) if self.selected else None

    def watched(self) -> list[Row]:
        """Return the sessions whose pictures are shown now."""
        if self.page == WALL:
            return [row for row, _ in self.tiles()]
        row = self.chosen()
        return [] if row is None else [row]

    def tiles(self) -> list[tuple[Row, geometry.Rect]]:
        """Return the sessions on the wall now, each with its place."""
        order = self.order()
        places = geometry.tiles(self.columns, self.lines, len(order))
        first = self._at // len(places) * len(places)
        return list(zip(order[first:], places, strict=False))

    def count_urgent(self) -> int:
        """Return how many sessions need attention."""
        return sum(row.need in URGENT for row in self.known.values())

    def next_deadline(self) -> float | None:
        """Return when to call `tick`, or None."""
        return self._notice_until if self.notice else None

    # ── commands ──────────────────────────────────────────────────────────

    def tick(self, now: float) -> None:
        """Drop what was said long enough ago."""
        if now >= self._notice_until:
            self.notice = None

    def painted(self) -> None:
        """Note that what is shown is on the screen."""
        if self.review is not None and self.page == REVIEW:
            self.review.painted()

    def handle(self, event: acts.Event, now: float) -> list[acts.Effect]:
        """Take what happened; return what is to be done."""
        effects: list[acts.Effect] = []
        if self.notice is None:
            self._notice_until = now + NOTICE
        match event:
            case str(name):
                self.notice, self._is_used = None, True
                self._notice_until = now + NOTICE
                effects = self._pressed(name)
            case acts.Told():
                self.notice, self._notice_until = event, now + NOTICE
            case Paste(text):
                self._typed(text)
            case acts.Chosen(key):
                self._is_used = True
                effects = self._pointed(key)
            case acts.Scrolled(by):
                self._is_used = True
                self._scroll(by * WHEEL)
            case _:
                self._learn(event)
        self._settle()
        return effects

    # ── what is told ──────────────────────────────────────────────────────

    def _learn(
        self, event: acts.Resized | acts.SessionsListed | acts.HostLost | acts.Looked
    ) -> None:
        match event:
            case acts.Resized(columns, rows):
                self.columns, self.lines = max(1, columns), max(1, rows)
            case acts.SessionsListed(host, rows):
                self._list(host, rows)
            case acts.HostLost(host, why):
                self.away[host] = why
                self.is_loading = False
            case acts.Looked(key, look):
                self._look(key, look)
        self._order = None

    def _list(self, host: str, rows: tuple[Row, ...]) -> None:
        self.is_loading = False
        self.away.pop(host, None)
        looks = {key: row.look for key, row in self.known.items()}
        others = {key: row for key, row in self.known.items() if key[0] != host}
        listed = {
            row.key: row._replace(look=row.look or refreshed(row, looks.get(row.key)))
            for row in rows
        }
        self.known = {**others, **listed}

    def _look(self, key: Key, look: Look) -> None:
        row = self.known.get(key)
        if row is None:
            return  # It has ended meanwhile.
        if look.error and row.look is not None:
            look = row.look._replace(error=look.error)
        if look.picture is None and row.look is not None:
            look = look._replace(picture=row.look.picture)
        self.known[key] = row._replace(look=look)

    def _settle(self) -> None:
        """Select a session, and scroll to it."""
        order = self.order()
        keys = [row.key for row in order]
        if self.selected in keys and self._is_used:
            self._at = keys.index(self.selected)
        else:
            self._at = max(0, min(self._at, len(keys) - 1)) if self._is_used else 0
            self.selected = keys[self._at] if keys else None
        room = max(1, self._room())
        self.top = max(self._at - room + 1, min(self.top, self._at))
        self.top = max(0, min(self.top, len(keys) - room))
        if self.review is not None:
            self.review.look(self.known.get(self.review.key))
            self.review.fit(*self.review_room())

    def review_room(self) -> tuple[int, int]:
        """Return columns and rows for what is under review."""
        body = geometry.parts(self.columns, self.lines)
        taken = body.header.rows + body.footer.rows
        return max(1, self.columns - 2), max(1, self.lines - taken)

    def _room(self) -> int:
        return geometry.parts(self.columns, self.lines).rows.rows

    # ── keys ──────────────────────────────────────────────────────────────

    def _pressed(self, name: str) -> list[acts.Effect]:
        if name in ("C-l", "C-z"):
            return [acts.Redraw() if name == "C-l" else acts.Suspend()]
        if self.question is not None:
            question, self.question = self.question, None
            return [question.effect] if name in ("y", "Y") else []
        if self.entry is not None or self.page == REVIEW:
            read = self._entered if self.entry is not None else self._reviewed
            return read(name)
        if self.page == HELP:
            self._show(self._before_help)
        elif name in ("q", "C-c", "C-d"):
            return [acts.Leave()]
        elif not (self._moved(name) or self._turned(name)):
            return self._acted(name)
        return []

    def _moved(self, name: str) -> bool:
        """Select another session, if that is what a key does."""
        page = max(1, self._room() - 1)
        far = len(self.known)
        steps = {"PageUp": -page, "C-b": -page, "PageDown": page, "C-f": page}
        steps |= {"Home": -far, "g": -far, "End": far, "G": far}
        by = {**_MOVES, **steps}.get(name)
        if by is not None:
            self._move(by)
        elif name in ("Tab", "BTab"):
            self._move_to_urgent(1 if name == "Tab" else -1)
        else:
            return False
        return True

    def _turned(self, name: str) -> bool:
        """Show something else, if that is what a key does."""
        match name:
            case "w":
                self._show(LIST if self.page == WALL else WALL)
            case "?":
                self._before_help = self.page
                self._show(HELP)
            case "/":
                self.entry = Entry("find", "find", self.wanted)
            case "Escape":
                self.wanted = ""
                self._show(LIST)
            case _:
                return False
        return True

    def _acted(self, name: str) -> list[acts.Effect]:
        """Do what is done with the session that is selected."""
        row = self.chosen()
        effects: list[acts.Effect] = []
        if name == "n":
            host = row.host if row is not None else ""
            where = f" at {host}" if host else ""
            self.entry = Entry("name", f"new session{where}, name", host=host)
        elif row is None:
            pass
        elif row.gone:
            self._begin_again(row, name)
        elif name in ("Enter", "o") and row.is_over:
            self.notice = acts.Told(f"{row.label} has ended; x removes it", is_bad=True)
        elif name in ("Enter", "o"):
            effects = [acts.Attach(row.key, observes=name == "o")]
        elif name == "r":
            self.entry = Entry("rename", f"rename {row.label} to", key=row.key)
        else:
            effects = self._asked(row, name)
        return effects

    def _begin_again(self, row: Row, name: str) -> None:
        """Ask whether to recover or restore a session that no process holds."""
        image = row.image or (row.saved if name == "i" else 0)
        if image and name in ("Enter", "i"):
            which = "from disk" if row.image else "from its newest image"
            asked = f"restore {row.label} {which}?"
            self.question = Question(asked, acts.Recover(row.key, image))
        elif row.hindrance:
            self.notice = acts.Told(
                f"{row.label} is lost: {row.hindrance}", is_bad=True
            )
        elif name == "Enter":
            asked = f"start {row.label} again? its memory is gone"
            self.question = Question(asked, acts.Recover(row.key))
        else:
            self.notice = acts.Told(f"{row.label} is {row.gone}; {row.told_way_back}")

    def _asked(self, row: Row, name: str) -> list[acts.Effect]:
        """Ask something of a session, or the user first if it cannot be undone."""
        look = row.look or Look()
        match name:
            case " ":
                return [acts.LookNow(row.key)]
            case "a":
                return self._begin_review(row)
            case "f":
                return [acts.Thaw(row.key) if row.is_frozen else acts.Freeze(row.key)]
            case "s" if not look.turn or look.is_ours:
                return [acts.Seize(row.key)]
            case "s":
                asked = f"take the turn of {row.label} from {look.turn}?"
                self.question = Question(asked, acts.Seize(row.key))
            case "x":
                asked = f"end {row.label} and everything that runs in it?"
                asked = f"remove {row.label} from the list?" if row.is_over else asked
                self.question = Question(asked, acts.End(row.key))
            case _:
                pass
        return []

    # ── moving about ──────────────────────────────────────────────────────

    def _show(self, page: str) -> None:
        self.page, self._order = page, None

    def _move(self, by: int) -> None:
        order = self.order()
        if order:
            self._at = max(0, min(self._at + by, len(order) - 1))
            self.selected = order[self._at].key

    def _scroll(self, by: int) -> None:
        if self.page == REVIEW and self.review is not None:
            self.review.scroll(by)
        elif self.entry is None and self.question is None:
            self._move(by)

    def _move_to_urgent(self, by: int) -> None:
        order = self.order()
        for step in range(1, len(order) + 1):
            row = order[(self._at + by * step) % len(order)]
            if row.need in URGENT:
                self.selected = row.key
                return
        self.notice = acts.Told("no session needs attention")

    def _pointed(self, key: Key) -> list[acts.Effect]:
        """Select a session; attach to it, if it is selected already."""
        if self.entry is not None or self.question is not None:
            return []
        if key == self.selected:
            return self._acted("Enter")
        self.selected = key
        return []

    # ── lines being typed ─────────────────────────────────────────────────

    def _typed(self, text: str) -> None:
        if self.entry is not None:
            self.entry.type(text)
            self._seek()

    def _entered(self, name: str) -> list[acts.Effect]:
        entry = self.entry
        assert entry is not None  # noqa: S101  # the caller has looked
        if name in ("Escape", "C-c"):
            self.entry = None
            if entry.kind == "find":
                self.wanted, self._order = "", None
        elif name == "Enter":
            self.entry = None
            return self._done(entry)
        else:
            entry.press(name)
            self._seek()
        return []

    def _seek(self) -> None:
        """Look for what has been typed, while it is typed."""
        if self.entry is not None and self.entry.kind == "find":
            self.wanted, self._order = self.entry.text, None

    def _done(self, entry: Entry) -> list[acts.Effect]:
        match entry.kind:
            case "name":
                title = "command (empty: your shell)"
                self.entry = Entry("command", title, host=entry.host, name=entry.text)
            case "command":
                return [acts.Create(entry.host, entry.name, entry.text)]
            case "rename" if entry.text and entry.key is not None:
                return [acts.Rename(entry.key, entry.text)]
            case _:
                pass
        return []

    # ── approvals ─────────────────────────────────────────────────────────

    def _begin_review(self, row: Row) -> list[acts.Effect]:
        """Show what waits in a session, or in the first in which something does."""
        found = next((one for one in (row, *self.order()) if _is_held(one)), None)
        if found is None:
            self.notice = acts.Told("nothing waits for approval")
            return []
        row = found
        self.selected = row.key
        self.review = Review(row.key, row.label)
        self._show(REVIEW)
        return [] if row.pending else [acts.LookNow(row.key)]

    def _reviewed(self, name: str) -> list[acts.Effect]:
        review = self.review
        assert review is not None  # noqa: S101  # the page is shown only then
        if name in ("Escape", "q", "a"):
            self.review = None
            self._show(LIST)
        elif name in ("y", "n"):
            return self._decided(review, approves=name == "y")
        elif name in ("Tab", "Right", "Left"):
            review.turn(-1 if name == "Left" else 1)
        else:
            review.press(name)
        return []

    def _decided(self, review: Review, *, approves: bool) -> list[acts.Effect]:
        """Decide, and go back to the list: a key that repeats decides nothing more."""
        why = review.hindrance(approves=approves)
        one = review.shown
        if why or one is None:
            self.notice = acts.Told(why, is_bad=True)
            return []
        self.review = None
        self._show(LIST)
        kind = acts.Approve if approves else acts.Deny
        return [kind(review.key, one.ticket, one.digest)]


def _is_held(row: Row) -> bool:
    """Tell whether something waits for approval there, or its own start does."""
    look = row.look or Look()
    return look.pending_count > 0 or row.state == "starting"
