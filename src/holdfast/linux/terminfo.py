"""Which terminals this machine's terminfo knows.

Programs look a terminal up by its name; where that is unknown, half of them fall back
to no capabilities at all, and the other half refuse to start.
"""

import os

from holdfast.model.settings import TERM

PLACES = ("/etc/terminfo", "/lib/terminfo", "/usr/share/terminfo", "/usr/lib/terminfo")
"""Where distributions keep it; ncurses looks in all of them."""

FALLBACKS = (TERM, "xterm", "vt100")
"""What is used instead of an unknown one; each says less than the one before."""


def exists(
    name: str,
    environment: "dict[str, str] | None" = None,
    places: tuple[str, ...] = PLACES,
) -> bool:
    """Tell whether a program started with `environment` (ours) finds a terminal."""
    variables = os.environ if environment is None else environment
    # By its first letter, or by that letter's number where names have no case.
    ways = (f"{name[:1]}/{name}", f"{ord(name[:1] or '?'):x}/{name}")
    return any(
        os.path.isfile(f"{place}/{way}")  # noqa: PTH113  # pathlib is slow to load
        for place in (*_own(dict(variables)), *places)
        for way in ways
    )


def usable(
    name: str,
    environment: "dict[str, str] | None" = None,
    places: tuple[str, ...] = PLACES,
) -> str:
    """Return a terminal if it is known, else the best that is; TERM if none is."""
    known = (one for one in (name, *FALLBACKS) if exists(one, environment, places))
    return next(known, TERM)


def _own(variables: dict[str, str]) -> list[str]:
    own = [variables["TERMINFO"]] if variables.get("TERMINFO") else []
    home = [f"{variables['HOME']}/.terminfo"] if variables.get("HOME") else []
    listed = [one for one in variables.get("TERMINFO_DIRS", "").split(":") if one]
    return [*own, *home, *listed]
