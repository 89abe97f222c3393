"""The storage in which a relay keeps what must outlive it.

Every call is made from one thread, in order, and what it wrote is on stable
storage when it returns. docs/spec/leases.md, section 5.4, says what depends on
that.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

from holdfast.core.relay.lease_registry import Record
from holdfast.model.ids import HostId, SessionId


@dataclass(frozen=True, slots=True)
class Kept:
    """Everything that a store holds."""

    records: tuple[Record, ...]
    heirs: Mapping[SessionId, frozenset[HostId]]


class LeaseStore(Protocol):
    """Durable records of leases."""

    def load(self) -> Kept:
        """Return everything that was written."""
        ...

    def put(self, record: Record) -> None:
        """Write `record` in place of the session's former one.

        Raises:
            Unavailable: It is known not to have been written. Any other error
                means that nobody knows: the relay must stop.

        """
        ...

    def entrust(self, session: SessionId, hosts: frozenset[HostId]) -> None:
        """Write to whom a session is entrusted, in place of what was written.

        Raises:
            Unavailable: As for `put`.

        """
        ...

    def forget(self, session: SessionId) -> None:
        """Delete everything about a session.

        Raises:
            Unavailable: As for `put`.

        """
        ...

    def close(self) -> None:
        """Let go of the storage. Nothing is lost if this is never called."""
        ...
