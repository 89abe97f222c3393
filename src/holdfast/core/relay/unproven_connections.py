"""A limit on connections that have not identified themselves.

Theory of operation
-------------------
A connection costs a little until it is proven or turned away, and anyone can
connect. So unproven connections are counted, in total and by source address; one
more than the limit is closed before a byte of it is read. An IPv6 address counts
by its /64, which is what one household has. On one machine all connections come
from the same address; there users are counted, each as a source.

A few places are reserved for the relay's own host, which has to get in even under
a flood.

I1  Never more than `total` are inside, and never more than `per_source` of one
    source; our own host may be KEPT more.
I2  Each connection leaves once, and then its place is free.
I3  A limit that is reached turns away only the newcomer.
"""

import ipaddress
from collections import Counter
from dataclasses import dataclass

TOTAL = 1024
"""Connections not proven yet: some megabytes, and gone within seconds."""

PER_SOURCE = 64
"""Of one source: a household whose machines all come back at once."""

KEPT = 32
"""Places for our own host alone: one for its link and some for those it meets."""


@dataclass(frozen=True, slots=True)
class Place:
    """The place of one unproven connection, until it leaves."""

    source: str


class UnprovenConnections:
    """The connections that are not proven yet."""

    def __init__(self, total: int = TOTAL, per_source: int = PER_SOURCE) -> None:
        self._total = total
        self._per_source = per_source
        self.inside = 0
        """How many there are now."""

        self._sources: Counter[str] = Counter()

    def enter(self, address: str, *, is_own_host: bool = False) -> Place | None:
        """Admit a connection from `address`; None if there is no room.

        An empty address is no source, and counts in the total only. What
        `user_source` returned serves as an address too.
        """
        source = source_of(address)
        kept = KEPT if is_own_host else 0
        is_crowded = source and self._sources[source] >= self._per_source + kept
        if self.inside >= self._total + kept or is_crowded:
            return None
        self.inside += 1
        if source:
            self._sources[source] += 1
        return Place(source)

    def leave(self, place: Place) -> None:
        """Give a place back."""
        self.inside -= 1
        if place.source:
            self._sources[place.source] -= 1
            if not self._sources[place.source]:
                del self._sources[place.source]


def user_source(uid: int) -> str:
    """Return what a user of this machine is counted by."""
    return f"user {uid}"


def source_of(address: str) -> str:
    """Return what an address is counted by."""
    try:
        parsed = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        return address
    if isinstance(parsed, ipaddress.IPv6Address):
        if parsed.ipv4_mapped is not None:
            return str(parsed.ipv4_mapped)
        return str(ipaddress.ip_network((parsed, 64), strict=False))
    return str(parsed)


def is_loopback(address: str) -> bool:
    """Tell whether an address never leaves this machine. A name does not count."""
    try:
        parsed = ipaddress.ip_address(address.strip("[]"))
    except ValueError:
        return False
    if isinstance(parsed, ipaddress.IPv6Address) and parsed.ipv4_mapped is not None:
        return parsed.ipv4_mapped.is_loopback
    return parsed.is_loopback
