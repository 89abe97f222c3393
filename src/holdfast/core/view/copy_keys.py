"""The keys of copy mode, as in vi and as in emacs."""

import enum


class Move(enum.Enum):
    """What a key does in copy mode."""

    LEFT = enum.auto()
    RIGHT = enum.auto()
    UP = enum.auto()
    DOWN = enum.auto()
    LINE_START = enum.auto()
    FIRST_LETTER = enum.auto()
    LINE_END = enum.auto()
    WORD = enum.auto()
    WORD_BACK = enum.auto()
    WORD_END = enum.auto()
    TOP = enum.auto()
    BOTTOM = enum.auto()
    SCREEN_TOP = enum.auto()
    SCREEN_MIDDLE = enum.auto()
    SCREEN_BOTTOM = enum.auto()
    PAGE_UP = enum.auto()
    PAGE_DOWN = enum.auto()
    HALF_UP = enum.auto()
    HALF_DOWN = enum.auto()
    SCROLL_UP = enum.auto()
    SCROLL_DOWN = enum.auto()
    MARK = enum.auto()
    MARK_LINES = enum.auto()
    OTHER_END = enum.auto()
    COPY = enum.auto()
    COPY_LINE_END = enum.auto()
    SEARCH = enum.auto()
    SEARCH_BACK = enum.auto()
    NEXT = enum.auto()
    PREVIOUS = enum.auto()
    CANCEL = enum.auto()
    LEAVE = enum.auto()


_SHARED = {
    "Left": Move.LEFT,
    "Right": Move.RIGHT,
    "Up": Move.UP,
    "Down": Move.DOWN,
    "Home": Move.LINE_START,
    "End": Move.LINE_END,
    "PageUp": Move.PAGE_UP,
    "PageDown": Move.PAGE_DOWN,
    "q": Move.LEAVE,
    "C-c": Move.LEAVE,
}

VI = _SHARED | {
    "h": Move.LEFT,
    "l": Move.RIGHT,
    "k": Move.UP,
    "j": Move.DOWN,
    "BSpace": Move.LEFT,
    "0": Move.LINE_START,
    "^": Move.FIRST_LETTER,
    "$": Move.LINE_END,
    "w": Move.WORD,
    "b": Move.WORD_BACK,
    "e": Move.WORD_END,
    "g": Move.TOP,
    "G": Move.BOTTOM,
    "H": Move.SCREEN_TOP,
    "M": Move.SCREEN_MIDDLE,
    "L": Move.SCREEN_BOTTOM,
    "C-b": Move.PAGE_UP,
    "C-f": Move.PAGE_DOWN,
    "C-u": Move.HALF_UP,
    "C-d": Move.HALF_DOWN,
    "C-y": Move.SCROLL_UP,
    "C-e": Move.SCROLL_DOWN,
    "v": Move.MARK,
    " ": Move.MARK,
    "V": Move.MARK_LINES,
    "o": Move.OTHER_END,
    "y": Move.COPY,
    "Enter": Move.COPY,
    "D": Move.COPY_LINE_END,
    "/": Move.SEARCH,
    "?": Move.SEARCH_BACK,
    "n": Move.NEXT,
    "N": Move.PREVIOUS,
    "Escape": Move.CANCEL,
}

EMACS = _SHARED | {
    "C-b": Move.LEFT,
    "C-f": Move.RIGHT,
    "C-p": Move.UP,
    "C-n": Move.DOWN,
    "C-a": Move.LINE_START,
    "M-m": Move.FIRST_LETTER,
    "C-e": Move.LINE_END,
    "M-f": Move.WORD_END,
    "M-b": Move.WORD_BACK,
    "M-<": Move.TOP,
    "M->": Move.BOTTOM,
    "M-R": Move.SCREEN_TOP,
    "M-r": Move.SCREEN_MIDDLE,
    "M-v": Move.PAGE_UP,
    "C-v": Move.PAGE_DOWN,
    " ": Move.PAGE_DOWN,
    "C-Space": Move.MARK,
    "C-x": Move.OTHER_END,
    "C-w": Move.COPY,
    "M-w": Move.COPY,
    "Enter": Move.COPY,
    "C-k": Move.COPY_LINE_END,
    "C-s": Move.SEARCH,
    "C-r": Move.SEARCH_BACK,
    "n": Move.NEXT,
    "N": Move.PREVIOUS,
    "C-g": Move.CANCEL,
    "Escape": Move.CANCEL,
}
