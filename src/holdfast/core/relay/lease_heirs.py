"""The hosts that may ask for a movable session.

Theory of operation
-------------------
An id is no secret, so knowing a session's must not be enough to claim it when
its lease runs out. The first to claim a session has it; from then on its holder
says which hosts may come after it. That is kept with the lease: the holder may
die before anyone asks.

I1  A session without a holder may be claimed by any host.
I2  One with a holder, only by that holder and the hosts it was entrusted to.
I3  Only the holder entrusts; what it says replaces what was said before.
"""

from collections.abc import Mapping

from holdfast.model.ids import HostId, SessionId


class Heirs:
    """To whom each session is entrusted."""

    def __init__(self, known: Mapping[SessionId, frozenset[HostId]]) -> None:
        self._heirs = dict(known)

    def may_ask(self, session: SessionId, host: HostId, holder: HostId | None) -> bool:
        """Tell whether `host` may ask for what `holder` has."""
        if holder is None or host == holder:
            return True
        return host in self._heirs.get(session, ())

    def entrust(self, session: SessionId, hosts: frozenset[HostId]) -> None:
        """Note what the holder said."""
        if hosts:
            self._heirs[session] = hosts
        else:
            self._heirs.pop(session, None)

    def forget(self, session: SessionId) -> None:
        """Forget a session that is over."""
        self._heirs.pop(session, None)
