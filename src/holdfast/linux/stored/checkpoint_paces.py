"""How often images are made of sessions for which somebody chose that.

One small file for each, beside the session's logbook, so that it holds for every life
of the session and is cleared away with it. A session without one follows the settings.
"""

import contextlib

from holdfast.linux.stored import places
from holdfast.linux.stored.small_files import read_file, replace_file
from holdfast.model.errors import HoldfastError
from holdfast.model.ids import SessionId, parse_session_id
from holdfast.model.settings import MAX_SPAN

_NAME = ".log.every"
_MOST = 16


def choose(session: SessionId, seconds: float) -> None:
    """Have an image made every so many seconds; 0: never."""
    path = places.log_dir() / f"{session}{_NAME}"
    replace_file(str(path), f"{int(seconds)}\n".encode())


def chosen() -> dict[SessionId, float]:
    """Return what was chosen, by session; what cannot be read says nothing."""
    found = {}
    for path in places.log_dir().glob(f"s_*{_NAME}"):
        with contextlib.suppress(OSError, ValueError, HoldfastError):
            session = parse_session_id(path.name.removesuffix(_NAME))
            seconds = float(int(read_file(path, _MOST)))
            if 0 <= seconds <= MAX_SPAN:
                found[session] = seconds
    return found
