"""One remote operator: admitted, its requests answered, connected to its session.

A bridge ends the sealed channel. The operator says what it is for (wire.opening):
the host, of which it then asks, packet by packet (wire.host_requests), or a session, at
once or after such questions. From there on the bridge carries bytes between the
channel and the holder's socket and reads none of them, but for who the operator
says it is (core.input.introduction). It never holds more than what it has just read
from one side and the other has not taken: a slow guest slows down only itself, and
the holder knows what to do with a slow client.

A revoked operator is hung up on at once, with that code.
"""

import asyncio
import contextlib
import os
import socket
from collections.abc import Awaitable, Callable

from holdfast.aio.carrier import Carrier
from holdfast.aio.channel import Accepted, Sealed, accept_channel
from holdfast.aio.first_of import first_of
from holdfast.aio.log import log
from holdfast.core.input.introduction import Introduction
from holdfast.crypto.identity import Identity
from holdfast.crypto.local_proof import TOKEN, local_proof
from holdfast.host import host_requests
from holdfast.host.arrivals import Arrivals, Arriving
from holdfast.host.guests import Guest, demand_not_gone, guest_of, wall
from holdfast.host.holder_visit import holder_socket
from holdfast.linux.stored import invites, operators
from holdfast.model import errors
from holdfast.model.ids import SessionId, actor_id, parse_session_id
from holdfast.model.session_requests import Join, OpenSession, Request, Rotate, Terms
from holdfast.wire import opening
from holdfast.wire.codec import encode, refusal
from holdfast.wire.frames import FrameKind
from holdfast.wire.host_requests import Packet, PacketReader, packet_bytes
from holdfast.wire.host_requests import refusal as refused_packet

IDLE = 30.0
"""Seconds in which an operator that has come in must say what it wants."""

PATIENCE = 8.0
"""Seconds in which a holder that hangs is noticed and replaced."""

READ = 128 * 1024
"""Bytes taken from a holder at once: two full messages of a channel."""

MAX_NAMESAKES = 100
"""Names tried for an operator whose name is taken."""

_STEP = 0.01
_LED = packet_bytes({"ok": True})


