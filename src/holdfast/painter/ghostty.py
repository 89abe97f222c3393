"""The binding to Ghostty's terminal core.

All dealings with the library are here. Its pointers never leave this file.
"""

import re
import weakref
from collections.abc import Iterable
from typing import Any

from pyghostty import (  # type: ignore[import-untyped]  # it has no types
    GhosttyError,
    Terminal,
    ffi,
    lib,
)
from pyghostty.core import init_sized  # type: ignore[import-untyped]  # ditto

from holdfast.model.geometry import Size
from holdfast.term.cells import Run, runs_from
from holdfast.term.screen import Screen
from holdfast.term.unseen import Hidden, Palette, all_hidden, hidden_in

SCROLLBACK = 2 * 1024 * 1024
"""Bytes of lines above the screen that a terminal keeps: about 2,000 lines."""

UNLIMITED = 2**63 - 1
"""Lines are limited by their bytes: a limit in lines makes the core slow."""

CONTINUATION = 64 * 1024
"""Longest unfinished sequence that can be repeated: longer than any that a
terminal carries out, pictures and clipboards aside."""

MAX_STRING = 64 * 1024
"""Longest clipboard or application string the core collects, instead of 64 MiB."""

MAX_LOOKED_AT = 2_000_000
"""Characters of a screen that are looked at for what they hide: two for each cell
of the largest. What piles up more in its cells hides something, or wastes our time."""

INPUT_MODES = (1, 9, 66, 1000, 1002, 1003, 1004, 1005, 1006, 1015, 2004)
"""Modes that change what the keyboard and the mouse send."""

ALTERNATE_MODES = (1049, 1047, 47)
ORIGIN = 6

_PALETTE = re.compile(rb"\x1b\]4;[^\x1b]*\x1b\\")
_SHAPE_REPORT = re.compile(rb"\$r([1-6]) q")


