import asyncio
import json
import socket
import time
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass, field

import pytest

from holdfast.core.relay import lease_registry as registry
from holdfast.host.lease_driver import NOT_LINKED, Leases, boottime, refused
from holdfast.linux import packets
from holdfast.model import errors
from holdfast.model.ids import HostId, Incarnation, SessionId
from holdfast.model.lease_words import LeaseWord, Movable
from holdfast.model.session_record import as_facts, record_of

US, OTHER = HostId("h_us"), HostId("h_other")
RELAY = "https://relay"
WEB = SessionId("s_web")
TTL = 20.0
FIRST = Incarnation(1)


@dataclass
class RelayLink:
    """A link to a relay whose disk is as fast as nothing is."""

    relay: registry.LeaseRegistry = field(
        default_factory=lambda: registry.LeaseRegistry([], boottime(), ttl=TTL)
    )
    host: HostId = US
    asked: int = 0
    said: list[tuple[str, SessionId, Incarnation]] = field(default_factory=list)

    async def ask_lease(
        self,
        session: SessionId,
        incarnation: Incarnation | None,
        *,
        seen: Incarnation,
        is_speaking: bool,
    ) -> tuple[Incarnation, float]:
        self.asked += 1
        asked = registry.Asked(
            session, self.host, incarnation, self.asked, seen, is_speaking
        )
        effects = self.relay.handle(asked, boottime())
        if isinstance(effects[0], registry.Persist):
            persisted = registry.Persisted(effects[0].token)
            effects = self.relay.handle(persisted, boottime())
        match effects[0]:
            case registry.Grant(incarnation=life, ttl=ttl):
                return life, ttl
            case registry.Refuse(error=error):
                raise error
            case _:
                raise AssertionError(effects)

    async def release_lease(self, session: SessionId, life: Incarnation) -> None:
        self.said.append(("release", session, life))
        self.relay.handle(registry.Released(session, self.host, life), boottime())

    async def end_lease(self, session: SessionId, life: Incarnation) -> None:
        self.said.append(("end", session, life))

    async def entrust(self, session: SessionId, hosts: Iterable[HostId]) -> None:
        self.said.append(("entrust", session, Incarnation(len(list(hosts)))))


class World:
    """A host's leases, with a keeper at the other end of a real link."""

    def __init__(self) -> None:
        self.link: RelayLink | None = RelayLink()
        near, self.keeper = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        near.settimeout(0)
        self.near = near
        self.keeper.settimeout(0)
        self.leases = Leases(US, lambda _: self.link)
        self.words: list[LeaseWord] = []

    def tell(self, **facts: object) -> None:
        known = {"id": WEB, "name": "web", "incarnation": 1, "authority": RELAY}
        packet = {"do": "movable", "sessions": [{**known, **facts}]}
        self.leases.heard(json.dumps(packet).encode())

    def state(self) -> str:
        (one,) = self.leases.status()
        return one.state

    async def until(self, found: Callable[[], object]) -> None:
        deadline = time.monotonic() + 10
        while not found():
            assert time.monotonic() < deadline, (self.words, self.leases.status())
            await asyncio.sleep(0.001)
            self._hear()

    def _hear(self) -> None:
        try:
            while (heard := packets.receive(self.keeper)) is not None:
                told = heard[0]["leases"]
                assert isinstance(told, list)
                self.words += [record_of(LeaseWord, one) for one in told]
        except BlockingIOError:
            pass


def played(story: Callable[[World], Awaitable[None]]) -> None:
    async def main() -> None:
        world = World()
        world.leases.keeper_found(world.near)
        async with asyncio.TaskGroup() as group:
            running = group.create_task(world.leases.run())
            await asyncio.sleep(0)
            try:
                await story(world)
            finally:
                running.cancel()
        world.near.close()
        world.keeper.close()

    asyncio.run(main())