class Bridge:
    """One operator's channel."""

    def __init__(
        self,
        us: Identity,
        enrolled: Callable[[], Awaitable[None]],
        arrivals: Arrivals | None = None,
    ) -> None:
        """Serve as `us`; call `enrolled` when a new operator may come by the relays."""
        self._enrolled = enrolled
        self._arrivals = arrivals
        self.public_key = b""
        """Whose key was proven; empty until then."""

        self.actor = ""
        """Who that is; empty until it was led to a session."""

        self.session: SessionId | None = None
        """Where the operator was led; None while it only asks."""

        self.bytes_in = 0
        self.bytes_out = 0
        self._us = us
        self._sealed: Sealed | None = None
        self._reader = PacketReader()

    async def run(self, carrier: Carrier) -> None:
        """Serve an operator to the end. Cancelling hangs up on it."""
        try:
            accepted = await accept_channel(carrier, self._us, _secret_of)
            self._sealed, self.public_key = accepted.sealed, accepted.sealed.peer
            await self._serve(accepted)
        except errors.HoldfastError as error:
            self._say_left(error.code)
            await carrier.close(error.code)
        except OSError as error:
            self._say_left(error.strerror or "nothing came in time")
            await carrier.close("link-ended")
        else:
            assert self._sealed is not None  # noqa: S101  # it was served
            await self._sealed.close()

    def _say_left(self, why: str) -> None:
        # Of a guest who proved no key nothing is written: a relay could fill the disk.
        if self.public_key:
            log("operator.left", actor=actor_id(self.public_key), why=why)

    async def cut(self, code: str) -> None:
        """Hang up on the operator, and say why."""
        if self._sealed is not None:
            await self._sealed.close(code)

    async def _serve(self, accepted: Accepted) -> None:
        sealed = accepted.sealed
        async with asyncio.timeout(IDLE):
            first = opening.decode(await sealed.receive())
        if not isinstance(first, opening.Open):
            raise errors.UnexpectedMessage(type(first).__name__, "opening a channel")
        try:
            if first.target != opening.HOST:
                await self._lead(sealed, first.target, opening.OPENED)
                return
            if accepted.invite_id is None:
                _known(sealed)
        except errors.HoldfastError as error:
            await sealed.send(opening.encode(opening.declined(error)))
            raise
        await sealed.send(opening.OPENED)
        await self._attend(accepted)

    async def _attend(self, accepted: Accepted) -> None:
        """Answer packets until the operator is done, or is led to a session."""
        sealed = accepted.sealed
        while (packet := await self._next_packet(sealed)) is not None:
            try:
                if not await self._answered(accepted, packet):
                    return
            except errors.HoldfastError as error:
                await sealed.send(packet_bytes(refused_packet(error)))
                if isinstance(error, errors.Revoked):
                    raise

    async def _answered(self, accepted: Accepted, packet: Packet) -> bool:
        """Answer one packet; False when nothing may follow it."""
        sealed = accepted.sealed
        asked = host_requests.request_in(packet)
        if accepted.invite_id is not None:
            return await self._invited(sealed, accepted.invite_id, asked)
        guest = _known(sealed)
        if isinstance(asked, OpenSession):
            await self._lead(sealed, asked.session, _LED)
            return False
        if isinstance(asked, Arriving) and self._arrivals is not None:
            answer = await self._arrivals.answer(guest, sealed, asked, self._enrolled)
            await sealed.send(packet_bytes(answer))
            return True
        pages = await host_requests.answer(guest, asked)
        if isinstance(asked, Rotate):
            await self._enrolled()  # It comes back with the new key at once.
        for page in pages:
            await sealed.send(packet_bytes(page))
        return True

    async def _next_packet(self, sealed: Sealed) -> Packet | None:
        """Return what the operator asks next, or None when it is done."""
        async with asyncio.timeout(IDLE):
            while (packet := self._reader.take()) is None:
                data = await sealed.receive()
                if not data:
                    return None
                self._reader.feed(data)
        return packet

    # ── joining ───────────────────────────────────────────────────────────

    async def _invited(self, sealed: Sealed, invite_id: bytes, asked: Request) -> bool:
        """Answer an operator with an invitation; False once it was used."""
        match asked:
            case Terms():
                facts = await asyncio.to_thread(_terms, sealed.peer, invite_id)
                await sealed.send(packet_bytes(facts))
                return True
            case Join():
                await self._join(sealed, invite_id)
                return False
            case _:
                raise errors.MalformedMessage("packet", "an invitation is for joining")

    async def _join(self, sealed: Sealed, invite_id: bytes) -> None:
        enrolled = await asyncio.to_thread(_enrol, sealed.peer, invite_id)
        log("operator.joined", actor=enrolled.actor.id, kind=enrolled.actor.kind.value)
        # Before it is answered: a new operator comes back at once.
        await self._enrolled()
        envelope = Guest(enrolled).envelope
        facts = {
            "ok": True,
            "operator": enrolled.actor.name,
            "actor": enrolled.actor.id,
            "host": host_requests.host_name(),
            **operators.to_facts(envelope),
        }
        await sealed.send(packet_bytes(facts))

    # ── a session ─────────────────────────────────────────────────────────

    async def _lead(self, sealed: Sealed, wanted: str, yes: bytes) -> None:
        """Lead the operator to a session, saying yes first; return when it is over.

        Raises:
            Forbidden: It may not go there.
            Unavailable: The session's holder does not answer.

        """
        session, guest = parse_session_id(wanted), _known(sealed)
        if not guest.may_anything(session):
            raise errors.NotAllowed(guest.id, "observe")
        await asyncio.to_thread(demand_not_gone, session)
        token = guest.enrolled.token()
        with await _dialled(session) as holder:
            self.session, self.actor = session, guest.id
            log("operator.came", actor=guest.id, session=session)
            await sealed.send(yes)
            introduction = Introduction(
                guest.id, lambda nonce: local_proof(token, session, nonce)
            )
            with contextlib.suppress(errors.HoldfastError, OSError):
                await first_of(
                    self._inward(sealed, holder, introduction),
                    self._outward(sealed, holder, introduction),
                )
            log("operator.went", actor=guest.id, session=session)

    async def _inward(
        self, sealed: Sealed, holder: socket.socket, introduction: Introduction
    ) -> None:
        loop = asyncio.get_running_loop()
        data = self._reader.rest() or await sealed.receive()
        while data:
            self.bytes_in += len(data)
            if not introduction.is_over:
                try:
                    data = introduction.from_operator(data)
                except errors.HoldfastError as error:
                    await sealed.send(encode(refusal(error, FrameKind.IDENTIFY)))
                    raise
            await loop.sock_sendall(holder, data)
            data = await sealed.receive()

    async def _outward(
        self, sealed: Sealed, holder: socket.socket, introduction: Introduction
    ) -> None:
        loop = asyncio.get_running_loop()
        while data := await loop.sock_recv(holder, READ):
            self.bytes_out += len(data)
            await sealed.send(introduction.from_holder(data))


