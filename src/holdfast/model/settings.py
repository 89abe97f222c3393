"""What a user may set, and what it is if nobody sets it.

docs/reference/config.md lists all of it. Read before a session is painted, so nothing
here may load much: no patterns, no enumerations, no `typing`.
"""

PREFIX = 0x1D
"""Ctrl-]: telnet's escape, which hardly anything else uses."""

TERM = "xterm-256color"
"""What sessions are told of their terminal. The painter's emulator is a superset of
it, every viewer's terminal understands it, and every distribution has its terminfo."""

MIN_WINDOW = 1024 * 1024
"""Bytes of output kept: some ten thousand lines. Pages that were never written cost
nothing, so there is no reason to keep less."""

MAX_WINDOW = 256 * 1024 * 1024
"""Memory that a program which prints without end may take for good."""

VIEWS = ("auto", "raw", "framed")

RUNTIMES = ("plain", "capsule")

KEYS = {
    "detach": "d",
    "help": "?",
    "switch": "s",
    "next": "n",
    "previous": "p",
    "last": "l",
    "new": "c",
    "rename": ",",
    "take": "t",
    "give": "g",
    "drop": "r",
    "seize": "S",
    "seize-and-freeze": "F",
    "freeze": "f",
    "approve": "a",
    "deny": "N",
    "who": "w",
    "view": "v",
    "look-back": "[",
    "pan-left": "H",
    "pan-down": "J",
    "pan-up": "K",
    "pan-right": "L",
}
"""What the keys after the prefix do, by what is done."""

ALSO = {"D": "detach", "h": "help"}
"""Other keys for the same, unless something else is set on them."""

COLOURS = {"notice": "reverse", "selected": "reverse", "faint": "dim"}
"""Of what is ours on the screen, in words (model.colours)."""

_NAMED_KEYS = {"Space": 0x20, "Tab": 0x09, "Enter": 0x0D, "Escape": 0x1B}
_NAMES = {byte: name for name, byte in _NAMED_KEYS.items()}
_CONTROL = 0x40
_UNITS = {"": 1, "K": 1024, "M": 1024**2, "G": 1024**3}
_MAX_DIGITS = 12


class Settings:
    """What is in force for one user on one machine."""

    def __init__(self) -> None:
        self.prefix = PREFIX
        self.keys: dict[str, int] = {what: ord(key) for what, key in KEYS.items()}
        """The byte of each key, by what is done; what has no key is not here."""

        self.view = VIEWS[0]
        self.shell: tuple[str, ...] = ()
        """Empty: the user's own."""

        self.term = TERM
        self.window = MIN_WINDOW
        self.runtime = RUNTIMES[0]
        self.colours = dict(COLOURS)
        self.bell = True
        """Whether the bell rings when somebody has to act."""

        self.desktop = False
        """Whether the terminal is then asked for a notification of the desktop."""

        self.recovers = False
        """Whether a session that is lost is recovered as soon as somebody attaches."""

        self.keeps_environment = True
        """Whether the environment of sessions is kept, sealed, so that they can be
        recovered with it."""

    def pressed(self) -> dict[int, str]:
        """Return what is done, by the byte of its key."""
        bound = {byte: what for what, byte in self.keys.items()}
        for key, what in ALSO.items():
            if what in self.keys:
                bound.setdefault(ord(key), what)
        return bound

    def told(self, what: str) -> str:
        """Return what is pressed for something, as people read it; '' for nothing."""
        if what not in self.keys:
            return ""
        return f"{key_told(self.prefix)} {key_told(self.keys[what])}"

    def hint(self, what: str, does: str) -> str:
        """Return `Ctrl-] d detaches` for "detach", "detaches"; '' if it has no key."""
        return f"{pressed} {does}" if (pressed := self.told(what)) else ""


def key_from(text: str) -> int | None:
    """Return the byte that a key sends; None if that is no key, or not one byte.

    `d`, `C-a` or `^A` or `Ctrl-a`, `Space`, `Tab`, `Enter`, `Escape`, `C-Space`.
    """
    for lead in ("C-", "Ctrl-", "^"):
        if text.startswith(lead) and len(text) > len(lead):
            return _control(text[len(lead) :])
    if text in _NAMED_KEYS:
        return _NAMED_KEYS[text]
    is_one = len(text) == 1 and text.isascii() and text.isprintable()
    return ord(text) if is_one else None


def key_told(byte: int) -> str:
    """Return a key as people read it."""
    return _spelled(byte, "Ctrl-")


def key_written(byte: int) -> str:
    """Return a key as `key_from` reads it, in the form that the manual uses."""
    return _spelled(byte, "C-")


def bytes_from(text: str) -> int | None:
    """Return a number of bytes such as `16M` or `1048576`; None if it is none."""
    digits = text.rstrip("KMGkmgiB")
    unit = text[len(digits) :].upper().removesuffix("IB").removesuffix("B")
    if unit not in _UNITS or not (digits.isascii() and digits.isdecimal()):
        return None
    return None if len(digits) > _MAX_DIGITS else int(digits) * _UNITS[unit]


def bytes_told(count: int) -> str:
    """Return a number of bytes in its largest whole unit."""
    for unit, size in sorted(_UNITS.items(), key=lambda one: -one[1]):
        if count % size == 0 and count:
            return f"{count // size}{unit}"
    return "0"


def _control(letter: str) -> int | None:
    if letter == "Space":
        return 0
    if len(letter) != 1:
        return None
    byte = ord(letter.upper()) - _CONTROL
    return byte if 0 <= byte < 0x20 else None  # noqa: PLR2004  # control characters


def _spelled(byte: int, control: str) -> str:
    if byte in _NAMES:
        return _NAMES[byte]
    if byte == 0:
        return f"{control}Space"
    return chr(byte) if byte >= 0x20 else control + chr(byte + _CONTROL).lower()  # noqa: PLR2004  # control characters
