"""Freezes a session, and keeps the record needed to thaw it.

The record is a file beside the session's socket: the next holder of the session can
thaw what its predecessor froze. It is written before anything is stopped, and again
before each further signal, so a holder killed in the middle leaves a record of all
it may have stopped.

If the record cannot be written because the file system is full, the session is frozen
all the same: what fills the disk may be what has to be stopped. The holder then has
the record only in memory. A successor that finds none, and knows that the session was
to be frozen, treats everything that is stopped as stopped by us: that a job a user
had suspended is resumed as well is the lesser harm.
"""

import contextlib
import json
from pathlib import Path

from holdfast.linux import freezer, limits
from holdfast.linux.cgroups import SessionCgroup
from holdfast.linux.process_table import Tree
from holdfast.linux.stored import places
from holdfast.linux.stored.small_files import replace_file
from holdfast.model.errors import HoldfastError
from holdfast.model.ids import SessionId
from holdfast.model.session_record import CapsuleRecord

MAX_RECORD = 4 * 1024 * 1024
"""Bytes of a record that is read: some hundred thousand processes."""


class Freezer:
    """Stops and continues everything that runs in one session."""

    def __init__(
        self,
        session: SessionId,
        leader: int,
        cgroup: str = "",
        capsule: CapsuleRecord | None = None,
    ) -> None:
        self._session = session
        self._leader = leader
        self._capsule = capsule
        self.cgroup = SessionCgroup(Path(cgroup)) if cgroup else None
        """The session's own, if it was born in one."""

        self._record: freezer.Frozen | None = None
        """The newest record, also where it could not be written."""

    @property
    def _path(self) -> Path:
        # Looked up when it is needed: few sessions are ever made to stand still.
        return places.session_frozen(self._session)

    def take_up(self, *, is_frozen: bool) -> None:
        """Find out what a predecessor left, and make it so.

        `is_frozen` is what it had noted. It may have died before all stood still, or
        before all went on.
        """
        if is_frozen:
            self._record = self._recorded() or self._everything_that_stands()
            self.freeze()
        elif self._has_record():
            self.thaw()

    def prepare(self) -> None:
        """Leave a record that says that nothing was stopped yet, if there is none.

        It is called before the session is noted as frozen: so that
        no record means that it could not be written.
        """
        if self._known() is None:
            self._keep(freezer.NOTHING)

    def freeze(self) -> freezer.Frozen:
        """Stop every process of the session; what could not be stopped is named."""
        before = self._known() or freezer.NOTHING
        frozen = freezer.freeze(
            self._tree(),
            self.cgroup,
            lambda record: self._keep(freezer.joined(before, record)),
        )
        frozen = freezer.joined(before, frozen)
        self._keep(frozen)
        return frozen

    def thaw(self) -> freezer.Thawed:
        """Let go on what was stopped; what could not be woken is named."""
        record = self._known() or freezer.NOTHING
        thawed = freezer.thaw(record, self.cgroup)
        if not thawed.is_held:
            self._record = None
            with contextlib.suppress(OSError, HoldfastError):
                self._path.unlink(missing_ok=True)
        return thawed

    def tidy(self) -> None:
        """Remove the cgroups of a session that is over, if nothing is in them."""
        if self.cgroup is not None:
            self.cgroup.remove()
        if self._capsule is not None and self._capsule.limited:
            limits.remove(limits.recorded(self._capsule.limited))

    def _tree(self) -> Tree:
        return Tree.of(self._leader, self._session, self._capsule)

    def _everything_that_stands(self) -> freezer.Frozen:
        return freezer.standing(self._tree())

    def _known(self) -> freezer.Frozen | None:
        return self._record if self._record is not None else self._recorded()

    def _has_record(self) -> bool:
        try:
            return self._path.exists()
        except (OSError, HoldfastError):
            return False  # The place has become unfit.

    def _recorded(self) -> freezer.Frozen | None:
        try:
            raw = self._path.read_bytes()[:MAX_RECORD]
            return freezer.Frozen.from_facts(json.loads(raw))
        except (OSError, ValueError, TypeError, HoldfastError):
            return None

    def _keep(self, frozen: freezer.Frozen) -> None:
        self._record = frozen
        # A full disk must not prevent a freeze.
        with contextlib.suppress(OSError, HoldfastError):
            path = self._path
            facts = json.dumps(frozen.to_facts()).encode()
            try:
                replace_file(str(path), facts, is_durable=False)
            except OSError:
                # An older one would hide that more was stopped since.
                path.unlink(missing_ok=True)
