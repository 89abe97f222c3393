"""A session elsewhere is reached early, or left to the ordinary way in time."""

import os
import socket
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from tests.cli.support.operating import be_known
from tests.client.far_relay import FarRelay, known_at
from tests.core.client.relay_world import HOST, SESSION, FarWorld

from holdfast.client import early_far, early_session, hosts, keeper, session_location
from holdfast.client.connection import Connection
from holdfast.client.early_far import EarlyFarSession
from holdfast.client.hosts import KnownHost
from holdfast.client.own_name import login_name
from holdfast.core.client.early_link import VOUCHED_FOR
from holdfast.linux.stored import operators
from holdfast.model.errors import HoldfastError, SessionUnreachable
from holdfast.model.ids import ActorId, actor_id
from holdfast.wire.codec import decode, encode
from holdfast.wire.first_messages import NotOneOfThese
from holdfast.wire.frames import FrameReader
from holdfast.wire.messages import Challenge, Hello, Identify, Output, Welcome

GREETING = encode(Welcome(1, "x")) + encode(Challenge(b"c" * 32))


@pytest.fixture
def relay() -> Iterator[FarRelay]:
    made = FarRelay()
    made.changes = lambda world: setattr(world, "welcome", GREETING)
    yield made
    made.close()


@pytest.fixture
def box(
    relay: FarRelay, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[KnownHost]:
    be_known(tmp_path, monkeypatch)
    with known_at(relay, tmp_path) as made:
        yield made
    early_session.forget()


def own_actor() -> ActorId:
    found = operators.by_name(login_name())
    assert found is not None
    return found.actor.id


def said(world: FarWorld) -> list[object]:
    return [*map(decode, FrameReader().feed(bytes(world.said)))]


def until(is_so: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 10
    while not is_so():
        assert time.monotonic() < deadline
        time.sleep(0.005)


def reached(text: str = "box/web") -> EarlyFarSession:
    found = early_session.find(text)
    assert isinstance(found, EarlyFarSession)
    early_session.keep(found)
    assert found.reach(found.attach("observe"))
    return found


# ── as usual ──────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("text", ["box/web", "box/WEB", f"box/{SESSION}"])
def test_a_session_is_found_and_greeted(
    text: str, relay: FarRelay, box: KnownHost
) -> None:
    found = reached(text)

    assert (found.id, found.name, found.host) == (SESSION, "web", box.name)
    assert found.label == "box/web"
    (world,) = relay.worlds
    until(lambda: len(said(world)) == 3)
    hello, identify, _ = said(world)
    assert isinstance(hello, Hello)
    assert identify == Identify(own_actor(), VOUCHED_FOR)
    assert world.steps == ["reach", "proven", "list", "open"]


def test_the_host_may_know_us_by_another_id(relay: FarRelay, box: KnownHost) -> None:
    there = actor_id(b"x" * 32)
    hosts.save(replace(box, actors={own_actor(): there}))

    assert reached().actor == there
    (world,) = relay.worlds
    until(lambda: len(said(world)) == 3)
    assert said(world)[1] == Identify(there, VOUCHED_FOR)


@pytest.mark.usefixtures("box")
def test_the_ordinary_client_goes_on_with_it(relay: FarRelay) -> None:
    found = reached()

    record = keeper.find("box/web")
    assert (record.id, record.label) == (SESSION, "box/web")
    assert session_location.home_of(SESSION) == "box"
    link = Connection.open(record.id)
    assert not found.is_linked
    (world,) = relay.worlds
    relay.links[0].sendall(world.says(encode(Output(0, b"shown"))))
    assert link.receive(5) == Output(0, b"shown")
    before = len(said(world))
    link.close()
    until(lambda: world.has_left)
    assert len(said(world)) == before
    assert len(relay.worlds) == 1


@pytest.mark.usefixtures("box")
def test_why_a_relay_took_leave_is_kept_for_the_next_link(relay: FarRelay) -> None:
    reached()
    link = Connection.open(keeper.find("box/web").id)
    (world,) = relay.worlds
    relay.links[0].sendall(world.leaves("revoked"))

    with pytest.raises(SessionUnreachable):
        link.receive(5)
    until(lambda: session_location.last_end("box") == "revoked")
    link.close()


# ── what is unusual ───────────────────────────────────────────────────────────


@pytest.mark.parametrize("text", ["/web", "box/", "box/a/b", "other/web", "../web"])
@pytest.mark.usefixtures("box")
def test_what_is_no_address_of_a_known_host_is_left(text: str) -> None:
    assert early_session.find(text) is None


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "{}",
        "{" * 100_000,
        '{"host": 1}',
        '{"host": "h", "public_key": "x", "static_key": "", "relays": ["http://[::1]"]}',
    ],
)
@pytest.mark.usefixtures("box")
def test_a_damaged_file_is_left(text: str, tmp_path: Path) -> None:
    (tmp_path / "config/hosts/box.json").write_text(text)

    assert early_far.find("box/web") is None


@pytest.mark.usefixtures("relay")
def test_a_file_that_is_a_link_or_of_other_keys_is_left(
    box: KnownHost, tmp_path: Path
) -> None:
    path = tmp_path / "config/hosts/box.json"
    path.write_text(path.read_text().replace(box.id, "h_" + "a" * 32))
    assert early_far.find("box/web") is None
    path.rename(tmp_path / "elsewhere")
    path.symlink_to(tmp_path / "elsewhere")
    assert early_far.find("box/web") is None


@pytest.mark.parametrize("relay_url", ["http://box.example", "https://BOX", "box"])
@pytest.mark.usefixtures("relay")
def test_an_unusual_relay_is_left(relay_url: str, box: KnownHost) -> None:
    hosts.save(replace(box, relays=(relay_url,)))

    assert early_far.find("box/web") is None


