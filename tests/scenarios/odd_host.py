"""A host that is proven, and then does not say what a host of this version says."""

import asyncio
import contextlib
import os
import queue
import threading

from holdfast.aio.carrier import Carrier
from holdfast.aio.channel import accept_channel
from holdfast.aio.relay_client import Admitted, Knocked, register
from holdfast.crypto.handshake import Accepting
from holdfast.crypto.identity import Identity
from holdfast.crypto.keys import SigningKey
from holdfast.model.errors import HoldfastError, Revoked
from holdfast.model.ids import ActorId
from holdfast.wire import opening
from holdfast.wire.channel import VERSION
from holdfast.wire.codec import encode
from holdfast.wire.messages import Goodbye

ANSWERS = {
    "another-version": encode(Goodbye("no-common-version", "we speak 7 to 9")),
    "nonsense": b"\xfe\0\0\0\0",
    "a-cut-frame": b"\x02\0\0\0\x09\x80",
}
"""What is said to the operator's HELLO, by what is wrong with it."""


class OddHost:
    """Registered at a relay from a thread of its own, for as long as we run."""

    def __init__(self, relay: str, actor: str, oddity: str) -> None:
        self._us = Identity.from_seed(os.urandom(32))
        self._admitted = Admitted(frozenset({ActorId(actor)}))
        self._relay = relay
        self._oddity = oddity
        self._ready: queue.Queue[str] = queue.Queue()
        threading.Thread(target=lambda: asyncio.run(self._serve()), daemon=True).start()
        self._ready.get(timeout=10)

    @property
    def keys(self) -> dict[str, str]:
        """What an operator has to know of it."""
        return {"public": self._us.public.hex(), "static": self._us.static_public.hex()}

    async def _serve(self) -> None:
        with contextlib.suppress(HoldfastError):  # The relay ends before we do.
            async with register(self._relay, self._us, self._admitted) as registration:
                self._ready.put("registered")
                async for knock in registration:
                    with contextlib.suppress(HoldfastError):
                        await self._answer(knock)

    async def _answer(self, knock: Knocked) -> None:
        if self._oddity == "another-identity":
            await self._pretend(await knock.answer())
            return
        sealed = (await accept_channel(await knock.answer(), self._us, _nobody)).sealed
        opening.decode(await sealed.receive())
        if self._oddity == "revoked":
            declined = opening.declined(Revoked("odd"))
            await sealed.send(opening.encode(declined))
        else:
            await sealed.send(opening.encode(opening.Opened(VERSION)))
            await sealed.receive()
            await sealed.send(ANSWERS[self._oddity])
        await sealed.close()

    async def _pretend(self, carrier: Carrier) -> None:
        """Have the right key for the handshake, and prove to be somebody else."""
        accepting = Accepting(self._us, await carrier.receive(), os.urandom(32))
        # From here on it is signed by another key, for the same handshake.
        accepting._us = Identity(  # noqa: SLF001  # nothing honest does this
            SigningKey.from_seed(os.urandom(32)), self._us.static
        )
        await carrier.send(accepting.reply())
        await carrier.receive()


def _nobody(_: bytes) -> None:
    return None
