import pytest

from holdfast.aio.relay_client import relay_address
from holdfast.model.errors import MalformedArgument, PlaintextRefused
from holdfast.wire.relay_messages import Role


@pytest.mark.parametrize(
    ("url", "name", "dialled"),
    [
        ("https://relay.example", "relay.example", "wss://relay.example/v1/host"),
        ("https://relay.example/", "relay.example", "wss://relay.example/v1/host"),
        ("HTTPS://Relay.Example:443", "relay.example", "wss://relay.example/v1/host"),
        ("https://r.example:8443", "r.example:8443", "wss://r.example:8443/v1/host"),
        ("http://127.0.0.1:7447", "127.0.0.1:7447", "ws://127.0.0.1:7447/v1/host"),
        ("http://localhost:80", "localhost", "ws://localhost/v1/host"),
        ("http://[::1]:7447", "[::1]:7447", "ws://[::1]:7447/v1/host"),
        ("https://[2001:db8::1]", "[2001:db8::1]", "wss://[2001:db8::1]/v1/host"),
    ],
)
def test_a_relay_is_called_what_its_host_header_will_say(
    url: str, name: str, dialled: str
) -> None:
    address = relay_address(url)

    assert address.name == name
    assert address.path(Role.HOST) == dialled


@pytest.mark.parametrize(
    "url",
    [
        "http://relay.example",
        "http://192.0.2.1:7447",
        "http://127.1:7447",
        "http://0.0.0.0:7447",
        "http://localhost.evil.test",
        "http://127.0.0.1.evil.test",
    ],
)
def test_t40_plaintext_is_for_loopback_only(url: str) -> None:
    with pytest.raises(PlaintextRefused):
        relay_address(url)


@pytest.mark.parametrize(
    "url",
    [
        "",
        "relay.example",
        "ws://relay.example",
        "ftp://relay.example",
        "https://",
        "https://user:word@relay.example",
        "https://relay.example/path",
        "https://relay.example?token=x",
        "https://relay.example#secret",
        "https://relay.example:99999",
        "https://relay.example:port",
        "https://[::1",
        "https:///x",
        "file:///etc/passwd",
        "\x1b[2J",
    ],
)
def test_what_is_no_address_of_a_relay_is_refused_without_repeating_its_controls(
    url: str,
) -> None:
    with pytest.raises(MalformedArgument) as caught:
        relay_address(url)

    assert "\x1b" not in str(caught.value.facts["text"])
