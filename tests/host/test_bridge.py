import asyncio
from asyncio import StreamReader, StreamWriter
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest
from tests.aio.channel_world import HOST, OPERATOR, dial_attach

from holdfast.aio.channel import Sealed
from holdfast.aio.first_of import first_of
from holdfast.crypto.local_proof import local_proof
from holdfast.host import bridge
from holdfast.host.bridge import Bridge
from holdfast.linux.stored import operators
from holdfast.linux.stored.folders import session_address
from holdfast.linux.stored.operators import Terms
from holdfast.model.actors import ActorKind
from holdfast.model.envelopes import Envelope, Right
from holdfast.model.errors import HoldfastError, LinkEnded, SessionUnreachable
from holdfast.model.ids import SessionId, actor_id
from holdfast.testing.carriers import linked
from holdfast.wire import opening
from holdfast.wire.channel import VERSION
from holdfast.wire.codec import decode, encode
from holdfast.wire.frames import FrameReader
from holdfast.wire.host_requests import Packet, PacketReader, packet_bytes
from holdfast.wire.messages import Challenge, Hello, Identify, Refuse, Welcome
from holdfast.wire.versions import SPOKEN

SESSION = SessionId("s_" + "a" * 16)
NONCE = b"n" * 32
HELLO = encode(Hello(SPOKEN, "test", "cli"))
CHALLENGED = encode(Welcome(SPOKEN[0], "1")) + encode(Challenge(NONCE))


@pytest.fixture(autouse=True)
def folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("RUNTIME", "CONFIG", "STATE"):
        monkeypatch.setenv(f"HOLDFAST_{name}_DIR", str(tmp_path / name.lower()))


def enrol(*rights: Right) -> None:
    terms = Terms("ab", Envelope(frozenset(rights)))
    operators.enrol("anna", ActorKind.HUMAN, OPERATOR.public, None, b"t" * 32, terms)


async def nobody() -> None:
    pass


def bridged(talk: Callable[[Sealed], Awaitable[None]]) -> Bridge:
    """Have an operator talk to a bridge by a real channel; return the bridge."""

    async def story() -> Bridge:
        ours, theirs = linked()
        serving = Bridge(HOST, nobody)
        async with asyncio.timeout(20), asyncio.TaskGroup() as tasks:
            tasks.create_task(serving.run(theirs))
            await talk(await dial_attach(ours))
            await ours.close()
        return serving

    return asyncio.run(story())


async def opened(sealed: Sealed, target: str) -> object:
    await sealed.send(opening.encode(opening.Open(VERSION, target)))
    return opening.decode(await sealed.receive())


async def asked(sealed: Sealed, **packet: object) -> Packet:
    await sealed.send(packet_bytes(dict(packet)))
    reader = PacketReader()
    while (found := reader.take()) is None:
        reader.feed(await sealed.receive())
    return found


@pytest.mark.parametrize("target", [opening.HOST, SESSION])
def test_a_key_that_nobody_knows_is_declined_and_hung_up_on(target: str) -> None:
    async def talk(sealed: Sealed) -> None:
        said = await opened(sealed, target)
        assert isinstance(said, opening.Declined)
        assert said.code == "revoked"
        with pytest.raises(HoldfastError) as ended:
            await sealed.receive()
        assert isinstance(ended.value, LinkEnded)

    serving = bridged(talk)

    assert serving.public_key == OPERATOR.public
    assert (serving.actor, serving.session) == ("", None)


def test_a_key_that_is_known_is_answered_until_it_is_revoked() -> None:
    enrol(Right.OBSERVE)

    async def talk(sealed: Sealed) -> None:
        assert await opened(sealed, opening.HOST) == opening.Opened(VERSION)
        odd = await asked(sealed, do="upgrade")
        again = await asked(sealed, do="nonsense")
        operators.forget("anna")
        gone = await asked(sealed, do="list")
        assert (odd["ok"], again["ok"], gone["ok"]) == (False, False, False)
        assert (odd["code"], gone["code"]) == ("unexpected-message", "revoked")
        with pytest.raises(HoldfastError):
            await sealed.receive()

    bridged(talk)


def test_what_opens_nothing_is_no_opening() -> None:
    enrol(Right.OBSERVE)

    async def talk(sealed: Sealed) -> None:
        await sealed.send(opening.encode(opening.Opened(VERSION)))
        with pytest.raises(HoldfastError) as ended:
            await sealed.receive()
        assert "unexpected-message" in str(ended.value)

    bridged(talk)


