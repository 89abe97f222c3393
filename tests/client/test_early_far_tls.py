"""The early link over TLS: verified as ever, and carried like any other."""

import os
import socket
import ssl
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from tests.cli.support.operating import be_known
from tests.client.far_relay import FarRelay, known_at
from tests.core.client.relay_world import SESSION, FarWorld
from tests.scenarios.test_a_relay_speaks_tls import certificate  # noqa: F401  # a fixture

from holdfast.client import early_far, early_session, hosts, keeper
from holdfast.client.connection import Connection
from holdfast.wire.codec import encode
from holdfast.wire.messages import Challenge, Output, Welcome

GREETING = encode(Welcome(1, "x")) + encode(Challenge(b"c" * 32))
PATIENCE = 10.0


class TlsRelay(FarRelay):
    """Speaks TLS with a certificate for 127.0.0.1."""

    def __init__(self, certified: tuple[Path, Path]) -> None:
        self._context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self._context.load_cert_chain(*map(str, certified))
        self.sealed: list[ssl.SSLSocket] = []
        super().__init__(self._serve_sealed)

    @property
    def url(self) -> str:
        """Where it is dialled."""
        return f"https://127.0.0.1:{self.port}"

    def _serve_sealed(self, plain: socket.socket) -> None:
        link = self._context.wrap_socket(plain, server_side=True)
        self.sealed.append(link)
        world = FarWorld(name=f"127.0.0.1:{self.port}")
        world.welcome = GREETING
        self.worlds.append(world)
        with link:
            while raw := link.recv(65536):
                link.sendall(world.hear(raw))


@pytest.fixture
def relay(
    certificate: tuple[Path, Path],  # noqa: F811
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> Iterator[TlsRelay]:
    be_known(tmp_path, monkeypatch)
    made = TlsRelay(certificate)
    with known_at(made, tmp_path):
        yield made
    early_session.forget()


def test_a_session_is_reached_and_carried_over_tls(
    relay: TlsRelay,
    certificate: tuple[Path, Path],  # noqa: F811
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate[0]))
    found = early_session.find("box/web")
    assert found is not None
    early_session.keep(found)
    assert found.reach(found.attach("observe"))

    data = os.urandom(60_000)
    with Connection.open(keeper.find("box/web").id) as link:
        (world,), (sealed,) = relay.worlds, relay.sealed
        # More than one record of TLS, of which the last ends amid a message of ours.
        for offset in range(0, 600_000, 60_000):
            sealed.sendall(world.says(encode(Output(offset, data))))
        for offset in range(0, 600_000, 60_000):
            assert link.receive(PATIENCE) == Output(offset, data)
    deadline = time.monotonic() + PATIENCE
    while not world.has_left:
        assert time.monotonic() < deadline
        time.sleep(0.005)
    assert found.id == SESSION


@pytest.mark.parametrize("is_trusted", [True, False])
def test_a_relay_is_not_spoken_with_unless_it_is_proven(
    is_trusted: bool,  # noqa: FBT001
    relay: TlsRelay,
    certificate: tuple[Path, Path],  # noqa: F811
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    if is_trusted:  # But for another name.
        monkeypatch.setenv("SSL_CERT_FILE", str(certificate[0]))
        (box,) = hosts.known()
        hosts.save(replace(box, relays=(f"https://localhost:{relay.port}",)))
    with pytest.raises(ssl.SSLCertVerificationError):
        early_far.find("box/web")
    assert relay.worlds == []
