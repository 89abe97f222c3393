"""Where a session is, and what that changes for those who want to reach it."""

import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from holdfast.client import current_operator, hosts, session_location
from holdfast.client.hosts import KnownHost
from holdfast.client.session_location import FARTHER
from holdfast.model.errors import HostNotKnown, HostUnreachable, SessionUnreachable
from holdfast.model.ids import ActorId, SessionId
from holdfast.model.session_requests import ListSessions

HERE, THERE = SessionId("s_" + "a" * 16), SessionId("s_" + "b" * 16)
US, KNOWN_AS = ActorId("a_" + "a" * 32), ActorId("a_" + "b" * 32)


@pytest.fixture(autouse=True)
def relay(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[socket.socket]:
    """Yield where somebody listens for those who look for the host."""
    for name in ("RUNTIME", "CONFIG", "STATE"):
        monkeypatch.setenv(f"HOLDFAST_{name}_DIR", str(tmp_path / name.lower()))
    monkeypatch.setattr(session_location, "_homes", {})
    current_operator.ourselves()
    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.settimeout(10)
        relays = (f"http://127.0.0.1:{listener.getsockname()[1]}",)
        hosts.save(KnownHost("far", b"k" * 32, b"s" * 32, relays, "", {US: KNOWN_AS}))
        session_location.settle(THERE, "far")
        yield listener


def test_a_session_is_here_unless_it_was_found_elsewhere() -> None:
    assert session_location.home_of(HERE) == ""
    assert session_location.home_of(THERE) == "far"
    assert session_location.visited() == {"far"}


def test_an_operator_may_be_known_elsewhere_by_another_id() -> None:
    assert session_location.actor_at(HERE, US) == US
    assert session_location.actor_at(THERE, US) == KNOWN_AS


def test_what_is_elsewhere_is_waited_for_longer() -> None:
    assert session_location.patience_for(HERE, 2.0) == 2.0
    assert session_location.patience_for(THERE, 2.0) == 2.0 * FARTHER


def test_a_host_of_which_no_relay_knows_is_out_of_reach(relay: socket.socket) -> None:
    relay.close()

    with pytest.raises(SessionUnreachable) as found:
        session_location.dial_far(THERE, 10.0)
    assert found.value.facts["session"] == THERE
    with pytest.raises(HostUnreachable) as asked:
        session_location.ask_far("far", ListSessions(), 10.0)
    assert asked.value.facts["host"] == "far"


def test_a_host_that_does_not_answer_is_not_waited_for_longer_than_said() -> None:
    with pytest.raises(HostUnreachable, match=r"nothing within 0\.2 s"):
        session_location.ask_far("far", ListSessions(), 0.2)
    with pytest.raises(SessionUnreachable, match=r"nothing within 0\.1 s"):
        session_location.dial_far(THERE, 0.1)


def test_a_host_that_we_do_not_know_is_not_asked() -> None:
    with pytest.raises(HostNotKnown):
        session_location.ask_far("near", ListSessions())


@pytest.mark.parametrize("address", ["far", "/web", "far/", "nowhere/web"])
def test_what_is_no_address_elsewhere_is_not_dialled(
    relay: socket.socket, address: str
) -> None:
    session_location.expect_far(address)

    relay.settimeout(0.05)
    with pytest.raises(TimeoutError):
        relay.accept()


def test_an_address_elsewhere_is_dialled_before_anything_is_asked(
    relay: socket.socket,
) -> None:
    session_location.expect_far("far/web")

    relay.accept()[0].close()
