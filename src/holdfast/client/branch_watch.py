"""Watches what a branch tries to reach and writes while a command runs in it.

In a thread: packets are read as they come, and the disk is looked at, while the client
waits for the command.
"""

import os
import threading
from collections.abc import Callable
from typing import Self

from holdfast.linux.capsule import outward
from holdfast.linux.capsule.glance import Place
from holdfast.linux.stored import layer_store
from holdfast.model.ids import SessionId
from holdfast.model.preview_report import Tried  # noqa: TC001  # ditto
from holdfast.model.session_record import CapsuleRecord
from holdfast.model.session_requests import Created

MOST_WRITTEN = 2 * 1024**3
"""Bytes by which the disk may fill meanwhile: a branch's files take room on it."""

LEAST_FREE = 256 * 1024**2
"""Bytes that must be left free on it."""

_LOOK = 0.1
"""Seconds between two looks."""


class BranchWatch:
    """Sees what a branch tries to reach, and that it does not fill the disk."""

    def __init__(
        self, made: Created, place: Place, discard: Callable[[], None]
    ) -> None:
        self._discard = discard
        self._folder = layer_store.folder_of(SessionId(made.id))
        self.tried: tuple[Tried, ...] = ()
        self.left_out = 0
        self.why_not = ""
        """Why it cannot be seen what it tries to reach."""

        self.stopped = ""
        """Why it was stopped, if it was."""

        self._outward = self._opened(place)
        self._is_over = threading.Event()
        self._thread = threading.Thread(target=self._look, daemon=True)

    def _opened(self, place: Place) -> outward.OutwardWatch | None:
        capsule = CapsuleRecord(net="own", rootless=place.is_rootless)
        try:
            member = os.pidfd_open(place.member)
            try:
                return outward.watch(capsule, member)
            finally:
                os.close(member)
        except OSError as error:
            self.why_not = error.strerror or str(error)
            return None

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._is_over.set()
        self._thread.join()
        if self._outward is not None:
            seen = self._outward.close()
            self.tried, self.left_out = seen.tried(), seen.left_out

    def _look(self) -> None:
        try:
            self._watch_disk()
        except OSError as error:
            # Nothing may run in a branch that nobody watches.
            why = error.strerror or str(error)
            self.stopped = f"its files could not be watched ({why})"
            self._discard()

    def _watch_disk(self) -> None:
        free = self._free()
        while not self._is_over.wait(_LOOK):
            if self._outward is not None:
                self._outward.read()
            left = self._free()
            if free - left > MOST_WRITTEN or left < LEAST_FREE:
                written, room = (count // 10**6 for count in (free - left, left))
                self.stopped = f"the disk filled by {written} MB, and {room} were left"
                self._discard()
                return

    def _free(self) -> int:
        found = os.statvfs(self._folder)
        return found.f_bavail * found.f_frsize
