"""A relay in this process, and who dials it over real sockets."""

import asyncio
import contextlib
import re
import socket
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass, field

import msgspec
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed

from holdfast.crypto.keys import SigningKey
from holdfast.model.ids import actor_id, host_id
from holdfast.relay.caller import Caller
from holdfast.relay.leg import Leg
from holdfast.relay.peers import RelayPeers
from holdfast.relay.settings import Settings
from holdfast.wire import relay_messages as wire

NAME = "relay.example"
PATIENCE = 20.0
HOST = SigningKey.from_seed(b"h" * 32)
ANNA = SigningKey.from_seed(b"a" * 32)
BERT = SigningKey.from_seed(b"b" * 32)
OURS = host_id(HOST.public)
PLAIN = Settings(names=(NAME,), is_plain=True)


@dataclass
class Peer:
    """One end of a connection to the relay, and the relay's own."""

    talk: ClientConnection
    leg: Leg

    async def hear(self) -> wire.RelayMessage:
        """Return the next message."""
        async with asyncio.timeout(PATIENCE):
            said = await self.talk.recv()
        assert isinstance(said, bytes)
        return wire.decode(said)

    async def say(self, said: wire.RelayMessage) -> None:
        """Send a message."""
        await self.talk.send(wire.encode(said))

    async def prove(self, key: SigningKey, said: wire.Proof) -> None:
        """Answer the greeting with a signature."""
        greet = await self.hear()
        assert isinstance(greet, wire.Greet)
        said = msgspec.structs.replace(said, key=key.public)
        signature = key.sign(wire.stated(said, NAME, greet.nonce))
        await self.say(msgspec.structs.replace(said, signature=signature))

    async def ended(self) -> tuple[int, str]:
        """Return how the relay took leave."""
        async with asyncio.timeout(PATIENCE):
            with contextlib.suppress(ConnectionClosed):
                while True:
                    await self.talk.recv()
        assert self.talk.close_code is not None
        return self.talk.close_code, self.talk.close_reason or ""


@dataclass
class Relay:
    """A peers, and who has dialled."""

    peers: RelayPeers
    stack: contextlib.AsyncExitStack
    tasks: asyncio.TaskGroup
    legs: list[Leg] = field(default_factory=list)

    def enter(self, source: str = "192.0.2.1") -> tuple[Leg | None, socket.socket]:
        """Come to the door; return what the peers makes of it, and our end."""
        near, far = socket.socketpair()
        leg = self.peers.enter(Caller(source, source))
        if leg is not None:
            near.setblocking(False)  # noqa: FBT003  # as the socket has it
            loop = asyncio.get_running_loop()
            self.legs.append(leg)
            taken = loop.connect_accepted_socket(lambda: leg, near)
            self.tasks.create_task(_awaited(taken))
        else:
            near.close()
        return leg, far

    async def dial(self, role: wire.Role, source: str = "192.0.2.1") -> Peer:
        """Dial as somebody in a role."""
        leg, far = self.enter(source)
        assert leg is not None
        address = f"ws://{NAME}/v1/{role.value}"
        talk = await connect(address, sock=far, open_timeout=PATIENCE)
        self.stack.push_async_callback(talk.close)
        return Peer(talk, leg)

    async def host(self, *admitted: SigningKey, source: str = "192.0.2.9") -> Peer:
        """Register our host, which admits these."""
        peer = await self.dial(wire.Role.HOST, source)
        await peer.prove(HOST, wire.Register(bytes(32), bytes(64)))
        assert await peer.hear() == wire.Registered(OURS)
        actors = tuple(actor_id(one.public) for one in admitted)
        await peer.say(wire.Admit(resets=True, actors=actors, invites=()))
        return peer

    async def operator(self, key: SigningKey = ANNA, target: str = OURS) -> Peer:
        """Dial as an operator who wants to be joined."""
        peer = await self.dial(wire.Role.OPERATOR)
        await peer.prove(key, wire.Reach(bytes(32), target, b"", bytes(64)))
        return peer

    async def joined(self, host: Peer, operator: Peer) -> Peer:
        """Have a host come for a knock; return its end of the pair."""
        knock = await host.hear()
        assert isinstance(knock, wire.Knock)
        met = await self.dial(wire.Role.MEET)
        await met.prove(HOST, wire.Meet(bytes(32), knock.ticket, bytes(64)))
        assert await met.hear() == await operator.hear() == wire.Joined(OURS)
        return met

    def number(self, name: str) -> int:
        """Return one of the relay's numbers."""
        text = self.peers._metrics()  # noqa: SLF001  # what /metrics shows
        found = re.search(rf"^holdfast_relay_{name} (\d+)", text, re.MULTILINE)
        assert found, text
        return int(found[1])


async def _awaited(what: Awaitable[object]) -> None:
    await what


@contextlib.asynccontextmanager
async def relay(settings: Settings) -> AsyncIterator[Relay]:
    async with asyncio.TaskGroup() as tasks, contextlib.AsyncExitStack() as stack:
        made = Relay(RelayPeers(settings, 7447, None, print), stack, tasks)
        yield made
        for leg in made.legs:
            leg.abort()
        made.peers.close()


def story(tell: Callable[[Relay], Awaitable[None]], settings: Settings = PLAIN) -> None:
    async def run() -> None:
        async with asyncio.timeout(3 * PATIENCE), relay(settings) as made:
            await tell(made)

    asyncio.run(run())


async def until(happened: Callable[[], bool]) -> None:
    give_up_at = asyncio.get_running_loop().time() + PATIENCE
    while not happened():
        assert asyncio.get_running_loop().time() < give_up_at
        await asyncio.sleep(0.005)
