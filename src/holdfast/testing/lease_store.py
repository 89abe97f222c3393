"""A store of leases in memory, which fails when told to."""

from holdfast.core.relay.lease_registry import Record
from holdfast.model.errors import StoreFailed
from holdfast.model.ids import HostId, SessionId
from holdfast.ports.lease_store import Kept


class MemoryLeaseStore:
    """Leases for as long as the object lives."""

    def __init__(self) -> None:
        self.is_full = False
        self._records: dict[SessionId, Record] = {}
        self._heirs: dict[SessionId, frozenset[HostId]] = {}

    def load(self) -> Kept:
        """Return everything that was written."""
        return Kept(tuple(self._records.values()), dict(self._heirs))

    def put(self, record: Record) -> None:
        """Write `record` in place of the session's former one.

        Raises:
            Unavailable: The store is full.

        """
        self._check(record.session)
        self._records[record.session] = record

    def entrust(self, session: SessionId, hosts: frozenset[HostId]) -> None:
        """Write to whom a session is entrusted.

        Raises:
            Unavailable: The store is full.

        """
        self._check(session)
        self._heirs[session] = hosts

    def forget(self, session: SessionId) -> None:
        """Delete everything about a session.

        Raises:
            Unavailable: The store is full.

        """
        self._check(session)
        self._records.pop(session, None)
        self._heirs.pop(session, None)

    def close(self) -> None:
        """Do nothing: what is here stays."""

    def _check(self, session: SessionId) -> None:
        if self.is_full:
            raise StoreFailed(session)
