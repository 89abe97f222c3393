"""The memory of a session that outlives its holders: the note, and the window."""

from holdfast.core.session.stream import HEADER, StreamWindow
from holdfast.holder.record.note_memory import AREA
from holdfast.linux import shared_memory
from holdfast.model.errors import MalformedArgument
from holdfast.model.ids import SessionId
from holdfast.model.settings import MAX_WINDOW, MIN_WINDOW, bytes_told


def checked_window(asked: int) -> int:
    """Return how many bytes of output to keep; 0 leaves that to us.

    Raises:
        UsageError: They are too few or too many.

    """
    window = asked or MIN_WINDOW
    if not MIN_WINDOW <= window <= MAX_WINDOW:
        least, most = bytes_told(MIN_WINDOW), bytes_told(MAX_WINDOW)
        raise MalformedArgument(str(window), f"a window of {least} to {most}")
    return window


def open_window(memory: int) -> StreamWindow:
    """Return the window in a memory.

    Raises:
        PeerError: It holds none, or a damaged one.

    """
    return StreamWindow.open(shared_memory.view(memory)[AREA:])


def make_memory(session: SessionId, window: int, at: int = 0) -> int:
    """Make the memory, with an empty window that begins at the offset `at`."""
    memory = shared_memory.create(session, AREA + HEADER + window)
    StreamWindow.create(shared_memory.view(memory)[AREA:], at)
    return memory
