"""Draws an overview on the cells of a terminal of any size.

What is drawn can be pointed at: a `Target` is a part of the picture that stands for a
session or for a key.
"""

from typing import NamedTuple

from holdfast.core.overview import geometry
from holdfast.core.overview.geometry import Rect
from holdfast.core.overview.overview import HELP, REVIEW, WALL, Overview
from holdfast.core.overview.sessions import Key, Preview, Row, age
from holdfast.term.canvas import PLAIN, Canvas, Style, clipped, width_of
from holdfast.term.looks import Look

RED, YELLOW, BLUE, MAGENTA, CYAN = 2, 4, 5, 6, 7
"""Colours of the sixteen that every terminal has."""

BAR = Style(look=Look.INVERSE)
DIM = Style(look=Look.FAINT)
STRONG = Style(look=Look.BOLD)
BAD = Style(RED, 0, Look.BOLD)
CALLS = Style(YELLOW, 0, Look.BOLD)

_TONES = {
    "approval": Style(YELLOW, 0, Look.BOLD),
    "secret": Style(MAGENTA, 0, Look.BOLD),
    "attention": Style(YELLOW, 0, Look.BOLD),
    "input": Style(CYAN),
    "turn": Style(CYAN),
    "frozen": Style(BLUE),
    "over": DIM,
}
_MARKS = {
    "approval": "!",
    "secret": "*",
    "attention": "!",
    "input": "?",
    "turn": "?",
    "frozen": "#",
    "over": "-",
}
"""The mark before a session that needs attention: colours alone are not enough."""

_RESTLESS = int(Look.BLINK | Look.INVISIBLE | Look.OVERLINE)
"""Looks that a session's picture does not have in the overview."""

Hint = tuple[str, str, str]
"""A key by its name, how that is shown, and what it does."""

_LIST_HINTS: tuple[Hint, ...] = (
    ("Enter", "Enter", "attach"),
    ("a", "a", "approvals"),
    ("w", "w", "wall"),
    ("/", "/", "find"),
    ("n", "n", "new"),
    ("?", "?", "help"),
    ("q", "q", "quit"),
    ("s", "s", "seize"),
    ("f", "f", "freeze"),
    ("r", "r", "rename"),
    ("x", "x", "end"),
)
_WALL_HINTS: tuple[Hint, ...] = (
    ("w", "w", "list"),
    ("Enter", "Enter", "attach"),
    ("a", "a", "approvals"),
    ("/", "/", "find"),
    ("?", "?", "help"),
    ("q", "q", "quit"),
)
_REVIEW_HINTS: tuple[Hint, ...] = (
    ("y", "y", "approve"),
    ("n", "n", "deny"),
    ("Escape", "Esc", "leave it pending"),
    ("PageDown", "PgDn", "more"),
)
_HELP = (
    ("Up Down j k", "select a session; PgUp PgDn Home End go farther"),
    ("Tab", "go to the next session that needs attention"),
    ("Enter", "attach; detaching returns here"),
    ("", "recover a lost session, or restore one on disk"),
    ("i", "restore a lost session from its newest image"),
    ("o", "attach as an observer"),
    ("a", "show the pending approval; y approves, n denies"),
    ("s", "seize the turn"),
    ("f", "freeze, or thaw what is frozen"),
    ("n", "start a session on the host of the selected one"),
    ("r", "rename"),
    ("x", "end the session, or remove one that has ended"),
    ("w", "the wall: several sessions at once, live"),
    ("/", "filter the list; Esc shows all"),
    ("Space", "show a sleeping session, which wakes it"),
    ("Ctrl-L", "draw everything again"),
    ("Ctrl-Z", "suspend"),
    ("q", "quit; all sessions keep running"),
    ("", ""),
    ("!", "waits for approval, or calls for attention"),
    ("*", "asks for a secret"),
    ("?", "waits for input, or the turn is asked for"),
    ("#", "frozen"),
    ("-", "has ended, was lost, or is on disk"),
)

_TITLES = ("", "NAME", "STATE", "TURN", "HERE", "AGE", "WHAT")
_OPTIONAL = (3, 4, 5)
"""Columns that a narrow list leaves out: turn, who is here, age."""