def test_a_new_session_is_claimed_and_its_expiry_told() -> None:
    async def story(world: World) -> None:
        asked_at = boottime()
        world.tell(expires=asked_at + 15)
        await world.until(lambda: world.words)
        (word,) = world.words
        assert (word.id, word.incarnation, word.successor) == (WEB, 1, 0)
        assert asked_at < word.expires < asked_at + TTL
        assert world.state() == "held"
        assert world.leases.counts() == (1, 0)

    played(story)


def test_a_host_that_follows_another_renews_what_the_keeper_names() -> None:
    async def story(world: World) -> None:
        assert world.link is not None
        await world.link.ask_lease(WEB, None, seen=Incarnation(0), is_speaking=False)
        world.tell(expires=boottime() + 3, leased=True)
        assert world.state() == "held"
        await world.until(lambda: world.words)
        assert world.words[0].expires > boottime() + 10

    played(story)


def test_what_was_granted_to_a_host_that_died_at_once_is_renewed() -> None:
    async def story(world: World) -> None:
        assert world.link is not None
        await world.link.ask_lease(WEB, None, seen=Incarnation(0), is_speaking=False)
        world.tell(expires=boottime() + 15)
        await world.until(lambda: world.words)
        assert world.words[-1].expires > boottime()

    played(story)


def test_without_a_link_a_lease_runs_out_and_says_why() -> None:
    async def story(world: World) -> None:
        world.link = None
        world.tell(expires=boottime() + 0.05, leased=True)
        await world.until(lambda: world.words)
        assert world.words == [LeaseWord(WEB, 1, 0.0, NOT_LINKED)]
        assert world.state() == "fenced"
        assert world.leases.counts() == (1, 1)
        assert world.leases.redial_by(RELAY) is not None
        assert world.leases.redial_by("https://another") is None

    played(story)


def test_a_new_link_is_used_at_once() -> None:
    async def story(world: World) -> None:
        link, world.link = world.link, None
        world.tell(expires=boottime() + 15)
        await asyncio.sleep(0.01)
        world.link = link
        world.leases.linked("https://another")
        world.leases.linked(RELAY)
        await world.until(lambda: world.words)
        assert world.words[0].expires > 0

    played(story)


def test_a_higher_life_elsewhere_ends_ours_for_good() -> None:
    async def story(world: World) -> None:
        known = registry.Record(WEB, OTHER, Incarnation(2), TTL)
        assert world.link is not None
        world.link.relay = registry.LeaseRegistry([known], boottime())
        world.tell(expires=boottime() + 15, leased=True)
        await world.until(lambda: any(one.successor for one in world.words))
        last = world.words[-1]
        assert (last.expires, last.successor) == (0.0, 2)
        assert "runs elsewhere" in last.why
        assert world.state() == "over"
        # It has nothing to give back.
        world.tell(over=True, leased=True)
        await asyncio.sleep(0.01)
        assert not world.link.said

    played(story)


def test_a_number_that_is_not_ours_is_not_spoken_with() -> None:
    async def story(world: World) -> None:
        known = registry.Record(WEB, US, Incarnation(4), 0.0)
        assert world.link is not None
        world.link.relay = registry.LeaseRegistry([known], boottime())
        world.tell(incarnation=5, expires=boottime() + 15)
        await world.until(lambda: world.words)
        assert world.words[-1].expires > 0
        world.tell(id="s_two", incarnation=1, expires=boottime() + 15)
        await world.until(lambda: len(world.leases.status()) == 2)

    played(story)


def test_a_relay_that_forgot_is_reported_and_the_lease_runs_on() -> None:
    async def story(world: World) -> None:
        known = registry.Record(WEB, US, FIRST, TTL)
        assert world.link is not None
        world.link.relay = registry.LeaseRegistry([known], boottime())
        world.tell(incarnation=3, expires=boottime() + 15, leased=True)
        await world.until(lambda: world.leases.status()[0].why)
        assert "has forgotten incarnation 3" in world.leases.status()[0].why
        assert world.state() == "held"

    played(story)