def test_without_a_right_there_nobody_is_led_to_a_session() -> None:
    enrol()

    async def talk(sealed: Sealed) -> None:
        said = await opened(sealed, SESSION)
        assert isinstance(said, opening.Declined)
        assert said.code == "not-allowed"

    bridged(talk)


def test_a_session_that_nobody_holds_is_waited_for_and_then_declined(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    enrol(Right.OBSERVE)
    monkeypatch.setattr(bridge, "PATIENCE", 0.1)

    async def talk(sealed: Sealed) -> None:
        said = await opened(sealed, SESSION)
        assert isinstance(said, opening.Declined)
        assert said.code == "session-unreachable"

    assert bridged(talk).session is None


def test_whoever_says_nothing_is_hung_up_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bridge, "IDLE", 0.1)

    async def talk(sealed: Sealed) -> None:
        with pytest.raises(HoldfastError) as ended:
            await sealed.receive()
        assert "link-ended" in str(ended.value)

    bridged(talk)


# ── led to a session ──────────────────────────────────────────────────────────


class Holder:
    """What listens where a session's holder does, and keeps what it is told."""

    def __init__(self) -> None:
        self.heard = b""

    async def serve(self, reader: StreamReader, writer: StreamWriter) -> None:
        writer.write(CHALLENGED)
        while data := await reader.read(4096):
            self.heard += data
            writer.write(b"echo of " + data[-4:])
        writer.close()


def led(
    talk: Callable[[Sealed], Awaitable[None]], *, opens: bool
) -> tuple[Holder, Bridge]:
    """Have an operator be led to a session, at once or after a question."""
    holder = Holder()

    async def listening(sealed: Sealed) -> None:
        address = session_address(SESSION)
        server = await asyncio.start_unix_server(holder.serve, address)
        async with server:
            if opens:
                assert await opened(sealed, SESSION) == opening.Opened(VERSION)
            else:
                assert await opened(sealed, opening.HOST) == opening.Opened(VERSION)
                assert await asked(sealed, do="open", session=SESSION) == {"ok": True}
            await talk(sealed)

    return holder, bridged(listening)


async def until(sealed: Sealed, wanted: bytes) -> bytes:
    heard = b""
    while wanted not in heard:
        heard += await sealed.receive()
    return heard


@pytest.mark.parametrize("opens", [True, False])
def test_an_operator_is_led_to_its_session_and_introduced_by_the_host(
    *, opens: bool
) -> None:
    enrol(Right.OBSERVE)
    us = operators.by_key(OPERATOR.public)
    assert us is not None

    async def talk(sealed: Sealed) -> None:
        await until(sealed, CHALLENGED)
        await sealed.send(HELLO + encode(Identify(us.actor.id, bytes(32))) + b"more")
        await until(sealed, b"echo of more")
        await sealed.send(b"last")
        await until(sealed, b"echo of last")

    holder, serving = led(talk, opens=opens)

    proof = local_proof(b"t" * 32, SESSION, NONCE)
    said = HELLO + encode(Identify(us.actor.id, proof)) + b"morelast"
    assert holder.heard == said
    assert (serving.session, serving.actor) == (SESSION, us.actor.id)
    assert serving.bytes_in == len(said)
    assert serving.bytes_out == len(CHALLENGED) + 2 * len(b"echo of more")


def test_whoever_says_to_be_somebody_else_is_refused_and_hung_up_on() -> None:
    enrol(Right.OBSERVE)
    other = actor_id(b"somebody else")

    async def talk(sealed: Sealed) -> None:
        await until(sealed, CHALLENGED)
        await sealed.send(HELLO + encode(Identify(other, bytes(32))))
        heard = await until(sealed, b"not-proven")
        frames = [decode(one) for one in FrameReader().feed(heard)]
        assert [type(one) for one in frames] == [Refuse]
        assert await sealed.receive() == b""

    holder, _ = led(talk, opens=True)

    assert b"somebody" not in holder.heard


# ── both ways ─────────────────────────────────────────────────────────────────


def test_when_one_way_is_done_the_other_is_cancelled() -> None:
    ended: list[str] = []

    async def forever() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            ended.append("cancelled")

    async def at_once() -> None:
        ended.append("done")

    async def story() -> None:
        async with asyncio.timeout(20):
            await first_of(forever(), at_once())

    asyncio.run(story())

    assert ended == ["done", "cancelled"]


def test_a_way_that_fails_fails_both() -> None:
    async def forever() -> None:
        await asyncio.Event().wait()

    async def failing() -> None:
        raise SessionUnreachable(SESSION, "it is gone")

    async def story() -> None:
        async with asyncio.timeout(20):
            await first_of(forever(), failing())

    with pytest.raises(SessionUnreachable):
        asyncio.run(story())
