"""A session that stands still, and the record by which it goes on again.

The record is a file beside the session's log: whoever holds the session next can
thaw what its predecessor froze, and a holder killed in the middle of freezing
leaves a record of all it may have stopped.
"""

import contextlib
import json
import os
from pathlib import Path

from holdfast.linux import freezing, places
from holdfast.linux.cgroups import SessionCgroup
from holdfast.linux.process_table import Tree
from holdfast.model.ids import SessionId

MAX_RECORD = 4 * 1024 * 1024
"""Bytes of a record that is read: some hundred thousand processes."""


class Halting:
    """Stops and continues everything that runs in one session."""

    def __init__(self, session: SessionId, leader: int, cgroup: str = "") -> None:
        self._session = session
        self._leader = leader
        self._cgroup = SessionCgroup(Path(cgroup)) if cgroup else None

    @property
    def _path(self) -> Path:
        # Looked up when it is needed: few sessions are ever made to stand still.
        return places.session_frozen(self._session)

    def freeze(self) -> freezing.Frozen:
        """Stop every process of the session; what could not be stopped is named."""
        before = self._recorded()
        tree = Tree.of(self._leader, self._session)
        frozen = freezing.freeze(tree, self._cgroup, self._keep)
        if before is not None:
            frozen = freezing.joined(before, frozen)
        self._keep(frozen)
        return frozen

    def thaw(self) -> int:
        """Let go on what was stopped; return how many processes that were."""
        record = self._recorded()
        woken = 0 if record is None else freezing.thaw(record)
        self._path.unlink(missing_ok=True)
        return woken

    def tidy(self) -> None:
        """Remove the cgroup of a session that is over, if nothing is in it."""
        if self._cgroup is not None:
            self._cgroup.remove()

    def _recorded(self) -> freezing.Frozen | None:
        try:
            raw = self._path.read_bytes()[:MAX_RECORD]
            return freezing.Frozen.from_facts(json.loads(raw))
        except (OSError, ValueError):
            return None

    def _keep(self, frozen: freezing.Frozen) -> None:
        draft = self._path.with_suffix(".frozen.new")
        # A full disk must not keep anybody from stopping what runs wild.
        with contextlib.suppress(OSError):
            _write(draft, json.dumps(frozen.to_facts()).encode())
            draft.replace(self._path)


def _write(path: Path, data: bytes) -> None:
    flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC
    fd = os.open(path, flags, 0o600)
    try:
        os.write(fd, data)
    finally:
        os.close(fd)