@pytest.mark.parametrize(("is_over", "word"), [(True, "end"), (False, "release")])
def test_a_lease_is_given_back(word: str, *, is_over: bool) -> None:
    async def story(world: World) -> None:
        link = world.link
        assert link is not None
        world.tell(expires=boottime() + 15)
        await world.until(lambda: world.words)
        world.link = None
        world.tell(over=is_over, gone=not is_over, leased=True)
        await asyncio.sleep(0.01)
        assert not link.said
        world.link = link
        world.leases.linked(RELAY)
        await world.until(lambda: link.said)
        assert link.said == [(word, WEB, 1)]
        assert world.leases.counts() == (0, 0)

    played(story)


def test_a_keeper_that_knows_less_is_told_again() -> None:
    async def story(world: World) -> None:
        world.tell(expires=boottime() + 15)
        await world.until(lambda: world.words)
        newest = world.words[-1].expires
        world.words.clear()
        world.tell(expires=boottime() + 1, leased=True)
        await world.until(lambda: world.words)
        assert world.words[-1].expires == newest

    played(story)


def test_what_a_new_keeper_does_not_know_is_let_go() -> None:
    async def story(world: World) -> None:
        link = world.link
        assert link is not None
        world.tell(expires=boottime() + 15)
        await world.until(lambda: world.words)
        world.leases.keeper_lost()
        world.leases.keeper_found(world.near)
        world.leases._drop_missing(world.keeper)  # noqa: SLF001  # of another link
        assert world.leases.counts() == (1, 0)
        world.leases._drop_missing(world.near)  # noqa: SLF001  # ten seconds later
        await world.until(lambda: link.said)
        assert link.said == [("release", WEB, 1)]

    played(story)


@pytest.mark.parametrize("raw", [b"", b"[]", b"{", b'{"do":"movable","sessions":[1]}'])
def test_odd_words_of_a_keeper_do_no_harm(raw: bytes) -> None:
    async def story(world: World) -> None:
        world.leases.heard(raw)
        assert world.leases.counts() == (0, 0)

    played(story)


def test_a_keeper_that_is_gone_is_told_nothing() -> None:
    async def story(world: World) -> None:
        world.keeper.close()
        world.keeper = socket.socket()
        world.tell(expires=boottime() + 15)
        deadline = time.monotonic() + 10
        while world.state() != "held":
            assert time.monotonic() < deadline
            await asyncio.sleep(0.001)

    played(story)


def test_refusals_are_read_as_the_machine_knows_them() -> None:
    held = refused(errors.LeaseHeld(OTHER, 2, 1500), 7.0)
    lost = refused(errors.LeaseLost(2), 7.0)
    back = refused(errors.RolledBack(3, 1), 7.0)

    assert held is not None
    assert (held.holder, held.incarnation, held.wait) == (OTHER, 2, 1.5)
    assert lost is not None
    assert (lost.holder, lost.incarnation) == (None, 2)
    assert back is not None
    assert back.incarnation == 1
    assert refused(errors.StoreFailed("s"), 7.0) is None
    assert refused(OSError(), 7.0) is None


def test_movable_facts_travel() -> None:
    told = Movable(WEB, "web", 1, RELAY, 3.0, leased=True)

    assert record_of(Movable, as_facts(told)) == told


def test_the_next_life_of_what_ended_here_waits_for_nobody() -> None:
    async def story(world: World) -> None:
        assert world.link is not None
        world.tell()
        await world.until(lambda: world.state() == "held")

        life, expires = await world.leases.claim(WEB, RELAY, FIRST, None, dead=FIRST)

        assert life == Incarnation(2)
        assert boottime() < expires < boottime() + TTL

    played(story)


def test_the_next_life_of_what_may_live_elsewhere_is_waited_for() -> None:
    async def story(world: World) -> None:
        assert world.link is not None
        world.tell()
        await world.until(lambda: world.state() == "held")
        world.link.host = OTHER

        with pytest.raises(errors.LeaseHeld):
            await world.leases.claim(WEB, RELAY, FIRST, None, dead=FIRST)

    played(story)
