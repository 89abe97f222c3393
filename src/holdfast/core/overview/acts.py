"""The overview's events besides keys, and its effects."""

from typing import NamedTuple

from holdfast.core.overview.sessions import Key, Look, Row
from holdfast.term.key_reader import Paste

# ── what happened ─────────────────────────────────────────────────────────────


class Resized(NamedTuple):
    """The terminal has this size."""

    columns: int
    rows: int


class SessionsListed(NamedTuple):
    """A host has these sessions, and no others."""

    host: str
    rows: tuple[Row, ...]


class HostLost(NamedTuple):
    """A host does not answer."""

    host: str
    why: str


class Looked(NamedTuple):
    """A session was looked at."""

    key: Key
    look: Look


class Chosen(NamedTuple):
    """A session was pointed at."""

    key: Key


class Scrolled(NamedTuple):
    """The wheel was turned; by -1 is up."""

    by: int


class Told(NamedTuple):
    """Something is to be said; `is_bad` if something was refused or failed."""

    text: str
    is_bad: bool = False


Event = (Resized | SessionsListed | HostLost | Looked | Chosen | Scrolled | Told) | (
    str | Paste
)
"""What happened; a key that was pressed is its name, as in term.key_reader."""

# ── what is to be done ────────────────────────────────────────────────────────


class Attach(NamedTuple):
    """Hand the terminal over to a session until the user detaches."""

    key: Key
    observes: bool = False


class Create(NamedTuple):
    """Start a session at a host, and attach to it."""

    host: str
    name: str
    command: str


class Seize(NamedTuple):
    """Take the turn, from any holder."""

    key: Key


class Freeze(NamedTuple):
    """Stop every process of a session."""

    key: Key


class Thaw(NamedTuple):
    """Let a session go on."""

    key: Key


class Approve(NamedTuple):
    """Let through what waits, exactly as it was shown."""

    key: Key
    ticket: int
    digest: bytes


class Deny(NamedTuple):
    """Refuse what waits."""

    key: Key
    ticket: int
    digest: bytes


class Rename(NamedTuple):
    """Give a session another name."""

    key: Key
    name: str


class End(NamedTuple):
    """End a session, or remove the record of one that has ended."""

    key: Key


class Recover(NamedTuple):
    """Begin the next life of a session: from an image, or else by its command."""

    key: Key
    image: int = 0


class LookNow(NamedTuple):
    """Look at a session, even if that wakes it."""

    key: Key


class Redraw(NamedTuple):
    """Draw everything again: another program has written on the screen."""


class Suspend(NamedTuple):
    """Give the terminal back to the shell until we are continued."""


class Leave(NamedTuple):
    """Leave the overview."""


Effect = (Attach | Create | Seize | Freeze | Thaw | Approve | Deny | Rename | End) | (
    Recover | LookNow | Redraw | Suspend | Leave
)
