"""Copy mode: scrollback, search, selection and copying.

Theory of operation
-------------------
Copy mode stands on rows that do not change: the session goes on meanwhile, and is shown
again afterwards. A cursor moves over the rows and takes the view along; a mark makes a
selection from there to the cursor.

    moving ──/──▶ typing a pattern ──Enter──▶ moving, at the next match
       ├──v──▶ selecting ──y──▶ Copied, and left
       └──q──▶ left

Search is for the text as it stands, and ignores case unless the pattern has capitals.

Invariants:

I1  The cursor is on a row, and the view within the rows.
I2  What is copied is text of the rows, with a line break between two of them.
"""

import re
from dataclasses import dataclass

from holdfast.core.view.copy_keys import VI, Move
from holdfast.core.view.rows import Row, cut, marked, text_of
from holdfast.model.geometry import Size
from holdfast.model.text_width import columns_of, sliced
from holdfast.term.key_reader import Mouse, Paste, Pressed

WHEEL = 3
"""Rows that one step of the wheel scrolls."""

MAX_PATTERN = 256

_WORD = re.compile(r"\S+")


@dataclass(frozen=True, slots=True)
class Copied:
    """Put this on the clipboard."""

    text: str


class CopyMode:
    """Copy mode over one session's scrollback."""

    def __init__(
        self,
        rows: list[Row],
        room: Size,
        cursor: tuple[int, int],
        keys: dict[str, Move] | None = None,
    ) -> None:
        """Look at `rows`, of which the last fill `room`; begin at `cursor` in them."""
        self.is_over = False
        """Whether it was left."""

        self.said = ""
        """What the user is to know: how a search went."""

        self.pattern: str | None = None
        """What is being typed to be searched, with its sign; None if nothing is."""

        self._rows = rows or [()]
        self._texts = [text_of(row).rstrip() for row in self._rows]
        self._room = room
        self._keys = VI if keys is None else keys
        self.row = max(0, min(cursor[0], len(self._rows) - 1))
        self.column = min(cursor[1], len(self._texts[self.row]))
        self.top = max(0, len(self._rows) - room.rows)
        self.left = 0
        self._mark: tuple[int, int] | None = None
        self._is_linewise = False
        self._sought = ""
        self._is_back = False
        self._show()

    # ── what is shown ─────────────────────────────────────────────────────

    def resized(self, room: Size) -> None:
        """Note how much room there is now."""
        self._room = room
        self._show()

    def shown(self) -> list[Row]:
        """Return the rows to be seen, with what is selected in other colours."""
        wanted = self._rows[self.top : self.top + self._room.rows]
        shown = []
        for number, row in enumerate(wanted, start=self.top):
            start, end = self._selected(number)
            shown.append(cut(marked(row, start, end), self.left, self._room.columns))
        return shown + [()] * (self._room.rows - len(shown))

    @property
    def cursor(self) -> tuple[int, int]:
        """Where the cursor is in what is shown."""
        column = columns_of(self._texts[self.row][: self.column]) - self.left
        return self.row - self.top, max(0, min(column, self._room.columns - 1))

    @property
    def place(self) -> str:
        """Where we are, for the status line."""
        return f"{self.row + 1}/{len(self._rows)}"

    # ── what is pressed ───────────────────────────────────────────────────

    def pressed(self, key: Pressed) -> Copied | None:
        """Take a key or the mouse; return what is to be copied, if anything."""
        self.said = ""
        if isinstance(key, Mouse):
            return self._moused(key)
        if isinstance(key, Paste):
            for letter in filter(str.isprintable, key.text):
                self._type(letter)
            return None
        if self.pattern is not None:
            self._type(key)
            return None
        move = self._keys.get(key)
        if move is None:
            return None
        return self._do(move)

    def scroll(self, rows: int) -> None:
        """Move the view; the cursor stays in it."""
        last = max(0, len(self._rows) - self._room.rows)
        self.top = max(0, min(self.top + rows, last))
        row = max(self.top, min(self.row, self.top + self._room.rows - 1))
        self._go(row, self.column)

    def _moused(self, mouse: Mouse) -> Copied | None:
        if mouse.wheel:
            at_end = self.top + self._room.rows >= len(self._rows)
            if mouse.wheel > 0 and at_end and self._mark is None:
                self.is_over = True
            self.scroll(mouse.wheel * WHEEL)
            return None
        row = min(self.top + mouse.row, len(self._rows) - 1)
        before = sliced(self._texts[row], 0, self.left + mouse.column)
        if mouse.is_press:
            self._mark, self._is_linewise = None, False
            self._go(row, len(before))
        elif mouse.is_drag:
            if self._mark is None:
                self._mark = self.row, self.column
            self._go(row, len(before))
        elif mouse.is_release and self._mark is not None:
            return self._copy()
        return None

    def _do(self, move: Move) -> Copied | None:  # noqa: C901  # one case for each sort
        match move:
            case Move.LEAVE:
                self.is_over = True
            case Move.CANCEL:
                self.is_over, self._mark = self._mark is None, None
            case Move.MARK | Move.MARK_LINES:
                self._set_mark(is_linewise=move is Move.MARK_LINES)
            case Move.OTHER_END:
                if self._mark is not None:
                    here, (row, column) = (self.row, self.column), self._mark
                    self._mark = here
                    self._go(row, column)
            case Move.COPY:
                return self._copy()
            case Move.COPY_LINE_END:
                self._mark, self._is_linewise = (self.row, self.column), False
                self._go(self.row, max(0, len(self._texts[self.row]) - 1))
                return self._copy()
            case Move.SEARCH | Move.SEARCH_BACK:
                self.pattern = "?" if move is Move.SEARCH_BACK else "/"
            case Move.NEXT | Move.PREVIOUS:
                self._search(is_back=self._is_back is (move is Move.NEXT))
            case _:
                self._move(move)
        return None

    def _set_mark(self, *, is_linewise: bool) -> None:
        if self._mark is not None and self._is_linewise == is_linewise:
            self._mark = None
            return
        if self._mark is None:
            self._mark = self.row, self.column
        self._is_linewise = is_linewise

    # ── moving ────────────────────────────────────────────────────────────

    def _move(self, move: Move) -> None:
        row, column, height = self.row, self.column, self._room.rows
        text = self._texts[row]
        across = {
            Move.LEFT: column - 1,
            Move.RIGHT: column + 1,
            Move.LINE_START: 0,
            Move.FIRST_LETTER: len(text) - len(text.lstrip()),
            Move.LINE_END: len(text) - 1,
        }
        along = {
            Move.UP: row - 1,
            Move.DOWN: row + 1,
            Move.TOP: 0,
            Move.BOTTOM: len(self._rows) - 1,
            Move.SCREEN_TOP: self.top,
            Move.SCREEN_MIDDLE: self.top + height // 2,
            Move.SCREEN_BOTTOM: self.top + height - 1,
        }
        pages = {
            Move.PAGE_UP: -height,
            Move.PAGE_DOWN: height,
            Move.HALF_UP: -(height // 2),
            Move.HALF_DOWN: height // 2,
            Move.SCROLL_UP: -1,
            Move.SCROLL_DOWN: 1,
        }
        if move in across:
            self._go(row, across[move])
        elif move in along:
            self._go(along[move], column)
        elif move in pages:
            self.scroll(pages[move])
            if abs(pages[move]) > 1:
                self._go(row + pages[move], column)
        else:
            self._go(*self._word(move))

    def _word(self, move: Move) -> tuple[int, int]:
        is_back, at_end = move is Move.WORD_BACK, move is Move.WORD_END
        step = -1 if is_back else 1
        row, column = self.row, self.column
        while 0 <= row < len(self._rows):
            places = [
                one.end() - 1 if at_end else one.start()
                for one in _WORD.finditer(self._texts[row])
            ]
            if row == self.row:
                places = [one for one in places if (one - column) * step > 0]
            if places:
                return row, places[-1 if is_back else 0]
            row += step
        return self.row, self.column

    def _go(self, row: int, column: int) -> None:
        self.row = max(0, min(row, len(self._rows) - 1))
        self.column = max(0, min(column, max(0, len(self._texts[self.row]) - 1)))
        self._show()

    def _show(self) -> None:
        """Scroll so that the cursor is visible."""
        self.top = max(min(self.top, self.row), self.row - self._room.rows + 1, 0)
        column = columns_of(self._texts[self.row][: self.column])
        width = self._room.columns
        self.left = max(min(self.left, column), column - width + 1)

    # ── selecting ─────────────────────────────────────────────────────────

    def _ends(self) -> tuple[tuple[int, int], tuple[int, int]] | None:
        if self._mark is None:
            return None
        first, last = sorted([self._mark, (self.row, self.column)])
        return first, last

    def _selected(self, row: int) -> tuple[int, int]:
        """Return which columns of a row are selected: from, and up to."""
        ends = self._ends()
        if ends is None or not ends[0][0] <= row <= ends[1][0]:
            return 0, 0
        text = self._texts[row]
        start, end = self._span(row, ends)
        return columns_of(text[:start]), max(1, columns_of(text[:end]))

    def _span(
        self, row: int, ends: tuple[tuple[int, int], tuple[int, int]]
    ) -> tuple[int, int]:
        (first, start), (last, end) = ends
        length = len(self._texts[row])
        if self._is_linewise:
            return 0, length
        return start if row == first else 0, end + 1 if row == last else length

    def _copy(self) -> Copied | None:
        ends = self._ends()
        self.is_over = True
        if ends is None:
            return None
        lines = []
        for row in range(ends[0][0], ends[1][0] + 1):
            start, end = self._span(row, ends)
            lines.append(self._texts[row][start:end])
        text = "\n".join(lines)
        return Copied(text + "\n" if self._is_linewise else text)

    # ── searching ─────────────────────────────────────────────────────────

    def _type(self, key: str) -> None:
        """Take a key of the pattern, if one is typed."""
        if self.pattern is None:
            return
        sign, typed = self.pattern[0], self.pattern[1:]
        if key in ("Escape", "C-c", "C-g"):
            self.pattern = None
        elif key == "Enter":
            self.pattern = None
            self._sought, self._is_back = typed or self._sought, sign == "?"
            self._search(is_back=self._is_back)
        elif key == "BSpace":
            self.pattern = sign + typed[:-1] if typed else None
        elif len(key) == 1:
            self.pattern = (self.pattern + key)[:MAX_PATTERN]

    def _search(self, *, is_back: bool) -> None:
        sought = self._sought
        if not sought:
            return
        flags = 0 if any(map(str.isupper, sought)) else re.IGNORECASE
        pattern = re.compile(re.escape(sought), flags)
        count = len(self._rows)
        step = -1 if is_back else 1
        for distance in range(count + 1):
            row = (self.row + distance * step) % count
            places = [found.start() for found in pattern.finditer(self._texts[row])]
            if distance == 0:
                places = [one for one in places if (one - self.column) * step > 0]
            if places:
                self._go(row, places[-1 if is_back else 0])
                return
        self.said = f"not found: {sought}"