async def _dialled(session: SessionId) -> socket.socket:
    """Connect to a session's holder, waiting a moment for one that is replaced."""
    loop = asyncio.get_running_loop()
    deadline = loop.time() + PATIENCE
    while True:
        try:
            return await holder_socket(session)
        except errors.SessionUnreachable:
            if loop.time() >= deadline:
                raise
            await asyncio.sleep(_STEP)


def _known(sealed: Sealed) -> Guest:
    """Return whose key a channel has proven, as things stand now."""
    guest = guest_of(sealed.peer)
    if guest is None:
        raise errors.Revoked(host_requests.host_name())
    return guest


def _secret_of(invite_id: bytes) -> bytes | None:
    invite = invites.find(invite_id)
    return None if invite is None else invite.secret


def _terms(public_key: bytes, invite_id: bytes) -> Packet:
    """Say what joining would give to the owner of a key; nothing is changed."""
    invite = invites.open_to(invite_id, actor_id(public_key), wall())
    known = operators.by_key(public_key)
    envelope = invite.envelope if known is None else Guest(known).envelope
    return {
        "ok": True,
        "operator": _free_name(invite.name) if known is None else known.actor.name,
        "host": host_requests.host_name(),
        "known": known is not None,
        "good_until_ms": round(invite.expires_wall * 1000),
        **operators.to_facts(envelope),
    }


def _free_name(wanted: str) -> str:
    """Return the name under which an operator would be enrolled now."""
    names = (_numbered(wanted, number) for number in range(1, MAX_NAMESAKES))
    return next((name for name in names if not operators.is_taken(name)), wanted)


def _numbered(name: str, number: int) -> str:
    return name if number == 1 else f"{name}-{number}"


def _enrol(public_key: bytes, invite_id: bytes) -> operators.Enrolled:
    """Make the owner of a key known by an invitation; once, or again the same."""
    actor = actor_id(public_key)
    invite = invites.use(invite_id, actor, wall())
    terms = operators.Terms(invite_id.hex(), invite.envelope)
    for number in range(1, MAX_NAMESAKES):
        known = operators.by_key(public_key)
        if known is not None:
            return known  # It was answered and did not hear it, or has come before.
        name = _numbered(invite.name, number)
        with contextlib.suppress(errors.OperatorTaken):
            return operators.enrol(
                name, invite.kind, public_key, None, os.urandom(TOKEN), terms
            )
    raise errors.OperatorTaken(invite.name)
