import asyncio
import random

import pytest
from tests.aio.channel_world import (
    HOST,
    Dial,
    dial_attach,
    dial_join,
    outcome,
    secret_of,
    standing,
)

from holdfast.aio.channel import Sealed, accept_channel
from holdfast.model.errors import (
    HoldfastError,
    LinkEnded,
    PeerError,
    SealBroken,
    Unavailable,
)
from holdfast.testing.carriers import Meddle, linked

BOTH = pytest.mark.parametrize("dial", [dial_attach, dial_join])
HANDSHAKE = 2
"""Messages of an operator before its first frame."""

SPOKEN = [f"input {number}\r".encode() for number in range(6)]


class Relay:
    """Passes messages on until it meddles with one: number `at`, counted from 0."""

    def __init__(self, at: int, meddle: Meddle) -> None:
        self._at = at
        self._meddle = meddle
        self._count = -1

    def __call__(self, message: bytes) -> list[bytes]:
        self._count += 1
        return self._meddle(message) if self._count == self._at else [message]


async def heard_until_the_end(sealed: Sealed) -> tuple[list[bytes], str]:
    heard: list[bytes] = []
    try:
        while part := await sealed.receive():
            heard.append(part)
    except (PeerError, LinkEnded) as error:
        return heard, error.code
    return heard, "orderly"


async def conversation(dial: Dial, meddle: Meddle | None) -> tuple[list[bytes], str]:
    made = await standing(dial, there=meddle)
    async with asyncio.TaskGroup() as group:
        hearing = group.create_task(heard_until_the_end(made.theirs))
        for said in SPOKEN:
            await made.ours.send(said)
        await made.ours.close()
    return hearing.result()


@BOTH
@pytest.mark.parametrize("nth", range(len(SPOKEN) + 1))
@pytest.mark.parametrize(
    ("what", "meddle"),
    [
        ("dropped", lambda _: []),
        ("cut", lambda message: [message[:-1]]),
        ("lengthened", lambda message: [message + b"\0"]),
        ("replaced", lambda message: [bytes(len(message))]),
        ("emptied", lambda _: [b""]),
        ("too long", lambda _: [bytes(65_536)]),
    ],
)
def test_t04_a_message_that_was_meddled_with_is_never_passed_over(
    dial: Dial, nth: int, what: str, meddle: Meddle
) -> None:
    heard, end = asyncio.run(conversation(dial, Relay(HANDSHAKE + nth, meddle)))

    assert heard == SPOKEN[:nth], what
    assert end != "orderly", what


@BOTH
@pytest.mark.parametrize("nth", range(len(SPOKEN)))
def test_t03_a_message_that_comes_twice_is_heard_once(dial: Dial, nth: int) -> None:
    twice = Relay(HANDSHAKE + nth, lambda message: [message, message])

    heard, end = asyncio.run(conversation(dial, twice))

    assert heard == SPOKEN[: nth + 1]
    assert end == SealBroken.code


@BOTH
@pytest.mark.parametrize("nth", range(len(SPOKEN)))
def test_t04_two_messages_that_change_places_are_noticed(dial: Dial, nth: int) -> None:
    kept: list[bytes] = []

    def swap(message: bytes) -> list[bytes]:
        if not kept:
            kept.append(message)
            return []
        return [message, kept.pop()]

    first = Relay(HANDSHAKE + nth, swap)
    second = Relay(HANDSHAKE + nth + 1, swap)

    def both(message: bytes) -> list[bytes]:
        passed = first(message)
        again = second(message)
        return passed if passed != [message] else again

    heard, end = asyncio.run(conversation(dial, both))

    assert heard == SPOKEN[:nth]
    assert end == SealBroken.code


@BOTH
def test_t02_a_flipped_bit_of_any_frame_reaches_nobody(dial: Dial) -> None:
    chance = random.Random(6)  # noqa: S311  # repeatable, not unguessable

    def flip(message: bytes) -> list[bytes]:
        changed = bytearray(message)
        changed[chance.randrange(len(changed))] ^= 1 << chance.randrange(8)
        return [bytes(changed)]

    async def story() -> None:
        for number in range(60):
            nth = number % len(SPOKEN)
            heard, end = await conversation(dial, Relay(HANDSHAKE + nth, flip))
            assert heard == SPOKEN[:nth]
            assert end == SealBroken.code

    asyncio.run(story())


@BOTH
def test_t03_a_whole_recorded_conversation_gets_nowhere_on_a_new_channel(
    dial: Dial,
) -> None:
    async def story() -> None:
        made = await standing(dial)
        for said in SPOKEN:
            await made.ours.send(said)
        recorded = list(made.our_end.outward.seen)

        ours, theirs = linked()
        async with asyncio.TaskGroup() as group:
            answering = group.create_task(
                outcome(accept_channel(theirs, HOST, secret_of))
            )
            for message in recorded:
                try:
                    await ours.send(message)
                except LinkEnded:
                    break

        assert isinstance(answering.result(), PeerError)

    asyncio.run(story())


@BOTH
def test_t03_recorded_frames_put_into_a_new_channel_are_refused(dial: Dial) -> None:
    async def story() -> None:
        old = await standing(dial)
        for said in SPOKEN:
            await old.ours.send(said)
        frames = old.our_end.outward.seen[HANDSHAKE:]
        for frame in frames:
            new = await standing(dial)
            await new.our_end.send(frame)
            assert await heard_until_the_end(new.theirs) == ([], SealBroken.code)

    asyncio.run(story())


@BOTH
@pytest.mark.parametrize(("number", "way"), [(0, "there"), (1, "there"), (0, "back")])
def test_t05_a_handshake_that_was_meddled_with_opens_no_channel(
    dial: Dial, number: int, way: str
) -> None:
    def change(message: bytes) -> list[bytes]:
        return [message[:40] + bytes((message[40] ^ 1,)) + message[41:]]

    async def story() -> list[HoldfastError | None]:
        relay = Relay(number, change)
        ours, theirs = linked(
            there=relay if way == "there" else None,
            back=relay if way == "back" else None,
        )
        async with asyncio.TaskGroup() as group:
            ends = [
                group.create_task(outcome(accept_channel(theirs, HOST, secret_of))),
                group.create_task(outcome(dial(ours))),
            ]
        return [end.result() for end in ends]

    ends = asyncio.run(story())

    assert any(isinstance(end, PeerError) for end in ends)
    assert all(isinstance(end, PeerError | Unavailable | None) for end in ends)
    assert ends[0] is not None, "the host believes that it has an operator"


def test_t13_garbage_before_a_handshake_is_refused_at_its_first_message() -> None:
    async def story() -> None:
        for size in (0, 1, 17, 193, 65_535, 65_536):
            ours, theirs = linked()
            await ours.send(bytes(size))
            error = await outcome(accept_channel(theirs, HOST, secret_of))
            assert isinstance(error, PeerError)
            assert theirs.outward.seen == [], "it answered"

    asyncio.run(story())
