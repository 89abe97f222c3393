"""Notices about this host's policy, for every client.

A page asks every few seconds, and reading a long policy takes a tenth of a second:
what was found is kept until one of the files has changed.
"""

import contextlib
import os

from holdfast.linux.stored import host_book, policy_files
from holdfast.model.errors import HoldfastError
from holdfast.model.text import printable

MAX_NOTICE = 500
"""Characters of one notice: it names a file, a line and what is wrong there."""

Stamps = tuple[tuple[int, int, int], ...]


class PolicyNotices:
    """What was found out last, and of which files."""

    def __init__(self) -> None:
        self._of: Stamps | None = None
        self._told: list[str] = []

    def told(self) -> list[str]:
        """Return what people have to know now; nothing if all is well."""
        try:
            of = _stamps()
            if of != self._of:
                found = policy_files.standing().told()
                self._told = [printable(one, MAX_NOTICE) for one in found]
                self._of = of
        except (HoldfastError, OSError) as error:
            return [printable(str(error), MAX_NOTICE)]
        return self._told


def _stamps() -> Stamps:
    paths = (
        policy_files.candidate_path(),
        policy_files.record_path(),
        host_book.book_path(),
    )
    found = []
    for path in paths:
        stamp = (0, 0, 0)
        with contextlib.suppress(OSError):
            one = os.stat(path)  # noqa: PTH116  # strings, as holders have them
            stamp = (one.st_mtime_ns, one.st_size, one.st_ino)
        found.append(stamp)
    return tuple(found)
