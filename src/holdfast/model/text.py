"""Shows text from others without letting a terminal obey it.

Titles, names, paths and errors come from programs and peers. Printed as they
are, they could move the cursor, reverse the reading order or hide themselves.
`printable` shows such characters as escapes, so that what is seen is what is
there.

No patterns: they take longer to load than `holdfast attach` may take to paint.
"""

import unicodedata

MAX_NAME = 64
"""Longest name: fits a table column and any file system."""

_LETTERS = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789")
_NAME = _LETTERS | frozenset("._-")
_RESERVED = ("s_", "h_", "a_", "c_")

_INERT_SPACE = " "
_UNSAFE_CATEGORIES = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp", "Zs"})
_UNSEEN = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0")
_UNSEEN_RANGES = (
    ("\u180b", "\u180f"),
    ("\ufe00", "\ufe0f"),
    ("\U000e0100", "\U000e01ef"),
)
"""Letters, marks and symbols by category that leave nothing to be seen."""


def printable(text: str, limit: int = 200) -> str:
    """Return `text` with everything escaped that a terminal would obey or hide.

    At most `limit` characters of it are looked at; a longer text ends in '…'.
    """
    shown = "".join(_shown(character) for character in text[:limit])
    return shown + "…" if len(text) > limit else shown


def bounded(text: str, limit: int) -> str:
    """Return `text` as `printable` does, in at most `limit` characters in all."""
    shown = printable(text, limit)
    return shown if len(shown) <= limit else shown[: limit - 1] + "…"


def shown_name(text: str) -> str:
    """Return a name as it is shown to people, wherever it came from.

    Names are ASCII, so any other letter may be an attempt to look like
    another operator, and is shown as an escape.
    """
    shown = "".join(
        character if character.isascii() else _escaped(character)
        for character in text[:MAX_NAME]
    )
    return printable(shown, len(shown)) + ("…" if len(text) > MAX_NAME else "")


def checked_name(text: str) -> str:
    """Return `text` if it can be the name of a session or an operator.

    Names are ASCII: two that look alike are alike. None looks like an id, an
    option or a hidden file.

    Raises:
        UsageError: It cannot.

    """
    if why := _misnamed(text):
        from holdfast.model.errors import MalformedName  # noqa: PLC0415  # rarely needed

        raise MalformedName(printable(text, MAX_NAME), why)
    return text


def _misnamed(text: str) -> str:
    """Say why `text` can be no name; '' if it can."""
    if not text:
        return "it is empty"
    if len(text) > MAX_NAME:
        return f"it is over {MAX_NAME} long"
    if text[0] not in _LETTERS or not _NAME.issuperset(text):
        return "it has characters names may not have"
    return "it looks like an id" if text[:2].lower() in _RESERVED else ""


def same_name(one: str, other: str) -> bool:
    """Tell whether two names sound the same."""
    return one.lower() == other.lower()


def _shown(character: str) -> str:
    if character == _INERT_SPACE:
        return character
    if unicodedata.category(character) in _UNSAFE_CATEGORIES:
        return _escaped(character)
    is_unseen = character in _UNSEEN or any(
        first <= character <= last for first, last in _UNSEEN_RANGES
    )
    return _escaped(character) if is_unseen else character


def _escaped(character: str) -> str:
    point = ord(character)
    if point <= 0xFF:  # noqa: PLR2004  # the last code point of two hex digits
        return f"\\x{point:02x}"
    return f"\\u{point:04x}" if point <= 0xFFFF else f"\\U{point:08x}"  # noqa: PLR2004
