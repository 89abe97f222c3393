"""Copies of other hosts' sessions: what is refused before one is kept here.

A copy that could not go on here is of no use when its host is dead, so that is found
out while it lives.
"""

from holdfast.host.move_offers import misfits
from holdfast.linux import arrived_session
from holdfast.linux.stored import kept_copies, relays
from holdfast.linux.stored.parcels import Parcel
from holdfast.model.errors import ParcelRefused
from holdfast.model.text import printable


def demand_fitting(parcel: Parcel) -> None:
    """Do nothing if a copy of which the first bytes have come could go on here.

    Raises:
        Unavailable: It could not; what has come of it is removed.

    """
    found = [what for what, _ in misfits(parcel.manifest)]
    if arrived_session.living(parcel.manifest.session):
        found.append("the session runs here")
    if found:
        parcel.remove()
        raise ParcelRefused("; ".join(found))


def keep(parcel: Parcel, limit: int) -> None:
    """Keep a copy of which all has come; older ones make room for it.

    Raises:
        PeerError: It is not as it was made.
        Unavailable: Nobody here could claim its session, or the disk is full.

    """
    parcel.finish()
    relay = arrived_session.relay_of(parcel)
    if relay not in relays.written_down():
        parcel.remove()
        raise ParcelRefused(f"the host does not use {printable(relay, 100)}")
    kept_copies.trim(limit)
