"""Machines in network namespaces of their own, which reach a relay and no other.

    host one ─┐
    host two ─┼─ relay      no two of them but by way of it: it forwards nothing
    client   ─┘

Needs root, and `ip` (package iproute2).
"""

import contextlib
import datetime as dt
import ipaddress
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID
from tests.scenarios.elsewhere import Place

RELAY_ADDRESS = "10.77.0.1"
RELAY = "relay"


def ip(*words: str) -> None:
    """Run one `ip` command."""
    subprocess.run(["ip", *words], check=True, capture_output=True)  # noqa: S607  # wherever it is


class Network:
    """One relay's namespace, and one for each machine around it."""

    def __init__(self, *machines: str) -> None:
        self._mark = f"hf{os.getpid()}"
        self._machines = machines
        for name in (RELAY, *machines):
            ip("netns", "add", self.namespace(name))
            ip("-n", self.namespace(name), "link", "set", "lo", "up")
        ip("-n", self.namespace(RELAY), *_address(f"{RELAY_ADDRESS}/32", "lo"))
        for number, name in enumerate(machines, start=1):
            self._connect(name, number)

    def namespace(self, name: str) -> str:
        """Return what the kernel calls a machine's namespace."""
        return f"{self._mark}-{name}"

    def within(self, name: str) -> list[str]:
        """Return the words before a command that is to run on a machine."""
        return ["ip", "netns", "exec", self.namespace(name)]

    def cut(self, name: str) -> None:
        """Take a machine's link down, without anybody being told."""
        ip("-n", self.namespace(RELAY), "link", "set", f"to-{name}", "down")

    def heal(self, name: str) -> None:
        """Take it up again."""
        ip("-n", self.namespace(RELAY), "link", "set", f"to-{name}", "up")

    def close(self) -> None:
        """Remove everything; what runs there must have ended."""
        for name in (RELAY, *self._machines):
            with contextlib.suppress(subprocess.CalledProcessError):
                ip("netns", "del", self.namespace(name))

    def _connect(self, name: str, number: int) -> None:
        mine, relays = self.namespace(name), self.namespace(RELAY)
        inner, outer = f"to-{name}", "to-relay"
        ip(
            *("-n", relays, "link", "add", inner, "type", "veth"),
            *("peer", "name", outer, "netns", mine),
        )
        ip("-n", relays, *_address(f"10.77.{number}.1/24", inner))
        ip("-n", mine, *_address(f"10.77.{number}.2/24", outer))
        ip("-n", relays, "link", "set", inner, "up")
        ip("-n", mine, "link", "set", outer, "up")
        ip("-n", mine, "route", "add", "default", "via", f"10.77.{number}.1")


def _address(address: str, device: str) -> list[str]:
    return ["addr", "add", address, "dev", device]


class FarPlace(Place):
    """A machine in a namespace of its own, which trusts one certificate."""

    def __init__(self, network: Network, name: str, trusted: Path) -> None:
        super().__init__()
        self.name = name
        self._within = network.within(name)
        self.folders["SSL_CERT_FILE"] = str(trusted)

    def command(self, *words: str) -> list[str]:
        """Return the words that run a verb there."""
        return [*self._within, *super().command(*words)]


@contextlib.contextmanager
def network(*machines: str) -> Iterator[Network]:
    """Return a network that is removed when the block is."""
    made = Network(*machines)
    try:
        yield made
    finally:
        made.close()


def certificate(folder: Path) -> tuple[Path, Path]:
    """Write a certificate for the relay that vouches for itself, and its key."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "relay")])
    now = dt.datetime.now(dt.UTC)
    address = x509.IPAddress(ipaddress.ip_address(RELAY_ADDRESS))
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - dt.timedelta(days=1))
        .not_valid_after(now + dt.timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([address]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .sign(key, hashes.SHA256())
    )
    chain, private = folder / "relay.pem", folder / "relay.key"
    chain.write_bytes(made.public_bytes(serialization.Encoding.PEM))
    private.write_bytes(
        key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        )
    )
    return chain, private
