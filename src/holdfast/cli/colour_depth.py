"""How many colours the user's terminal has, as far as it says."""

import os

from holdfast.term.canvas import SIXTEEN, Depth

_EXACT = ("truecolor", "24bit")
_MANY = 256


def depth() -> Depth:
    """Return in how many colours to draw what is ours: none with NO_COLOR."""
    return Depth(0) if os.environ.get("NO_COLOR") else terminal_depth()


def terminal_depth() -> Depth:
    """Return how many colours the terminal has.

    A COLORTERM that was inherited says nothing of a console, or of a terminal that has
    16 by its name.
    """
    term = os.environ.get("TERM", "")
    if term == "linux" or term.endswith("-16color"):
        return SIXTEEN
    is_exact = os.environ.get("COLORTERM", "") in _EXACT or term.endswith("-direct")
    if is_exact or "256color" in term:
        return Depth(_MANY, is_exact)
    return _described(term)


def _described(term: str) -> Depth:
    """Return what the system's description of a terminal says; 16 if there is none."""
    try:
        from curses import error, setupterm, tigetnum  # noqa: PLC0415  # rarely needed
    except ImportError:  # Python can be built without it.
        return SIXTEEN
    try:
        setupterm(term, 1)
    except error:
        return SIXTEEN
    colours = tigetnum("colors")
    if colours >= _MANY:
        return Depth(_MANY)
    # One that is said to have 8 has them bright, too.
    return SIXTEEN if colours > 0 else Depth(0)
