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

IMAGES_KEPT = 10
MAX_IMAGES_KEPT = 10_000

IMAGES_SIZE = 20 * 1024**3
MIN_IMAGES_SIZE = 1024**2
MAX_IMAGES_SIZE = 1024**5

RECORDINGS_KEPT = 50
RECORDINGS_SIZE = 1024**3
MAX_MASKS = 100
"""Patterns of secrets: every line that is recorded is searched for each."""

MAX_SPAN = 366 * 86400.0
"""Seconds of the longest time that can be set."""

MIN_REAP_AFTER = 1.0
MIN_CHECKPOINTS = 10.0
"""Seconds between two images at least: each makes the session stand still."""

REAP_WARNING = 600.0
"""Seconds between a warning and the end of a session that nobody uses."""

DRAIN_DEADLINE = 60.0
"""Seconds that a drain takes at most: service managers wait for 90."""

VIEWS = ("auto", "raw", "framed")

RUNTIMES = ("plain", "capsule", "movable")
FILES = ("shared", "own")

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
_SPANS = {"s": 1, "m": 60, "h": 3600, "d": 86400}
_MAX_DIGITS = 12
_LOOPBACK = {"127.0.0.1": "127.0.0.1", "[::1]": "::1"}
MAX_PORT = 65_535


class _Comparable:
    """What is the same if the same is set in it."""

    def __eq__(self, other: object) -> bool:
        """Tell whether the same is set."""
        return type(self) is type(other) and vars(self) == vars(other)

    __hash__ = None  # type: ignore[assignment]  # it can be changed


class Reaping(_Comparable):
    """When sessions that nobody uses are ended; without any of it, never."""

    def __init__(self) -> None:
        self.after = 0.0
        """Seconds for which a session is idle; 0 if that is no reason."""

        self.warning = REAP_WARNING
        self.people = False
        """Whether this is for sessions that people began, too."""

        self.checkpoint = True
        """Whether capsules are put to disk first, where that works."""

        self.sessions = 0
        """How many sessions may stay; 0 for any number."""

        self.memory = 0
        """How many bytes all of them may have in memory; 0 for any number."""

    @property
    def is_on(self) -> bool:
        """Whether anything may be reaped at all."""
        return bool(self.after or self.sessions or self.memory)


class HostSettings(_Comparable):
    """What the host of this machine does by itself."""

    def __init__(self) -> None:
        self.reap = Reaping()
        self.checkpoints_every = 0.0
        """Seconds between two images of a capsule in which something happens; 0 if
        none are made unasked."""

        self.checkpoints_to = ""
        """The host that keeps a copy of each, if its session is movable."""

        self.drain_deadline = DRAIN_DEADLINE
        self.drain_to = ""
        """The host that sessions go to which can move; empty if all go to disk."""

        self.drains_at_end = False
        """Whether it drains when it is told to end by SIGTERM."""

        self.metrics_listen = ""
        """Where metrics are served, as 127.0.0.1:9464; empty if they are not."""


class Recordings(_Comparable):
    """What is hidden in recordings, and how many are kept."""

    def __init__(self) -> None:
        self.mask: tuple[str, ...] = ()
        """Patterns of secrets, besides the usual ones."""

        self.keep = RECORDINGS_KEPT
        self.size = RECORDINGS_SIZE
        """Bytes that all may have."""

        self.age = 0.0
        """Seconds after which one is removed; 0 for never."""


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
        self.files = FILES[0]
        self.memory = 0
        """Bytes that a capsule may have in memory; 0 is no limit, here and below."""

        self.millicpus = 0
        """Thousandths of a processor that a capsule may use."""

        self.pids = 0
        """Processes that a capsule may have."""

        self.colours = dict(COLOURS)
        self.bell = True
        """Whether the bell rings when the user has to act."""

        self.desktop = False
        """Whether the terminal is then asked for a notification of the desktop."""

        self.recovers = False
        """Whether attaching to a lost session recovers it without asking."""

        self.keeps_environment = True
        """Whether the environment of sessions is kept, sealed, so that they can be
        recovered with it."""

        self.images_kept = IMAGES_KEPT
        """How many images of a session without a label are kept."""

        self.images_size = IMAGES_SIZE
        """How many bytes all images together may have."""

        self.recordings, self.host = Recordings(), HostSettings()

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


def loopback_from(text: str) -> tuple[str, int] | None:
    """Return the address and port of `127.0.0.1:9464` or `[::1]:9464`, or None.

    What other machines could reach is none.
    """
    address, _, port = text.rpartition(":")
    if address not in _LOOPBACK or not (port.isascii() and port.isdecimal()):
        return None
    number = int(port[:_MAX_DIGITS])
    return (_LOOPBACK[address], number) if 0 < number <= MAX_PORT else None


def seconds_from(text: str) -> float | None:
    """Return a length of time such as `90s`, `10m` or `1h30m`; None if it is none."""
    total, digits = 0.0, ""
    for letter in text:
        if letter.isascii() and letter.isdecimal() and len(digits) < _MAX_DIGITS:
            digits += letter
        elif digits and letter in _SPANS:
            total += int(digits) * _SPANS[letter]
            digits = ""
        else:
            return None
    return None if digits or not text else total


def seconds_told(seconds: float) -> str:
    """Return a length of time as `seconds_from` reads it: in its largest whole unit."""
    for unit, size in sorted(_SPANS.items(), key=lambda one: -one[1]):
        if seconds and seconds % size == 0:
            return f"{int(seconds // size)}{unit}"
    return f"{int(seconds)}s"


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
