"""Colours in words, as the settings have them, and as a terminal is told."""

_LOOKS = {"bold": 1, "dim": 2, "italic": 3, "underline": 4, "reverse": 7}
_HUES = ("black", "red", "green", "yellow", "blue", "magenta", "cyan", "white")
_BRIGHT = "bright-"
_MAX_INDEX = 255
_HEX = frozenset("0123456789abcdefABCDEF")
_RGB = len("#rrggbb")


def sgr_from(text: str) -> str | None:
    """Return the parameters of SGR for `bold white on blue`; None if that is no colour.

    A colour is a name, `bright-` and a name, a number up to 255, or `#rrggbb`.
    """
    words = text.split()
    place = words.index("on") if "on" in words else len(words)
    front, ground = words[:place], words[place + 1 :]
    found = [str(_LOOKS[w]) if w in _LOOKS else _hue(w, 30) for w in front]
    found += [_hue(w, 40) for w in ground]
    if place < len(words) and not ground:
        return None
    known = [one for one in found if one is not None]
    return ";".join(known) if len(known) == len(found) else None


def _hue(word: str, first: int) -> str | None:
    bright = word.removeprefix(_BRIGHT)
    if bright in _HUES:
        return str(first + _HUES.index(bright) + (60 if bright != word else 0))
    if word.isascii() and word.isdecimal() and int(word[:4]) <= _MAX_INDEX:
        return f"{first + 8};5;{int(word[:4])}"
    if word[:1] != "#" or len(word) != _RGB or not _HEX.issuperset(word[1:]):
        return None
    parts = (str(int(word[at : at + 2], 16)) for at in (1, 3, 5))
    return f"{first + 8};2;" + ";".join(parts)
