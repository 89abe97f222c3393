"""Copies of sessions that other hosts keep, in case this one dies.

A copy is sent by this host, whose key the other one has let in, as a session is that
moves (client/departure.py). The session goes on here meanwhile; the other host is named
at the relay as one that may come next, which it may once our lease has run out.
"""

import asyncio
import os
from collections.abc import Callable

from holdfast.client import departing_parcel, host, hosts, images
from holdfast.client.departing_parcel import DepartingParcel
from holdfast.client.host_link import HostLink, reach_host
from holdfast.core.session.recovery import read_facts
from holdfast.crypto.identity import Identity
from holdfast.linux.stored import move_notes
from holdfast.linux.stored.host_key import host_seed
from holdfast.linux.stored.image_store import ClaimedImage, ImageName
from holdfast.linux.stored.small_files import read_file
from holdfast.model.errors import (
    CopyRefused,
    LeaseNeeded,
)
from holdfast.model.session_requests import (
    PassLease,
    Request,
)
from holdfast.wire.host_requests import error_from

PATIENCE = 15.0
"""Seconds for a relay to answer the host of here."""

CHECKING = 60.0
"""Seconds for the other host to read all of what has come."""

MAX_FACTS = 1 << 26

Progress = Callable[[int, int], None]
"""Told of the bytes that were sent, and of how many there are."""


def send(text: str, to: str, progress: Progress) -> int:
    """Have another host keep a copy of an image of this host; return its bytes.

    Raises:
        UsageError: There is no such image or host, or its session is not movable.
        Forbidden: We are no person, or that host does not let us in.
        Unavailable: The session moves, or somebody cannot be reached.

    """
    images.demand_person()
    target, name = hosts.by_name(to.removeprefix("@")), images.whole_image(text)
    label = images.named(name)
    if move_notes.find(name.session) is not None:
        raise CopyRefused(str(name), target.name, "its session moves")
    lock = move_notes.lock(name.session)
    try:
        with departing_parcel.claim(name) as image:
            relay = _relay_of(image)
            if not relay:
                why = f"{label} was not started with --movable"
                raise CopyRefused(str(name), target.name, why)
            parcel = departing_parcel.pack(image, label)
            asyncio.run(_sent(target, parcel, progress))
            # Only once it is there: who has no copy could not go on with it.
            life = image.manifest.incarnation
            asked_here(name, PassLease(name.session, relay, life, (target.id,)))
    finally:
        os.close(lock)
    return parcel.size


async def _sent(
    to: hosts.KnownHost, parcel: DepartingParcel, progress: Progress
) -> None:
    link = await reach_host(to, Identity.from_seed(host_seed()))
    try:
        await _carried(link, parcel, progress)
    finally:
        await link.close()


async def _carried(link: HostLink, parcel: DepartingParcel, progress: Progress) -> None:
    await link.ask(parcel.request._replace(copy=True))
    await link.send(parcel.papers + parcel.manifest)
    answer = await link.hear()
    sent = int(str(answer.get("from") or 0))
    for piece in parcel.pieces(sent):
        await link.send(piece)
        sent += len(piece)
        progress(sent, parcel.size)
    await link.hear(CHECKING)


def _relay_of(image: ClaimedImage) -> str:
    raw = read_file(f"{image.folder}/{departing_parcel.START}", MAX_FACTS)
    return read_facts(raw, image.manifest.session).authority


def asked_here(name: ImageName, asked: Request) -> dict[str, object]:
    """Ask the host of this machine about the lease of a session.

    Raises:
        HoldfastError: It refuses, or there is none.

    """
    answer = host.request(asked, PATIENCE)
    if answer is None:
        why = "no host runs here; `holdfast up` starts it"
        raise LeaseNeeded(name.session, why)
    if answer.get("ok") is not True:
        raise error_from(answer)
    return answer