@pytest.mark.usefixtures("relay")
def test_a_proxy_is_left_to_who_can_go_through_it(
    box: KnownHost, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HTTPS_PROXY", "http://127.0.0.1:9")
    found = early_far.find("box/web")
    assert found is not None  # Nobody goes out to loopback.
    found.hang_up()
    hosts.save(replace(box, relays=("https://box.example",)))

    assert early_far.find("box/web") is None


@pytest.mark.usefixtures("relay", "box")
def test_without_a_first_key_nothing_is_dialled(
    tmp_path: Path, relay: FarRelay
) -> None:
    (tmp_path / "config/operators" / login_name() / "key").unlink()

    with pytest.raises(NotOneOfThese):
        early_far.find("box/web")
    assert relay.links == []


@pytest.mark.parametrize(
    "sessions",
    [
        [],
        [1],
        [{"id": SESSION}],
        [{"id": SESSION, "name": "other"}],
        [{"id": SESSION, "name": "web"}, {"id": SESSION[:-1] + "a", "name": "WEB"}],
        [{"id": "../../x", "name": "web"}],
    ],
)
@pytest.mark.usefixtures("box")
def test_what_fits_none_or_several_is_left(
    sessions: list[object], relay: FarRelay
) -> None:
    relay.changes = lambda world: setattr(
        world, "pages", [{"ok": True, "sessions": sessions}]
    )

    with pytest.raises((NotOneOfThese, HoldfastError)):
        early_far.find("box/web")
    until(lambda: is_hung_up(relay.links[0]))


def is_hung_up(link: socket.socket) -> bool:
    try:
        return not link.recv(1, socket.MSG_PEEK | socket.MSG_DONTWAIT)
    except BlockingIOError:
        return False
    except OSError:
        return True


# ── hostile relays ────────────────────────────────────────────────────────────


def closes(link: socket.socket) -> None:
    link.recv(4096)
    link.close()


def is_silent(link: socket.socket) -> None:
    while link.recv(4096):
        pass


def drips(link: socket.socket) -> None:
    """Say one byte of an answer at a time, for ever."""
    link.recv(4096)
    for byte in b"HTTP/1.1 101 x\r\n" + b"x" * 10_000:
        link.sendall(bytes((byte,)))
        time.sleep(0.02)


def says(raw: bytes) -> Callable[[socket.socket], None]:
    def serve(link: socket.socket) -> None:
        link.recv(4096)
        link.sendall(raw)
        is_silent(link)

    return serve


def upgraded(raw: bytes) -> Callable[[socket.socket], None]:
    """Accept a WebSocket, and say this."""

    def serve(link: socket.socket) -> None:
        world = FarWorld(name=f"127.0.0.1:{link.getsockname()[1]}")
        answer = world.hear(link.recv(4096))
        head = answer[: answer.index(b"\r\n\r\n") + 4]
        link.sendall(head + raw)
        is_silent(link)

    return serve


@pytest.mark.parametrize(
    "serve",
    [
        closes,
        is_silent,
        drips,
        says(b"garbage\r\n"),
        says(b"HTTP/1.1 200 OK\r\n\r\n<html>"),
        says(b"HTTP/1.1 101 " + b"x" * 100_000),
        upgraded(b"\x82\x7f\x7f" + b"\xff" * 7),
        upgraded(b"\x81\x05hello"),
        upgraded(b"\x88\x00"),
        upgraded(b"\x82\x03abc"),
        upgraded(b"\x89\x00" * 20_000),
    ],
    ids=[
        *("closes", "silent", "drips", "garbage", "a page", "no end of its head"),
        *("a huge frame", "a text", "leaves", "no greeting", "nothing but pings"),
    ],
)
def test_a_hostile_relay_is_left_in_time(
    serve: Callable[[socket.socket], None],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    be_known(tmp_path, monkeypatch)
    monkeypatch.setattr(early_far, "PATIENCE", 0.3)
    relay = FarRelay(serve)
    with known_at(relay, tmp_path):
        began_at = time.monotonic()
        with pytest.raises((NotOneOfThese, OSError)):
            early_far.find("box/web")

        assert time.monotonic() - began_at < 5
        until(lambda: is_hung_up(relay.links[0]))


@pytest.mark.usefixtures("box")
def test_a_host_with_another_key_is_left(relay: FarRelay) -> None:
    relay.changes = lambda world: setattr(
        world, "identity", type(HOST).from_seed(b"o" * 32)
    )

    with pytest.raises((NotOneOfThese, OSError, HoldfastError)):
        early_far.find("box/web")


@pytest.mark.usefixtures("box")
def test_a_link_that_breaks_under_a_session_is_left(relay: FarRelay) -> None:
    found = reached()
    (world,) = relay.worlds
    relay.links[0].sendall(b"\x82\x41" + os.urandom(65))

    with pytest.raises(NotOneOfThese):
        found.receive()
    assert not found.is_linked
    assert not world.has_left


@pytest.mark.usefixtures("box")
def test_a_session_that_is_slow_is_left_with_its_link(
    relay: FarRelay, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(early_far, "PATIENCE", 0.5)
    relay.changes = lambda world: setattr(world, "welcome", b"")
    found = early_session.find("box/web")
    assert found is not None
    early_session.keep(found)
    with pytest.raises(NotOneOfThese):
        found.reach(found.attach("observe"))

    assert found.is_linked
    (world,) = relay.worlds
    threading.Timer(0.2, lambda: relay.links[0].sendall(world.says(GREETING))).start()
    with Connection.open(keeper.find("box/web").id):
        until(lambda: len(said(world)) == 2)
    assert len(relay.worlds) == 1