ALL_COLUMNS = 60
"""Columns of a list with room for all that it has."""

LEAST_NAME, MOST_NAME = 6, 24

_TALL = 3
"""Rows of a tile below which it has only its title."""


class Target(NamedTuple):
    """A part of the picture, and what it stands for: a session, or a key."""

    place: Rect
    session: Key | None = None
    key: str = ""

    def covers(self, column: int, row: int) -> bool:
        """Tell whether a cell belongs to it."""
        left, top, columns, rows = self.place
        return left <= column < left + columns and top <= row < top + rows


class Drawing:
    """One picture of an overview."""

    def __init__(self, overview: Overview, now_ms: int) -> None:
        """Draw it, as it is at `now_ms`, in milliseconds since 1970."""
        self.canvas = Canvas(overview.columns, overview.lines)
        self.targets: list[Target] = []
        self._overview = overview
        self._now_ms = now_ms
        self._parts = geometry.parts(overview.columns, overview.lines)
        self._name = LEAST_NAME
        self._draw()

    def at(self, column: int, row: int) -> Target | None:
        """Return what is drawn at a cell that can be pointed at."""
        return next((one for one in self.targets if one.covers(column, row)), None)

    def _draw(self) -> None:
        if self._parts.header.is_there:
            self._header()
        if self._overview.page == WALL:
            self._wall()
        elif self._overview.page == REVIEW:
            self._review()
        elif self._overview.page == HELP:
            self._help()
        else:
            self._list()
        self._footer()

    # ── header and footer ─────────────────────────────────────────────────

    def _header(self) -> None:
        overview, canvas = self._overview, self.canvas
        count, urgent = len(overview.known), overview.count_urgent()
        canvas.fill(0, 0, canvas.columns, BAR)
        told = [f"{count} session{'' if count == 1 else 's'}"]
        if overview.wanted:
            told.append(f"{len(overview.order())} with “{overview.wanted}”")
        told += [f"{host or 'the keeper'} cannot be reached" for host in overview.away]
        column = canvas.put(
            0, 1, "holdfast", BAR._replace(look=Look.INVERSE | Look.BOLD)
        )
        column = canvas.put(0, column, "  " + ", ".join(told), BAR)
        if urgent:
            says = f"{urgent} need{'s' if urgent == 1 else ''} attention"
            column = max(column + 2, canvas.columns - len(says) - 1)
            canvas.put(0, column, says, Style(YELLOW, 0, Look.INVERSE | Look.BOLD))

    def _footer(self) -> None:
        overview, row = self._overview, self.canvas.rows - 1
        if overview.question is not None:
            self._line(row, f"{overview.question.text} y/N", CALLS)
        elif overview.entry is not None:
            entry = overview.entry
            lead = clipped(f"{entry.title}: ", self.canvas.columns // 2)
            column = self.canvas.put(row, 0, lead, STRONG)
            room = self.canvas.columns - column - 1
            before = entry.text[: entry.line.cursor]
            while width_of(before) > room:
                before = before[1:]
            after = entry.text[entry.line.cursor :] or " "
            self._line(row, before + after, PLAIN, column)
            self.canvas.put(row, column + width_of(before), after[0], BAR)
        elif overview.notice is not None:
            notice = overview.notice
            self._line(row, notice.text, BAD if notice.is_bad else STRONG)
        elif self._parts.footer.is_there:
            self._hints(row)

    def _line(self, row: int, text: str, style: Style, column: int = 0) -> None:
        width = self.canvas.columns - column
        self.canvas.fill(row, column, width, PLAIN)
        self.canvas.put(row, column, clipped(text, width), style)

    def _hints(self, row: int) -> None:
        page = self._overview.page
        hints = {WALL: _WALL_HINTS, REVIEW: _REVIEW_HINTS}.get(page, _LIST_HINTS)
        if page == HELP:
            hints = (("Escape", "any key", "goes back"),)
        column = 0
        for name, key, what in hints:
            width = len(key) + 1 + len(what)
            if column + width > self.canvas.columns:
                break
            self.targets.append(Target(Rect(column, row, width, 1), key=name))
            column = self.canvas.put(row, column, key, STRONG) + 1
            column = self.canvas.put(row, column, what, DIM) + 2

    # ── the list ──────────────────────────────────────────────────────────

    def _list(self) -> None:
        overview, place = self._overview, self._parts.rows
        order = overview.order()
        shown = order[overview.top : overview.top + place.rows]
        longest = max((width_of(row.label) for row in shown), default=0)
        most = min(MOST_NAME, place.columns // 3)
        self._name = max(LEAST_NAME, min(longest, most))
        if self._parts.titles.is_there:
            self._columns(self._parts.titles, _TITLES, DIM)
        for at, row in enumerate(shown):
            line = Rect(place.column, place.row + at, place.columns, 1)
            self.targets.append(Target(line, session=row.key))
            self._row(row, line)
        if not order:
            self._nothing(place)
        if self._parts.preview.is_there:
            self._preview(overview.chosen(), self._parts.preview)

    def _nothing(self, place: Rect) -> None:
        overview = self._overview
        if overview.is_loading:
            said = "looking for sessions…"
        elif overview.wanted:
            said = "no session matches; Esc shows all"
        else:
            said = "no sessions; n starts one"
        self.canvas.put(place.row, place.column, clipped(said, place.columns), DIM)
        for at, (host, why) in enumerate(overview.away.items(), start=1):
            if at < place.rows:
                told = clipped(f"{host or 'keeper'}: {why}", place.columns)
                self.canvas.put(place.row + at, place.column, told, BAD)

    def _row(self, row: Row, line: Rect) -> None:
        is_chosen = row.key == self._overview.selected
        tone = _TONES.get(row.need, PLAIN)
        style = tone._replace(look=tone.look | Look.INVERSE) if is_chosen else tone
        plain = BAR if is_chosen else PLAIN
        self.canvas.fill(line.row, line.column, line.columns, plain)
        told = (
            _MARKS.get(row.need, " "),
            row.label,
            row.told_state,
            _turn(row),
            _here(row),
            self._age(row),
            row.told_need or _doing(row),
        )
        self._columns(line, told, style)

    def _columns(self, line: Rect, told: tuple[str, ...], style: Style) -> None:
        """Draw the columns of a row, as far as there is room for them."""
        wide = line.columns >= ALL_COLUMNS
        widths = (1, self._name, 18 if wide else 12, 10, 4, 4, line.columns)
        column, end = line.column, line.column + line.columns
        for at, (text, width) in enumerate(zip(told, widths, strict=True)):
            if at in _OPTIONAL and not wide:
                continue
            room = min(width, end - column)
            if room > 0:
                self.canvas.put(line.row, column, clipped(text, room), style)
            column += width + 1

    def _age(self, row: Row) -> str:
        return age(max(0, self._now_ms - row.created_ms) / 1000)

    # ── pictures ──────────────────────────────────────────────────────────

    def _preview(self, row: Row | None, place: Rect) -> None:
        beside = place.column > 0
        if beside:
            for at in range(place.rows):
                self.canvas.put(place.row + at, place.column - 1, "│", DIM)
        if row is None:
            self.canvas.fill(place.row, place.column, place.columns, DIM)
            return
        self._title(row, place, is_chosen=False)
        facts = clipped(_facts(row), place.columns)
        self.canvas.put(place.row + 1, place.column, facts, DIM)
        inside = Rect(place.column, place.row + 2, place.columns, place.rows - 2)
        self._picture(row, inside)

    def _title(self, row: Row, place: Rect, *, is_chosen: bool) -> None:
        """Draw a rule with what a session is called and does."""
        style = _TONES.get(row.need, STRONG)
        if is_chosen:
            style = style._replace(look=style.look | Look.INVERSE)
        width = place.columns
        self.canvas.put(place.row, place.column, "─" * width, DIM)
        told = f" {row.label}  {row.told_need or row.told_state} "
        self.canvas.put(
            place.row, place.column + 1, clipped(told, width - 2), style, width - 2
        )

    def _picture(self, row: Row, place: Rect) -> None:
        look = row.look
        picture = look.picture if look is not None else None
        if picture is not None:
            draw_picture(self.canvas, place, picture)
        else:
            said = _unseen(row)
            self.canvas.put(place.row, place.column, clipped(said, place.columns), DIM)

    def _wall(self) -> None:
        tiles = self._overview.tiles()
        for row, place in tiles:
            self.targets.append(Target(place, session=row.key))
            is_chosen = row.key == self._overview.selected
            self._title(row, place, is_chosen=is_chosen)
            if place.rows >= _TALL:
                inside = Rect(
                    place.column, place.row + 1, place.columns - 1, place.rows - 1
                )
                self._picture(row, inside)
        if not tiles:
            self._nothing(self._parts.rows)

    # ── what is read ──────────────────────────────────────────────────────

    def _review(self) -> None:
        review = self._overview.review
        assert review is not None  # noqa: S101  # the page is shown only then
        columns, rows = self._overview.review_room()
        first = self._parts.header.rows
        lines = review.lines(columns)[review.top : review.top + rows]
        for at, line in enumerate(lines):
            self.canvas.put(first + at, 1, line, DIM if review.is_gone else PLAIN)
        count = len(review.waiting)
        place = review.place
        number = f", {place + 1} of {count}" if place is not None and count > 1 else ""
        said = f" {review.label} waits for approval{number} "
        if review.is_gone:
            said = f" {review.label}: no longer pending "
        self.canvas.fill(0, 0, self.canvas.columns, BAR)
        self.canvas.put(0, 0, said, Style(YELLOW, 0, Look.INVERSE | Look.BOLD))

    def _help(self) -> None:
        place = self._parts
        room = self.canvas.rows - place.header.rows - place.footer.rows
        for at, (keys, what) in enumerate(_HELP[:room]):
            row = place.header.rows + at
            self.canvas.put(row, 1, keys, STRONG, 11)
            self.canvas.put(row, 13, clipped(what, self.canvas.columns - 13))


def draw_picture(canvas: Canvas, place: Rect, picture: Preview) -> None:
    """Draw the lower left part of what a session shows, as much as there is room for.

    Its last row that is not blank, or its cursor, is the last one drawn.
    """
    last = picture.cursor_row
    for at in range(len(picture.rows) - 1, picture.cursor_row, -1):
        if any(text.strip() for text, _ in picture.rows[at]):
            last = at
            break
    first = max(0, last + 1 - place.rows)
    for at, spans in enumerate(picture.rows[first : first + place.rows]):
        column, end = place.column, place.column + place.columns
        for text, style in spans:
            if column >= end:
                break
            shown = " " * width_of(text) if style.look & Look.INVISIBLE else text
            calm = style._replace(look=style.look & ~_RESTLESS)
            column = canvas.put(place.row + at, column, shown, calm, end - column)


def _turn(row: Row) -> str:
    is_ours = row.look is not None and row.look.is_ours
    return "you" if is_ours else row.turn


def _here(row: Row) -> str:
    return str(row.crowd) if row.crowd else ""


def _doing(row: Row) -> str:
    look = row.look
    return look.error if look is not None and look.error else row.command


def _facts(row: Row) -> str:
    """Return what else is known of a session, in one line."""
    look = row.look
    told = [f"{row.size[0]}x{row.size[1]}"] if all(row.size) else []
    if row.is_reconstructed:
        told.append("reconstructed")
    if row.is_kept:
        told.append("kept")
    if look is None:
        return ", ".join([*told, row.command])
    if look.error:
        told.append(look.error)
    holder = "you have" if look.is_ours else f"{look.turn} has"
    told.append(f"{holder} the turn" if look.turn else "the turn is free")
    if look.here:
        more = look.attached - len(look.here)
        others = f" and {more} more" if more > 0 else ""
        told.append(f"attached: {', '.join(look.here)}{others}")
    if look.waiting:
        told.append(f"{look.waiting} wait for the turn")
    return ", ".join([*told, row.command])


def _unseen(row: Row) -> str:
    """Return why there is no picture of a session."""
    if row.gone:
        return f"{row.hindrance or 'no process has it'}; {row.told_way_back}".rstrip(
            "; "
        )
    if row.is_over:
        return "it has ended; `holdfast log` shows what happened"
    if row.is_dozing:
        return "asleep; Space wakes it"
    if row.look is not None and row.look.error:
        return row.look.error
    return "looking…"
