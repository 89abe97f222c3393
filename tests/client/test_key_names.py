import pytest

from holdfast.client.key_names import NAMED, bytes_of
from holdfast.model.errors import UsageError


@pytest.mark.parametrize(
    ("name", "sent"),
    [
        ("a", b"a"),
        ("-", b"-"),
        ("é", "é".encode()),
        ("\udcff", b"\xff"),
        ("C-c", b"\x03"),
        ("c-C", b"\x03"),
        ("C-]", b"\x1d"),
        ("C-@", b"\0"),
        ("C-Space", b"\0"),
        ("C-?", b"\x7f"),
        ("M-x", b"\x1bx"),
        ("M-C-c", b"\x1b\x03"),
        ("M-Up", b"\x1b\x1b[A"),
        ("Enter", b"\r"),
        ("BSpace", b"\x7f"),
        ("pageup", b"\x1b[5~"),
        ("F12", b"\x1b[24~"),
    ],
)
def test_a_name_stands_for_its_bytes(name: str, sent: bytes) -> None:
    assert bytes_of(name) == sent


@pytest.mark.parametrize("name", ["", "C-", "M-", "Warp", "C-é", "C-1", "F13", "C-Up"])
def test_a_name_of_no_key_is_refused(name: str) -> None:
    with pytest.raises(UsageError):
        bytes_of(name)


def test_no_two_named_keys_send_the_same() -> None:
    assert len(set(NAMED.values())) == len(NAMED)
