from pathlib import Path

import pytest

from holdfast.model.errors import PlaintextRefused
from holdfast.relay.settings import Settings

CERTIFICATE = Path("cert.pem")


@pytest.mark.parametrize(
    "settings",
    [
        Settings(),
        Settings(address="::1"),
        Settings(address="0.0.0.0", is_plain=True),  # noqa: S104  # to be refused
        Settings(address="192.0.2.1", is_behind_proxy=True),
        Settings(address="localhost", is_plain=True),
    ],
    ids=repr,
)
def test_t40_plaintext_that_was_not_asked_for_or_leaves_the_machine_is_refused(
    settings: Settings,
) -> None:
    with pytest.raises(PlaintextRefused):
        settings.check()


def test_t40_tls_anywhere_and_plaintext_on_loopback_are_let_be() -> None:
    Settings(address="192.0.2.1", certificate=CERTIFICATE).check()
    Settings(is_plain=True).check()
    Settings(address="::1", is_plain=True).check()
    Settings(is_behind_proxy=True).check()


@pytest.mark.parametrize(
    ("settings", "port", "names"),
    [
        (Settings(), 7447, ("127.0.0.1:7447", "localhost:7447")),
        (Settings(), 80, ("127.0.0.1", "localhost")),
        (Settings(certificate=CERTIFICATE), 443, ("127.0.0.1", "localhost")),
        (Settings(certificate=CERTIFICATE), 80, ("127.0.0.1:80", "localhost:80")),
        (Settings(address="::1"), 1, ("[::1]:1", "localhost:1")),
        (Settings(address="192.0.2.1"), 7447, ("192.0.2.1:7447",)),
        (Settings(names=("relay.example",)), 7447, ("relay.example",)),
    ],
    ids=repr,
)
def test_a_relay_is_dialled_by_its_names_or_else_by_its_address(
    settings: Settings, port: int, names: tuple[str, ...]
) -> None:
    assert settings.all_names(port) == names


def test_pages_behind_tls_have_https_whoever_speaks_it() -> None:
    assert Settings(certificate=CERTIFICATE).scheme == "https"
    assert Settings(is_behind_proxy=True).scheme == "https"
    assert Settings(is_plain=True).scheme == "http"
