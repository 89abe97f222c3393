import asyncio
import datetime as dt
import ipaddress
import os
import ssl
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID
from tests.scenarios.relays import (
    ADMITTED,
    ANNA,
    HOST,
    HOST_ID,
    Relay,
    next_knock,
    relay,
    run,
    wait_for,
)

from holdfast.aio.relay_client import reach, register
from holdfast.model.errors import PlaintextRefused, RelayUnreachable


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    folder = tmp_path_factory.mktemp("tls")
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "relay")])
    now = dt.datetime.now(dt.UTC)
    day = dt.timedelta(days=1)
    address = x509.IPAddress(ipaddress.ip_address("127.0.0.1"))
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(now - day)
        .not_valid_after(now + day)
        .add_extension(x509.SubjectAlternativeName([address]), critical=False)
        .sign(key, hashes.SHA256())
    )
    cert, secret = folder / "cert.pem", folder / "key.pem"
    cert.write_bytes(made.public_bytes(serialization.Encoding.PEM))
    secret.write_bytes(
        key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        )
    )
    return cert, secret


@pytest.fixture
def point(tmp_path: Path, certificate: tuple[Path, Path]) -> Iterator[Relay]:
    cert, key = map(str, certificate)
    options = ("--cert", cert, "--key", key, "--max-unproven", "4")
    with relay(tmp_path, *options) as made:
        yield made


def test_t40_the_certificate_is_verified(
    point: Relay, certificate: tuple[Path, Path]
) -> None:
    trusting = ssl.create_default_context(cafile=str(certificate[0]))
    url = f"https://127.0.0.1:{point.port}"

    async def story() -> None:
        with pytest.raises(RelayUnreachable, match="CERTIFICATE_VERIFY_FAILED"):
            await reach(url, ANNA, HOST_ID)
        async with register(url, HOST, ADMITTED, trusting) as registration:
            async with asyncio.TaskGroup() as tasks:
                asking = tasks.create_task(reach(url, ANNA, HOST_ID, ssl=trusting))
                carrier = await (await next_knock(registration)).answer()
            await carrier.send(b"sealed once more")
            assert await asking.result().receive() == b"sealed once more"
            await carrier.close()
            await asking.result().close()

    run(story())


def test_t41_a_handshake_of_tls_that_never_ends_costs_a_place_at_the_door(
    point: Relay,
) -> None:
    links = [point.dial() for _ in range(4)]

    def is_full() -> bool:
        with point.dial() as link:
            link.settimeout(0.3)
            try:
                return link.recv(1) == b""
            except TimeoutError:
                return False
            except OSError:
                return True

    wait_for(is_full)
    for link in links:
        link.close()
    wait_for(lambda: not is_full())


@pytest.mark.parametrize(
    "options",
    [
        ("--listen", "0.0.0.0:0"),
        ("--listen", "0.0.0.0:0", "--plain"),
        ("--listen", "0.0.0.0:0", "--behind-proxy"),
        ("--listen", "[::]:0", "--plain"),
        ("--listen", "127.0.0.1:0"),
    ],
)
def test_t40_a_relay_in_plaintext_listens_on_loopback_only_and_when_asked_to(
    tmp_path: Path, options: tuple[str, ...]
) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "holdfast", "relay", *options],
        env={**os.environ, "HOLDFAST_RUNTIME_DIR": str(tmp_path)},
        capture_output=True,
        text=True,
        timeout=20,
        check=False,
    )

    assert done.returncode == 64
    assert PlaintextRefused.next_step in done.stderr


def test_t40_plaintext_over_a_network_is_not_even_dialled() -> None:
    async def story() -> None:
        with pytest.raises(PlaintextRefused):
            await reach("http://relay.example", ANNA, HOST_ID)

    run(story())
