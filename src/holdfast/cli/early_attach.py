"""Shows a session on this terminal before the rest of the client is loaded.

`attached` goes on from here: it is given the terminal, and the link with all that
came on it (client.early_session).
"""

import os

from holdfast.cli.attach_notice import USUAL, early_notice
from holdfast.cli.early_terminal import EarlyTerminal, Interrupted
from holdfast.client import early_session
from holdfast.client.early_session import EarlySession
from holdfast.core.client.early_picture import EarlyPicture
from holdfast.linux.stored import folders

KEYS = (b"prefix", b"keys")
"""What in the settings decides what is pressed."""

MAX_SIDE = 1000
"""As in model.geometry, which is slow to load."""


class EarlyAttach:
    """How far the showing of one session has come."""

    def __init__(
        self, session: EarlySession, terminal: EarlyTerminal, size: tuple[int, int]
    ) -> None:
        self.session = session
        self.terminal = terminal
        self.size = size
        """Columns and rows that the holder was told."""

        self.is_noticed = False
        """Whether the user was told who is there."""


_begun: list[EarlyAttach] = []


def begun(session: str) -> EarlyAttach | None:
    """Return how far the showing of a session has come, if it was begun."""
    return next((one for one in _begun if one.session.id == session), None)


def attach(text: str, *, observes: bool, name: str = "") -> None:
    """Show the session that is called so, as far as that goes without the rest.

    One that was made just now may not be found by its `name` yet.

    Raises:
        NotOneOfThese: Something unusual came, and the rest has to see to it.
        HoldfastError: A place is not ours.
        OSError: The terminal is gone.

    """
    if not (os.isatty(0) and os.isatty(1)):
        return
    terminal = EarlyTerminal()
    size = terminal.size()
    if not all(1 <= side <= MAX_SIDE for side in size):
        return
    found = early_session.find(text)
    if found is None or os.environ.get("HOLDFAST_SESSION") == found.id:
        return
    found.name = found.name or name
    begun = EarlyAttach(found, terminal, size)
    _begun[:] = [begun]
    early_session.keep(found)
    mode = "observe" if observes else "operate"
    if found.reach(found.attach(mode, size)):
        _paint(begun, observes=observes)


def _paint(begun: EarlyAttach, *, observes: bool) -> None:
    picture = EarlyPicture()
    session, terminal = begun.session, begun.terminal
    while not picture.is_whole:
        shown = picture.hear(session.receive())
        if picture.attached is None:
            continue
        if not begun.is_noticed:
            client, size, keys = session.client, begun.size, _keys_told()
            said = early_notice(
                session.label, picture.attached, client, size, keys, observes=observes
            )
            if said is None:
                return
            begun.is_noticed = True
            # First: who sees that it is there may type anything, Ctrl-D too.
            terminal.take()
            os.write(terminal.target, f"{said}\r\n".encode())
        try:
            terminal.paint(shown)
        except Interrupted:
            return  # It is noted, and heeded by the code that can leave in order.


def _keys_told() -> tuple[str, ...]:
    """Return the keys that matter; settings are loaded only if they could differ."""
    if not os.path.exists(folders.config_file()):  # noqa: PTH110  # pathlib is slow to load
        return USUAL
    from holdfast.cli.attach_notice import keys_told  # noqa: PLC0415  # rarely needed
    from holdfast.linux.stored import config  # noqa: PLC0415  # ditto

    return keys_told(config.settings()) if config.mentions(*KEYS) else USUAL