class GhosttyCore:
    """One terminal of Ghostty's core."""

    def __init__(self, size: Size, wrapped: object = None) -> None:
        self._size = size
        self._terminal: Any = wrapped or Terminal(
            size.columns, size.rows, scrollback=UNLIMITED
        )
        self._limit()

    def feed(self, data: bytes) -> None:
        """Carry out what a program printed. It contains no links (OSC 8)."""
        self._terminal.feed(data)
        if self._terminal.size != (self._size.columns, self._size.rows):
            # A program asked for 132 columns. Its window has not changed.
            self.resize(self._size)

    def resize(self, size: Size) -> None:
        """Become another size, as a window does."""
        self._size = size
        self._terminal.resize(size.columns, size.rows)

    def screen(self) -> Screen:
        """Return what is to be seen."""
        row, column = self.place()
        return Screen(
            size=self._size,
            lines=tuple(self._terminal.text().split("\n")),
            cursor_row=row,
            cursor_column=column,
            cursor_visible=bool(self._get("cursor_visible", "bool")),
            title=self.title(),
            alternate=self.alternate_mode() is not None,
        )

    def cells(self) -> tuple[Run, ...]:
        """Return what is to be seen in its colours."""
        last = self._terminal.ref(self._size.columns - 1, self._size.rows - 1)
        return runs_from(self._selected(self._terminal.ref(0, 0), last))

    def hidden(self) -> tuple[Hidden, ...]:
        """Return the parts that a person would not see."""
        text = self._terminal.text()
        lines = text.split("\n")
        if len(text) > MAX_LOOKED_AT:
            return all_hidden(lines)
        return hidden_in(lines, self.cells(), self._palette())

    def rows(self, above: int, count: int) -> tuple[dict[str, object], bytes]:
        """Return what is true of the screen, and some rows of it and above it.

        They begin `above` rows above the screen, or as far above as rows are kept.
        """
        kept = self.above()
        first = min(above, kept)
        start = kept - first
        last = min(start + count, self.total_rows()) - 1
        written = b""
        if last >= start:
            written = self._selected(
                self._terminal.ref(0, start, "screen"),
                self._terminal.ref(self._size.columns - 1, last, "screen"),
            )
        row, column = self.place()
        told: dict[str, object] = {
            "above": kept,
            "first": first,
            "cursor": [row, column],
            "visible": bool(self._get("cursor_visible", "bool")),
            "alternate": self.alternate_mode() is not None,
            "title": self.title(),
            "modes": [mode for mode in INPUT_MODES if self.has_mode(mode)],
            "shape": self._shape(),
        }
        lines = written.removesuffix(b"\x1b[0m").split(b"\r\n")
        lines += [b""] * (last + 1 - start - len(lines))
        # The formatter leaves out the colour of a row without text.
        for number in range(max(0, first), len(lines)):
            if lines[number] in (b"", b"\x1b[0m"):
                colour = self.ground(number - first)
                blank = b" " * self._size.columns if colour else b""
                lines[number] = b"\x1b[48;%bm%b" % (colour, blank) if colour else b""
        return told, b"\r\n".join(lines)

    def above(self) -> int:
        """Return how many rows have scrolled out at the top and are still kept."""
        return max(0, self.total_rows() - self._size.rows)

    def cursor(self) -> tuple[int, int]:
        """Return row and column as a program is told them."""
        if not (self.has_mode(ORIGIN) and self._get("vt_ground", "bool")):
            row, column = self.place()
            return row + 1, column + 1
        # Only the core knows where the region begins, and it tells programs.
        row_text, column_text = self._told(b"\x1b[6n")[2:-1].split(b";")
        return int(row_text), int(column_text)

    def close(self) -> None:
        """Free what it holds. It is of no further use."""
        self._terminal.close()

    # ── what keyframes are made of ────────────────────────────────────────────

    @property
    def size(self) -> Size:
        """Return the size last given."""
        return self._size

    def copy(self) -> "GhosttyCore":
        """Return another terminal in the same state.

        Raises:
            GhosttyError: The core cannot write down what it holds, as in the middle
                of a sequence that is too long.

        """
        start, length = ffi.new("uint8_t**"), ffi.new("size_t*")
        _check(lib.ghostty_snapshot_encode_alloc(self._inner, ffi.NULL, start, length))
        decoder, inner = ffi.new("GhosttySnapshotDecoder*"), ffi.new("GhosttyTerminal*")
        _check(
            lib.ghostty_snapshot_decoder_new_buf(ffi.NULL, decoder, start[0], length[0])
        )
        failed = lib.ghostty_snapshot_decoder_decode(decoder[0], inner)
        lib.ghostty_snapshot_decoder_free(decoder[0])
        lib.ghostty_free(ffi.NULL, start[0], length[0])
        _check(failed)
        return GhosttyCore(self._size, _wrapped(inner))

    def unfinished(self) -> bytes | None:
        """Return the sequence the stream is in the middle of; None if too long."""
        length = ffi.new("size_t*")
        buffer = ffi.new("uint8_t[]", CONTINUATION)
        if lib.ghostty_terminal_continuation_buf(
            self._inner, buffer, CONTINUATION, length
        ):
            return None
        return bytes(ffi.buffer(buffer, length[0])[:])

    def formatted(
        self,
        *,
        unwrap: bool = False,
        extra: Iterable[str] = (),
        pen: Iterable[str] = (),
    ) -> bytes:
        """Return the screen with what is above it, as the core writes it down."""
        options = init_sized("GhosttyFormatterTerminalOptions")
        options.emit = lib.GHOSTTY_FORMATTER_FORMAT_VT
        options.unwrap = unwrap
        for name in extra:
            setattr(options.extra, name, True)
        for name in pen:
            setattr(options.extra.screen, name, True)
        formatter = ffi.new("GhosttyFormatter*")
        _check(
            lib.ghostty_formatter_terminal_new(
                ffi.NULL, formatter, self._inner, options[0]
            )
        )
        start, length = ffi.new("uint8_t**"), ffi.new("size_t*")
        failed = lib.ghostty_formatter_format_alloc(
            formatter[0], ffi.NULL, start, length
        )
        lib.ghostty_formatter_free(formatter[0])
        _check(failed)
        written = bytes(ffi.buffer(start[0], length[0])[:])
        lib.ghostty_free(ffi.NULL, start[0], length[0])
        return written

    def cell_under_cursor(self) -> tuple[bytes, int]:
        """Return the cursor's cell as bytes, and how many columns back it begins."""
        row, column = self.place()
        ref = self._terminal.ref(column, row)
        cell, wide = ffi.new("GhosttyCell*"), ffi.new("GhosttyCellWide*")
        _check(lib.ghostty_grid_ref_cell(ref, cell))
        _check(lib.ghostty_cell_get(cell[0], lib.GHOSTTY_CELL_DATA_WIDE, wide))
        back = int(wide[0] == lib.GHOSTTY_CELL_WIDE_SPACER_TAIL and column > 0)
        return self._selected(self._terminal.ref(column - back, row), ref), back

    def ground(self, row: int) -> bytes:
        """Return the colour behind a row's first cell, as SGR 48 takes it."""
        ref = self._terminal.ref(0, row)
        cell, tag = ffi.new("GhosttyCell*"), ffi.new("GhosttyCellContentTag*")
        _check(lib.ghostty_grid_ref_cell(ref, cell))
        _check(lib.ghostty_cell_get(cell[0], lib.GHOSTTY_CELL_DATA_CONTENT_TAG, tag))
        if tag[0] == lib.GHOSTTY_CELL_CONTENT_BG_COLOR_PALETTE:
            index = ffi.new("GhosttyColorPaletteIndex*")
            _check(
                lib.ghostty_cell_get(
                    cell[0], lib.GHOSTTY_CELL_DATA_COLOR_PALETTE, index
                )
            )
            return b"5;%d" % index[0]
        if tag[0] == lib.GHOSTTY_CELL_CONTENT_BG_COLOR_RGB:
            colour = ffi.new("GhosttyColorRgb*")
            _check(
                lib.ghostty_cell_get(cell[0], lib.GHOSTTY_CELL_DATA_COLOR_RGB, colour)
            )
            return b"2;%d;%d;%d" % (colour.r, colour.g, colour.b)
        return b""

    def place(self) -> tuple[int, int]:
        """Return the cursor's row and column on the screen, from 0."""
        column, row = self._terminal.cursor
        return int(row), int(column)

    def wraps_next(self) -> bool:
        """Tell whether the next character goes to the next line."""
        return bool(self._get("cursor_pending_wrap", "bool"))

    def alternate_mode(self) -> int | None:
        """Return the mode by which the alternate screen is shown, if it is."""
        if (
            self._get("active_screen", "GhosttyTerminalScreen")
            != lib.GHOSTTY_TERMINAL_SCREEN_ALTERNATE
        ):
            return None
        set_modes = [mode for mode in ALTERNATE_MODES if self.has_mode(mode)]
        return set_modes[0] if set_modes else ALTERNATE_MODES[0]

    def has_mode(self, number: int) -> bool:
        """Tell whether a private mode is set."""
        return bool(self._terminal.mode(number))

    def total_rows(self) -> int:
        """Return the rows of the screen shown and of what is above it."""
        return int(self._get("total_rows", "size_t"))

    def cursor_shape(self) -> bytes:
        """Return the number that DECSCUSR knows the cursor's shape by, or nothing.

        It is asked as a program asks, so no sequence may be unfinished.
        """
        found = _SHAPE_REPORT.search(self._told(b"\x1bP$q q\x1b\\"))
        return found[1] if found else b""

    def title(self) -> str:
        """Return the title as the program chose it, or an empty one."""
        text = self._get("title", "GhosttyString")
        raw = bytes(ffi.buffer(text.ptr, text.len)[:]) if text.len else b""
        return raw.decode(errors="replace")

    def _shape(self) -> int:
        """Return the cursor's shape by its number; 0 if it cannot be known now."""
        if not self._get("vt_ground", "bool"):
            return 0
        return int(self.cursor_shape() or 0)

    def _selected(self, first: Any, last: Any) -> bytes:  # noqa: ANN401  # pointers
        selection = init_sized("GhosttySelection")
        selection.start, selection.end = first[0], last[0]
        options = init_sized("GhosttyTerminalSelectionFormatOptions")
        options.emit = lib.GHOSTTY_FORMATTER_FORMAT_VT
        options.selection = selection
        size, length = MAX_STRING, ffi.new("size_t*")
        while True:
            buffer = ffi.new("uint8_t[]", size)
            failed = lib.ghostty_terminal_selection_format_buf(
                self._inner, options[0], buffer, size, length
            )
            if failed != lib.GHOSTTY_OUT_OF_SPACE or length[0] <= size:
                break
            size = length[0]
        _check(failed)
        # Before the first cell stands the palette, which a viewer has of its own.
        return _PALETTE.sub(b"", bytes(ffi.buffer(buffer, length[0])[:]))

    def _palette(self) -> Palette:
        """Return the colours as they are now; a program may have changed them."""
        table = ffi.new("GhosttyColorRgb[256]")
        _check(
            lib.ghostty_terminal_get(
                self._inner, lib.GHOSTTY_TERMINAL_DATA_COLOR_PALETTE, table
            )
        )
        return Palette(
            [one.r << 16 | one.g << 8 | one.b for one in table],
            self._own_colour("foreground"),
            self._own_colour("background"),
        )

    def _own_colour(self, which: str) -> int | None:
        """Return one of the terminal's own colours, if a program has set it."""
        try:
            one = self._get(f"color_{which}", "GhosttyColorRgb")
        except GhosttyError:
            return None
        return int(one.r << 16 | one.g << 8 | one.b)

    def _told(self, query: bytes) -> bytes:
        told: list[bytes] = []
        self._terminal.on_reply(told.append)
        self._terminal.feed(query)
        self._terminal.on_reply(None)
        return b"".join(told)

    @property
    def _inner(self) -> Any:  # noqa: ANN401  # a pointer of the core's
        return self._terminal._t[0]  # noqa: SLF001  # the wrapper has no other way

    def _get(self, name: str, kind: str) -> Any:  # noqa: ANN401  # whatever kind says
        return self._terminal.get(name, kind)

    def _limit(self) -> None:
        for name, kind, value in (
            ("SCROLLBACK_MAX_BYTES", "size_t", SCROLLBACK),
            ("CONTINUATION_MAX_BYTES", "size_t", CONTINUATION),
            ("KITTY_IMAGE_STORAGE_LIMIT", "uint64_t", 0),
            ("APC_MAX_BYTES", "size_t", MAX_STRING),
            ("CLIPBOARD_WRITE_MAX_BYTES", "size_t", MAX_STRING),
        ):
            option = getattr(lib, f"GHOSTTY_TERMINAL_OPT_{name}")
            pointer = ffi.new(f"{kind}*", value)
            _check(lib.ghostty_terminal_set(self._inner, option, pointer))


def _wrapped(inner: Any) -> Any:  # noqa: ANN401  # types the wrapper does not have
    """Return the wrapper's Terminal around one that it did not make."""
    terminal = Terminal.__new__(Terminal)
    terminal._t = inner  # noqa: SLF001  # as its own constructor does
    terminal._unknown_cb = terminal._reply_cb = terminal._cb_err = None  # noqa: SLF001
    terminal._free = weakref.finalize(  # noqa: SLF001
        terminal, lib.ghostty_terminal_free, inner[0]
    )
    return terminal


def _check(result: int) -> None:
    if result:
        raise GhosttyError(result)
