import asyncio
from collections.abc import Callable

from holdfast.core.relay.peer_joins import Link
from holdfast.model.errors import NotEntrusted, RelayFull, StoreFailed
from holdfast.model.ids import HostId, Incarnation, SessionId, host_id, session_id
from holdfast.relay.leases import LEASES_PER_HOST, Leases
from holdfast.relay.numbers import Numbers
from holdfast.testing.lease_store import MemoryLeaseStore
from holdfast.wire import relay_messages as wire

A, B = host_id(b"a" * 32), host_id(b"b" * 32)
LINK = Link(1)
NEVER, FIRST = Incarnation(0), Incarnation(1)
S = session_id(b"0123456789")


class InputHandler:
    """Leases on a store in memory, and what they answered."""

    def __init__(self, store: MemoryLeaseStore) -> None:
        self.answers: list[wire.RelayMessage] = []
        self.answered = asyncio.Event()
        self.unrouted: list[SessionId] = []
        self.failures: list[BaseException] = []
        self.leases = Leases(
            store,
            self.send,
            self.unrouted.append,
            self.failures.append,
            Numbers(),
        )

    async def ask(
        self,
        session: SessionId = S,
        host: HostId = A,
        life: Incarnation = NEVER,
    ) -> wire.RelayMessage:
        count = len(self.answers)
        asked = wire.LeaseAsk(count, session, life, life, speaking=bool(life))
        self.leases.heard(LINK, host, asked)
        if len(self.answers) == count:
            self.answered.clear()
            await self.answered.wait()
        return self.answers[-1]

    def send(self, _: Link, message: bytes) -> None:
        self.answers.append(wire.decode(message))
        self.answered.set()


def code(answer: wire.RelayMessage) -> str:
    assert isinstance(answer, wire.LeaseRefuse)
    return answer.code


def story(test: Callable[[InputHandler, MemoryLeaseStore], object]) -> None:
    async def run() -> None:
        store = MemoryLeaseStore()
        desk = InputHandler(store)
        told = test(desk, store)
        assert asyncio.iscoroutine(told)
        await told
        desk.leases.close()

    asyncio.run(run())


def test_one_host_has_only_so_many_leases_and_keeps_those_it_has() -> None:
    async def tell(desk: InputHandler, _: MemoryLeaseStore) -> None:
        for number in range(LEASES_PER_HOST):
            granted = await desk.ask(session_id(number.to_bytes(10, "big")))
            assert isinstance(granted, wire.LeaseGrant)
        assert code(await desk.ask()) == RelayFull.code
        assert isinstance(await desk.ask(host=B), wire.LeaseGrant)

        first = session_id(bytes(10))
        assert isinstance(await desk.ask(first, life=FIRST), wire.LeaseGrant)
        desk.leases.heard(LINK, A, wire.LeaseEnd(first, FIRST))
        another = session_id(b"9876543210")
        assert isinstance(await desk.ask(another), wire.LeaseGrant)

    story(tell)


def test_f12_a_full_store_refuses_claims_and_renews_leases() -> None:
    async def tell(desk: InputHandler, store: MemoryLeaseStore) -> None:
        await desk.ask()
        store.is_full = True
        refused = await desk.ask(session_id(b"9876543210"))
        assert code(refused) == StoreFailed.code
        assert isinstance(await desk.ask(life=FIRST), wire.LeaseGrant)
        store.is_full = False
        claimed = await desk.ask(session_id(b"9876543210"))
        assert isinstance(claimed, wire.LeaseGrant)
        assert desk.failures == []

    story(tell)


def test_only_the_holder_entrusts_a_session() -> None:
    async def tell(desk: InputHandler, _: MemoryLeaseStore) -> None:
        await desk.ask()
        desk.leases.heard(LINK, B, wire.Entrust(S, (B,)))
        refused = desk.answers[-1]
        assert isinstance(refused, wire.Refused)
        assert refused.code == NotEntrusted.code
        assert code(await desk.ask(host=B)) == NotEntrusted.code

    story(tell)


def test_a_released_session_is_routed_to_nobody() -> None:
    async def tell(desk: InputHandler, _: MemoryLeaseStore) -> None:
        await desk.ask()
        assert desk.leases.route(S) == (True, A)
        desk.leases.heard(LINK, A, wire.LeaseRelease(S, FIRST))
        assert desk.unrouted == [S]
        assert desk.leases.route(S) == (True, None)
        assert desk.leases.route(session_id(b"9876543210")) == (False, None)

    story(tell)
