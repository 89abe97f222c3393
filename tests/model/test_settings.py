import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.model.settings import (
    KEYS,
    Reaping,
    Settings,
    bytes_from,
    bytes_told,
    key_from,
    key_told,
    key_written,
    loopback_from,
    seconds_from,
    seconds_told,
)

CONTROLS = st.integers(0, 0x1F)
PRINTED = st.integers(0x20, 0x7E)


@pytest.mark.parametrize(
    ("text", "byte"),
    [
        ("d", 0x64),
        ("?", 0x3F),
        ("C-a", 1),
        ("C-A", 1),
        ("Ctrl-a", 1),
        ("^A", 1),
        ("C-]", 0x1D),
        ("C-Space", 0),
        ("Space", 0x20),
        ("Tab", 9),
        ("Enter", 13),
        ("Escape", 0x1B),
        ("^", 0x5E),
        ("C-", None),
        ("C-ab", None),
        ("C-1", None),
        ("C-ä", None),
        ("", None),
        ("dd", None),
        ("ä", None),
        ("\x01", None),
    ],
)
def test_a_key_is_one_byte_or_none(text: str, byte: int | None) -> None:
    assert key_from(text) == byte


@given(CONTROLS | PRINTED)
def test_a_key_that_is_written_is_read_again(byte: int) -> None:
    assert key_from(key_written(byte)) == byte


def test_keys_are_told_as_people_read_them() -> None:
    assert [key_told(byte) for byte in (0x1D, 1, 0, 0x20, 0x64)] == [
        "Ctrl-]",
        "Ctrl-a",
        "Ctrl-Space",
        "Space",
        "d",
    ]


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("1048576", 1 << 20),
        ("16M", 16 << 20),
        ("16m", 16 << 20),
        ("16MiB", 16 << 20),
        ("16MB", 16 << 20),
        ("512K", 512 << 10),
        ("1G", 1 << 30),
        ("7B", 7),
        ("", None),
        ("M", None),
        ("1.5M", None),
        ("-1M", None),
        ("1MM", None),
        ("1i", None),
        ("1T", None),
        ("\u0661M", None),
        ("9" * 13, None),
    ],
)
def test_a_size_has_a_unit_or_none(text: str, count: int | None) -> None:
    assert bytes_from(text) == count


@pytest.mark.parametrize(
    ("count", "text"),
    [(0, "0"), (1, "1"), (1023, "1023"), (1 << 10, "1K"), (3 << 29, "1536M")],
)
def test_a_size_is_told_in_its_largest_whole_unit(count: int, text: str) -> None:
    assert bytes_told(count) == text


@given(st.integers(0, 10**12 - 1))  # No more digits are read than that.
def test_a_size_that_is_told_is_read_again(count: int) -> None:
    assert bytes_from(bytes_told(count)) == count


def test_no_two_things_are_on_one_key() -> None:
    settings = Settings()
    pressed = settings.pressed()

    assert len(set(settings.keys.values())) == len(KEYS)
    assert pressed[ord("D")] == pressed[ord("d")] == "detach"
    assert pressed[ord("h")] == "help"


def test_what_is_set_on_a_second_key_has_it() -> None:
    settings = Settings()
    settings.keys["who"] = ord("D")
    del settings.keys["help"]

    assert settings.pressed()[ord("D")] == "who"
    assert ord("h") not in settings.pressed()


def test_what_is_pressed_is_told_with_the_prefix() -> None:
    settings = Settings()
    assert settings.told("detach") == "Ctrl-] d"
    assert settings.hint("detach", "detaches") == "Ctrl-] d detaches"

    del settings.keys["detach"]

    assert settings.told("detach") == settings.hint("detach", "detaches") == ""


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("0s", 0.0),
        ("90s", 90.0),
        ("10m", 600.0),
        ("1h30m", 5400.0),
        ("2d", 172800.0),
        ("", None),
        ("m", None),
        ("10", None),
        ("10w", None),
        ("-1s", None),
        ("1.5h", None),
        ("\u0661s", None),
        ("9" * 13 + "s", None),
    ],
)
def test_a_time_has_units(text: str, seconds: float | None) -> None:
    assert seconds_from(text) == seconds


@given(st.integers(0, 10**9))
def test_a_time_that_is_told_is_read_again(seconds: int) -> None:
    assert seconds_from(seconds_told(seconds)) == seconds


def test_reaping_is_the_same_if_the_same_is_set() -> None:
    one, other = Reaping(), Reaping()
    assert one == other

    other.after = 1.0

    assert one != other
    assert one != 1


@pytest.mark.parametrize(
    ("text", "where"),
    [
        ("127.0.0.1:9464", ("127.0.0.1", 9464)),
        ("[::1]:65535", ("::1", 65535)),
        ("127.0.0.1:0", None),
        ("127.0.0.1:65536", None),
        ("127.0.0.1:" + "9" * 5000, None),
        ("127.0.0.1:x", None),
        ("127.0.0.1:\u0661", None),
        ("127.0.0.1", None),
        ("0.0.0.0:9464", None),
        ("localhost:9464", None),
        ("::1:9464", None),
    ],
)
def test_nothing_is_served_where_other_machines_could_ask(
    text: str, where: tuple[str, int] | None
) -> None:
    assert loopback_from(text) == where
