"""Sessions that other hosts bring here, from their offer until they go on.

A host that may is an operator like any other: it joined by an invitation, with the
rights `move` and `create`. It brings what it has made itself: the key that its channel
has proven is the one that signed the image.

    offer    what stands in the way here, before anything is stopped there
    parcel   image and logbook, from the byte on that is missing here
    commit   the relay is asked for the next life; only then anything goes on here
    drop     what was brought is removed: the session goes on where it was

It may also bring a copy of a session that goes on there, to be kept in case that host
dies (linux/stored/kept_copies.py). Who may bring sessions may have one go on from its
copy, once the relay grants its next life:

    restore  a copy becomes a parcel, and is committed as such

If the session cannot go on here after its next life was granted to us, that is given
back: the host that brought it may claim it at once.
"""

import asyncio
import contextlib
from collections.abc import Awaitable, Callable

from holdfast.aio.channel import Sealed
from holdfast.aio.log import log
from holdfast.host import copies_here
from holdfast.host.guests import Guest
from holdfast.host.lease_driver import SILENT, Leases
from holdfast.host.move_offers import blockers
from holdfast.linux import arrived_session
from holdfast.linux.stored import kept_copies, parcels
from holdfast.linux.stored.brought_operators import enrol_brought
from holdfast.linux.stored.config import settings
from holdfast.linux.stored.image_store import ImageName
from holdfast.model.envelopes import Right
from holdfast.model.errors import (
    HoldfastError,
    LeaseNeeded,
    LinkEnded,
    MalformedMessage,
    NoKeeper,
    ParcelRefused,
    StillAlive,
    Unsettled,
)
from holdfast.model.ids import Incarnation, host_id, parse_session_id
from holdfast.model.session_record import as_facts
from holdfast.model.session_requests import (
    CommitMove,
    DropMove,
    OfferMove,
    Recover,
    RestoreCopy,
    SendParcel,
    facts_of,
)
from holdfast.wire.host_requests import Packet, packet_bytes
from holdfast.wire.image_manifest import MAX_MANIFEST

WRITTEN = 1024 * 1024
"""Bytes of a parcel that are written at once: a thread does it each time."""

IDLE = 30.0
"""Seconds in which the next bytes of a parcel must come."""

Arriving = OfferMove | SendParcel | CommitMove | DropMove | RestoreCopy


