"""I1 to I3 of relay_way: the way to a session elsewhere, byte by byte."""

import os

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.core.client.relay_world import HOST, NAME, SESSION, US, FarWorld

from holdfast.core.client import relay_way
from holdfast.core.client.relay_way import RelayWay, Wanted
from holdfast.crypto.identity import Identity
from holdfast.crypto.noise import DH
from holdfast.model.errors import HandshakeFailed, SealBroken
from holdfast.model.ids import host_id
from holdfast.wire import first_relay_messages, relay_messages, websocket
from holdfast.wire.first_messages import NotOneOfThese
from holdfast.wire.host_requests import packet_bytes

OTHER = Identity.from_seed(b"o" * 32)


def way_to(host: Identity = HOST) -> RelayWay:
    wanted = Wanted(host_id(host.public), host.public, host.static_public, NAME)
    return RelayWay(wanted, lambda: US, os.urandom)


def carry(way: RelayWay, world: FarWorld, said: bytes, size: int = 1 << 20) -> None:
    """Carry between the two, in pieces of `size`, until neither has anything to say."""
    while said:
        heard = world.hear(said)
        said = b"".join(
            way.hear(heard[at : at + size]) for at in range(0, len(heard), size)
        )


def led(world: FarWorld) -> RelayWay:
    way = way_to()
    carry(way, world, way.begin())
    carry(way, world, way.lead(SESSION))
    return way


def test_constants_are_those_of_the_machines() -> None:
    assert relay_way.EPHEMERAL == DH


def test_a_session_is_reached_and_spoken_with() -> None:
    world, way = FarWorld(), way_to()
    world.welcome = b"WELCOME"

    carry(way, world, way.begin())
    assert way.is_listed
    assert way.sessions == [{"id": SESSION, "name": "web"}]
    # What is said first goes with the question, and does not wait for its answer.
    carry(way, world, way.lead(SESSION) + way.says(b"HELLO"))

    assert world.steps == ["reach", "proven", "list", "open"]
    assert way.take() == b"WELCOME"
    assert way.take() == b""
    assert bytes(world.said) == b"HELLO"


@given(st.integers(1, 300), st.binary(max_size=100_000))
def test_i2_however_it_is_cut_the_same_comes(size: int, data: bytes) -> None:
    world, way = FarWorld(), way_to()
    world.pages = [
        {"ok": True, "sessions": [1], "more": True},
        {"ok": True, "sessions": [{"id": SESSION, "name": "web"}]},
    ]
    carry(way, world, way.begin(), size)
    assert way.sessions == [1, {"id": SESSION, "name": "web"}]
    carry(way, world, way.lead(SESSION) + way.says(data), size)
    raw = world.says(data)
    for at in range(0, len(raw), size * 50):
        assert way.hear(raw[at : at + size * 50]) == b""

    assert way.take() == data
    assert bytes(world.said) == data


def test_i1_nothing_is_said_to_what_is_no_relay() -> None:
    way = way_to()
    way.begin()

    for raw in (b"HTTP/1.1 404 Not Found\r\n\r\n", b"SSH-2.0-x\r\n"):
        with pytest.raises(NotOneOfThese):
            way_to().hear(raw)
    assert way.hear(b"HTTP/1.1 101 ") == b""


@pytest.mark.parametrize(
    "greeting",
    [
        b"",
        b"garbage",
        relay_messages.encode(relay_messages.Greet(2, b"n" * 32)),
        relay_messages.encode(relay_messages.Refused("relay-full", "full", {})),
    ],
)
def test_i1_who_is_greeted_otherwise_does_not_say_who_it_is(greeting: bytes) -> None:
    world, way = FarWorld(), way_to()
    world.greeting = greeting

    with pytest.raises(NotOneOfThese):
        carry(way, world, way.begin())
    assert world.steps == []


def test_i1_another_host_is_told_nothing() -> None:
    world, way = FarWorld(), way_to()
    world.joined = relay_messages.encode(relay_messages.Joined(host_id(OTHER.public)))
    with pytest.raises(NotOneOfThese):
        carry(way, world, way.begin())
    assert world.steps == ["reach"]

    # A relay that lies about it: the host has another key, and cannot read a word.
    liar, way = FarWorld(OTHER), way_to()
    with pytest.raises(HandshakeFailed, match="does not open"):
        carry(way, liar, way.begin())
    assert liar.steps == ["reach"]


