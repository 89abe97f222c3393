"""Shows on a terminal how much of an image has been written so far."""

import contextlib
import sys
import threading
from collections.abc import Callable, Iterator

from holdfast.linux.stored import image_store
from holdfast.model.errors import HoldfastError
from holdfast.model.ids import SessionId

PATIENCE = 0.5
"""Seconds after which people wonder."""

STEP = 0.2
"""Seconds between two looks."""

_CLEAR = "\r\x1b[K"


@contextlib.contextmanager
def shown_progress(session: SessionId, *, is_wanted: bool) -> Iterator[None]:
    """Show it until this is left, on a terminal, and leave nothing of it there."""
    if not (is_wanted and sys.stderr.isatty()):
        yield
        return
    over = threading.Event()
    shown = threading.Thread(target=_show, args=(session, over), daemon=True)
    shown.start()
    try:
        yield
    finally:
        over.set()
        shown.join()


def _show(session: SessionId, over: threading.Event) -> None:
    if over.wait(PATIENCE):
        return
    while not over.wait(STEP):
        sys.stderr.write(f"{_CLEAR}{line(lambda: image_store.draft_size(session))}")
        sys.stderr.flush()
    sys.stderr.write(_CLEAR)
    sys.stderr.flush()


def line(size: Callable[[], int | None]) -> str:
    """Return what is shown now."""
    found = None
    with contextlib.suppress(OSError, HoldfastError):  # Files come and go.
        found = size()
    if found is None:
        return "saving the session to disk"
    return f"saving the session to disk: {found / 1_000_000:.1f} MB written"
