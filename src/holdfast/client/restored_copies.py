"""A session goes on from the copy that a host keeps, if its relay grants its next life.

Either here, where we ask the host of this machine to claim it, or at another host,
which does all of it by itself.
"""

from holdfast.client import host, hosts, images
from holdfast.client.copies import asked_here
from holdfast.client.profile import our_id
from holdfast.client.wanted_session import own_token
from holdfast.linux import arrived_session
from holdfast.linux.stored import kept_copies, parcels
from holdfast.linux.stored.brought_operators import enrol_brought
from holdfast.linux.stored.image_store import ImageName
from holdfast.model.errors import (
    HoldfastError,
    LeaseNeeded,
    NoKeeper,
    ParcelRefused,
    StillAlive,
    Unsettled,
)
from holdfast.model.ids import Incarnation, host_id
from holdfast.model.image_copy import ImageCopy
from holdfast.model.session_record import record_of
from holdfast.model.session_requests import (
    ClaimLease,
    Created,
    Look,
    PassLease,
    Recover,
    RestoreCopy,
)


def is_there_newer(image: ImageName) -> bool:
    """Tell whether a copy is newer than an image of this host of the same session."""
    made = [one for one in images.listed(image.session) if one.name == image]
    ours = max((one.manifest.made_ms for one in made if one.manifest), default=0)
    copies = [one for one in kept_copies.listed() if one.session == image.session]
    return any(one.made_ms > ours for one in copies)


def restore(text: str, name: str, open_files: str) -> tuple[Created, ImageCopy]:
    """Have a session go on here from a copy, if its relay grants its next life.

    Raises:
        UsageError: There is no such copy, or its session runs here.
        Forbidden: We are no person, or may not start it.
        Unavailable: Its host may still speak for it, or its relay is not reached.

    """
    images.demand_person()
    found = kept_copies.find(text)
    if arrived_session.living(found.name.session):
        raise StillAlive(found.told.incarnation, "running here")
    wish = Recover(name=name or None, open_files=open_files)
    with kept_copies.stage(found) as parcel:
        if not parcels.continues(parcel):
            raise ParcelRefused("its logbook does not go on where the one here ends")
        made = _begun(parcel, wish)
        parcel.remove()
    kept_copies.forget(found, made.incarnation)
    return made, found.told


def restore_at(
    where: str, text: str, name: str, open_files: str
) -> tuple[Created, ImageCopy]:
    """Have a session go on at another host, from the copy that it keeps.

    Raises:
        HoldfastError: As for `restore`.

    """
    from holdfast.client.session_location import ask_far  # noqa: PLC0415  # slow to load

    host_name = hosts.by_name(where.removeprefix("@")).name
    answer = ask_far(host_name, RestoreCopy(text, name, open_files))
    return record_of(Created, answer), record_of(ImageCopy, answer.get("copy"))


def _begun(parcel: parcels.Parcel, wish: Recover) -> Created:
    name = ImageName(parcel.manifest.session, parcel.manifest.number)
    relay, was = arrived_session.relay_of(parcel), parcel.granted() or 0
    seen = parcel.manifest.incarnation
    answer = asked_here(name, ClaimLease(name.session, relay, seen, was=was))
    life = Incarnation(int(str(answer["incarnation"])))
    parcel.grant(life)
    by = arrived_session.Beginner(our_id(), own_token())
    granted = life, int(str(answer["expires_ms"])) / 1000
    try:
        made = arrived_session.begin(by, parcel, granted, wish)
    except (Unsettled, NoKeeper, OSError) as error:
        # It may go on here at any moment: who asks again is told.
        raise LeaseNeeded(name.session, str(error)) from error
    except HoldfastError:
        # It stays to be restored, here or where it comes from.
        heirs = (host_id(parcel.sender),)
        host.request(PassLease(name.session, relay, life, heirs, release=True))
        parcel.uninstall()
        raise
    enrol_brought(parcel, our_id())
    host.request(Look())  # Relays are told whom to let through.
    return made
