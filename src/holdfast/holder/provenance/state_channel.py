"""The pipe through which the session's shell reports what is set in it.

The shell opens it only at its prompts, and closes it again; we keep it open, so that
it never reaches its end and what was written waits for us. Its mode is our signal to
the shell: as long as it is executable, the shell reports everything, changed or not.

It has a name because the shell outlives us: a successor opens it again, and asks for
everything, because what had been written but not read is lost with us. While the
session dozes, others have it open, and nothing is.
"""

import contextlib
import errno
import fcntl
import os
import stat

from holdfast.core.shell.shell_state import ShellState
from holdfast.core.shell.state_messages import StateMessages, Unknown
from holdfast.linux.stored import folders
from holdfast.model.ids import SessionId

CAPACITY = 16 * 1024
"""Bytes that the kernel holds for us: a thousand sessions with what it gives by
itself would leave other programs of the same user with too little."""

CHUNK = 64 * 1024

_ASKING = stat.S_IRUSR | stat.S_IWUSR | stat.S_IXUSR
_CONTENT = stat.S_IRUSR | stat.S_IWUSR


_BORN: dict[SessionId, int] = {}
"""Pipes that are held open until their channel is made: a shell may be faster, and
what it writes while nobody has its pipe open is lost."""


def make_pipe(session: SessionId) -> str:
    """Make the pipe of a session that is being born; return its path.

    Raises:
        UsageError: The place is not ours.
        OSError: It cannot be made.

    """
    path = folders.session_pipe(session)
    os.mkfifo(path, _CONTENT)
    os.chmod(path, _ASKING)  # noqa: PTH101  # whatever the umask has taken away
    _BORN[session] = os.open(path, os.O_RDWR | os.O_NONBLOCK | os.O_CLOEXEC)
    return path


def keep_open(session: SessionId, fd: int) -> None:
    """Take over a pipe that was held open while nobody held the session."""
    _BORN[session] = fd


class StateChannel:
    """What the shell of one session says of itself."""

    def __init__(self, session: SessionId, shell: str, key: bytes) -> None:
        self._messages = StateMessages(key)
        self._fd = _open(folders.session_pipe(session), shell)
        born = _BORN.pop(session, None)
        if born is not None:
            os.close(born)
        self._is_asking: bool | None = None
        self._ask()

    @property
    def fd(self) -> int | None:
        """What to wait for; None if there is no pipe, and never will be."""
        return self._fd

    @property
    def is_settled(self) -> bool:
        """Whether the shell is not in the midst of saying something."""
        return self._messages.is_settled

    def past(self) -> tuple[int, bytes]:
        """Return what another process needs to go on listening."""
        return self._messages.past()

    def go_on(self, told: int, begun: bytes) -> None:
        """Go on where another process was, before anything is read."""
        self._messages.go_on(told, begun)
        self._ask()

    def drain(self) -> None:
        """Take all that the shell has written."""
        if self._fd is None:
            return
        with contextlib.suppress(BlockingIOError):
            while True:
                self._messages.feed(os.read(self._fd, CHUNK))

    def take(self, number: int) -> ShellState | Unknown | None:
        """Return what is set at the prompt whose mark has this number.

        None means that nothing has changed since the last one.
        """
        self.drain()
        found = self._messages.prompted(number)
        self._ask()
        return found

    def _ask(self) -> None:
        """Say by the pipe's mode whether everything is to be told."""
        wanted = self._messages.is_wanted
        if self._fd is not None and wanted is not self._is_asking:
            os.fchmod(self._fd, _ASKING if wanted else _CONTENT)
            self._is_asking = wanted


def _open(path: str, shell: str) -> int | None:
    flags = os.O_RDWR | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOFOLLOW
    try:
        fd = os.open(path, flags)
    except OSError as error:
        # Sessions of an older version have none.
        if error.errno in (errno.ENOENT, errno.ELOOP, errno.ENXIO):
            return None
        raise
    if not stat.S_ISFIFO(os.fstat(fd).st_mode):
        os.close(fd)
        return None
    # A writer that does not wait needs all of the room.
    if shell != "fish":
        with contextlib.suppress(OSError):
            fcntl.fcntl(fd, fcntl.F_SETPIPE_SZ, CAPACITY)
    return fd
