"""The logbook's file: whole lines or none, and synced when asked."""

import errno
import os

from holdfast.core.logbook import Recovered, recover
from holdfast.model.ids import SessionId


class LogFile:
    """One session's logbook on disk."""

    def __init__(self, path: str | os.PathLike[str], session: SessionId) -> None:
        flags = os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW | os.O_CLOEXEC
        self._fd = os.open(path, flags, 0o600)
        self._size = os.fstat(self._fd).st_size
        self._session = session

    def recover(self) -> Recovered:
        """Read what is there, cut off what is torn, and make the rest durable."""
        raw = os.pread(self._fd, self._size, 0)
        recovered = recover(raw, self._session)
        if recovered.torn:
            self._size -= recovered.torn
            os.ftruncate(self._fd, self._size)
        if raw:  # A new book has nothing to lose, and its birth need not wait.
            self.sync()
        return recovered

    def append(self, line: bytes) -> None:
        """Write one line; on failure, leave the file as it was."""
        data = line + b"\n"
        written = -1
        try:
            written = os.write(self._fd, data)
        finally:
            if written != len(data):
                os.ftruncate(self._fd, self._size)
        if written != len(data):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        self._size += len(data)

    def sync(self) -> None:
        """Make everything written durable."""
        os.fdatasync(self._fd)