class Arrivals:
    """What other hosts bring."""

    def __init__(self, leases: Leases) -> None:
        self._leases = leases

    async def answer(
        self,
        guest: Guest,
        sealed: Sealed,
        asked: Arriving,
        enrolled: Callable[[], Awaitable[None]],
    ) -> Packet:
        """Do what a host asks for that may bring sessions; return the answer.

        `enrolled` is called when somebody new may come by the relays.

        Raises:
            Forbidden: It may not.
            HoldfastError: It cannot be done, and why.

        """
        for right in (Right.MOVE, Right.CREATE):
            guest.demand(right, None)
        match asked:
            case OfferMove():
                found = await asyncio.to_thread(blockers, guest, asked)
                return {"ok": True, "blockers": [[*one] for one in found]}
            case SendParcel():
                return await self._receive(guest, sealed, asked, enrolled)
            case CommitMove():
                return await self._commit(guest, _name(asked))
            case DropMove():
                await asyncio.to_thread(_dropped, _name(asked), sealed.peer)
                return {"ok": True}
            case RestoreCopy():  # pragma: no branch
                return await self._restore(guest, asked, enrolled)

    # ── bytes ─────────────────────────────────────────────────────────────

    async def _receive(
        self,
        guest: Guest,
        sealed: Sealed,
        asked: SendParcel,
        enrolled: Callable[[], Awaitable[None]],
    ) -> Packet:
        if not 0 < asked.papers <= parcels.MAX_PAPERS:
            raise MalformedMessage("parcel", "its papers are too large")
        if not 0 < asked.manifest <= MAX_MANIFEST + parcels.MAX_PAPERS:
            raise MalformedMessage("parcel", "its manifest is too large")
        stream = _Stream(sealed)
        await sealed.send(packet_bytes({"ok": True}))
        papers = await stream.exactly(asked.papers)
        signed = await stream.exactly(asked.manifest)
        limit = settings().images_size
        begin = kept_copies.receive if asked.copy else parcels.receive
        parcel = await asyncio.to_thread(
            begin, _name(asked), sealed.peer, papers, signed, limit
        )
        with parcel:
            if asked.copy:
                await asyncio.to_thread(copies_here.demand_fitting, parcel)
            else:
                # Who is attached comes at once, and waits here for the session.
                await asyncio.to_thread(enrol_brought, parcel, guest.id)
                await enrolled()
            here = await asyncio.to_thread(parcel.received)
            await sealed.send(packet_bytes({"ok": True, "from": here}))
            left = parcel.size - here
            while left:
                data = await stream.about(min(left, WRITTEN))
                await asyncio.to_thread(parcel.write, data)
                left -= len(data)
            keep = copies_here.keep if asked.copy else _finished
            await asyncio.to_thread(keep, parcel, limit)
        what = "session.copied" if asked.copy else "session.received"
        log(what, session=asked.id, image=asked.image, by=guest.id)
        return {"ok": True, "whole": True}

    # ── the lease ─────────────────────────────────────────────────────────

    async def _commit(self, guest: Guest, name: ImageName) -> Packet:
        living = await asyncio.to_thread(arrived_session.living, name.session)
        key = guest.enrolled.public_key
        if living:
            # It was asked before, and the answer was lost.
            return {"ok": True, "incarnation": living}
        with await asyncio.to_thread(parcels.find, name, key) as parcel:
            if not parcel.is_whole:
                raise ParcelRefused("it is not whole")
            await asyncio.to_thread(demand_continues, parcel)
            wish = Recover(origin=host_id(parcel.sender))
            return await self._begin(guest, parcel, wish)

    async def _restore(
        self, guest: Guest, asked: RestoreCopy, enrolled: Callable[[], Awaitable[None]]
    ) -> Packet:
        """Have a session go on from the copy of it that is here."""
        found = await asyncio.to_thread(kept_copies.find, asked.wanted)
        if await asyncio.to_thread(arrived_session.living, found.name.session):
            raise StillAlive(found.told.incarnation, "running here")
        wish = Recover(name=asked.name or None, open_files=asked.open_files)
        with await asyncio.to_thread(kept_copies.stage, found) as parcel:
            demand_continues(parcel)
            answer = await self._begin(guest, parcel, wish)
            await asyncio.to_thread(enrol_brought, parcel, guest.id)
        await enrolled()
        await asyncio.to_thread(kept_copies.forget, found, int(answer["incarnation"]))
        return {**answer, "copy": as_facts(found.told)}

    async def _begin(
        self, guest: Guest, parcel: parcels.Parcel, wish: Recover
    ) -> Packet:
        session, seen = parcel.manifest.session, parcel.manifest.incarnation
        relay = await asyncio.to_thread(arrived_session.relay_of, parcel)
        try:
            life, expires = await self._leases.claim(
                session, relay, seen, parcel.granted()
            )
        except TimeoutError:
            raise LeaseNeeded(session, SILENT) from None
        parcel.grant(life)
        try:
            by = arrived_session.Beginner(guest.id, guest.enrolled.token())
            made = await asyncio.to_thread(
                arrived_session.begin, by, parcel, (life, expires), wish
            )
        except (Unsettled, NoKeeper, OSError) as error:
            # It may go on here at any moment: who asks again is told.
            raise LeaseNeeded(session, str(error)) from error
        except HoldfastError as error:
            log("session.returned", session=session, why=str(error))
            await self._give_back(parcel, relay, life)
            raise
        log("session.arrived", session=session, incarnation=life, by=guest.id)
        await asyncio.to_thread(parcel.remove)
        return {"ok": True, **facts_of(made)}

    async def _give_back(
        self, parcel: parcels.Parcel, relay: str, life: Incarnation
    ) -> None:
        """Let the host that brought it claim it again."""
        session, sender = parcel.manifest.session, host_id(parcel.sender)
        with contextlib.suppress(HoldfastError, OSError, TimeoutError):
            await self._leases.pass_on(session, relay, life, [sender], releases=True)
        await asyncio.to_thread(parcel.uninstall)


class _Stream:
    """The bytes that follow a request."""

    def __init__(self, sealed: Sealed) -> None:
        self._sealed = sealed
        self._held = b""

    async def some(self, most: int) -> bytes:
        """Return the next bytes, at most so many."""
        if not self._held:
            async with asyncio.timeout(IDLE):
                self._held = await self._sealed.receive()
            if not self._held:
                raise LinkEnded("the parcel was cut")
        found, self._held = self._held[:most], self._held[most:]
        return found

    async def about(self, size: int) -> bytes:
        """Return so many bytes; less only if the stream is cut before."""
        found = bytearray()
        try:
            while len(found) < size:
                found += await self.some(size - len(found))
        except (HoldfastError, OSError):
            if not found:
                raise
        return bytes(found)

    async def exactly(self, size: int) -> bytes:
        """Return exactly so many bytes."""
        found = bytearray()
        while len(found) < size:
            found += await self.some(size - len(found))
        return bytes(found)


def _finished(parcel: parcels.Parcel, _limit: int) -> None:
    parcel.finish()


def demand_continues(parcel: parcels.Parcel) -> None:
    """Do nothing if the logbook that was brought goes on where the one here ends.

    Raises:
        Unavailable: It does not.

    """
    if not parcels.continues(parcel):
        raise ParcelRefused("its logbook does not go on where the one here ends")


def _name(asked: SendParcel | CommitMove | DropMove) -> ImageName:
    return ImageName.parse(f"{parse_session_id(asked.id)}.{asked.image}")


def _dropped(name: ImageName, sender: bytes) -> None:
    with contextlib.suppress(ParcelRefused), parcels.find(name, sender) as parcel:
        if parcel.granted() is None:
            parcel.remove()