def test_i1_who_answers_a_handshake_wrongly_is_not_asked() -> None:
    world, way = FarWorld(), way_to()
    carry_until_joined(way, world)

    with pytest.raises(HandshakeFailed):
        way.hear(b"\x82\x40" + b"x" * 64)
    assert "proven" not in world.steps


def carry_until_joined(way: RelayWay, world: FarWorld) -> None:
    reached = way.hear(world.hear(way.begin()))
    assert way.hear(world.hear(reached))


def test_a_host_that_says_no_is_left() -> None:
    for odd in (b"", b"no", first_relay_messages.open_host()):
        world, way = FarWorld(), way_to()
        world.opened = odd or b"\xc0"
        with pytest.raises(NotOneOfThese):
            carry(way, world, way.begin())


@pytest.mark.parametrize(
    "pages",
    [
        [{"ok": False, "code": "not-allowed"}],
        [{"ok": True}],
        [{"ok": True, "sessions": {}}],
        [{"ok": True, "sessions": [], "more": True}] * (relay_way.MAX_PAGES + 1),
    ],
)
def test_a_list_that_is_none_is_left(pages: list[dict[str, object]]) -> None:
    world, way = FarWorld(), way_to()
    world.pages = pages

    with pytest.raises(NotOneOfThese):
        carry(way, world, way.begin())


def test_more_than_was_asked_for_is_left() -> None:
    world, way = FarWorld(), way_to()
    carry(way, world, way.begin())

    with pytest.raises(NotOneOfThese):
        way.hear(world.says(b"\x00"))
    world, way = FarWorld(), way_to()
    world.pages *= 2
    with pytest.raises(NotOneOfThese):
        carry(way, world, way.begin())


def test_an_answer_that_comes_in_two_records_is_waited_for() -> None:
    world, way = FarWorld(), way_to()
    carry(way, world, way.begin())
    way.lead(SESSION)
    yes = packet_bytes({"ok": True})

    way.hear(world.says(yes[:5]))
    assert way.take() == b""
    way.hear(world.says(yes[5:] + b"first"))
    assert way.take() == b"first"


def test_a_session_that_is_refused_is_left() -> None:
    world = FarWorld()
    world.led = {"ok": False, "code": "session-unreachable"}

    with pytest.raises(NotOneOfThese):
        led(world)


def test_i3_a_changed_or_repeated_message_is_not_opened() -> None:
    world = FarWorld()
    way = led(world)
    raw = world.says(b"data")
    changed = raw[:-1] + bytes((raw[-1] ^ 1,))

    with pytest.raises(SealBroken):
        way.hear(changed)
    world = FarWorld()
    way = led(world)
    raw = world.says(b"data")
    way.hear(raw)
    with pytest.raises(SealBroken):
        way.hear(raw)
    assert way.take() == b"data"


def test_a_ping_is_answered_and_a_relay_can_be_asked_whether_it_is_there() -> None:
    world = FarWorld()
    way = led(world)

    assert world.hear(way.hear(world.pings(b"there?"))) == b""
    assert world.steps[-1] == "PONG"
    answer = world.hear(way.ping())
    assert world.steps[-1] == "PING"
    assert way.hear(answer) == b""
    assert not way.is_over


def test_the_end_of_a_session_is_the_end_and_nothing_follows_it() -> None:
    world = FarWorld()
    way = led(world)

    assert way.hear(world.says(b"last") + world.ends()) == b""
    assert way.is_over
    assert way.take() == b"last"
    assert way.hear(world.pings()) == b""


def test_a_relay_that_takes_leave_says_why() -> None:
    world = FarWorld()
    way = led(world)

    assert way.hear(world.leaves("revoked")) == b""
    assert (way.is_over, way.why) == (True, "revoked")


def test_leave_is_taken_once_of_the_host_and_of_the_relay() -> None:
    world = FarWorld()
    way = led(world)

    world.hear(way.end())
    assert world.has_left
    assert world.steps[-1] == "CLOSE"
    world, way = FarWorld(), way_to()
    way.begin()
    (close,) = websocket_messages(way.end())
    assert close == websocket.CLOSE
    way = led(FarWorld())
    assert len(way.end()) > len(way.end())


def websocket_messages(raw: bytes) -> list[int]:
    """Return the opcodes of frames of ours, which are short and masked."""
    found = []
    while raw:
        found.append(raw[0] & 0x0F)
        raw = raw[6 + (raw[1] & 0x7F) :]
    return found
