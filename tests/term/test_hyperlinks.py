import pytest

from holdfast.term.hyperlinks import LinkFilter


def filtered(*chunks: bytes) -> bytes:
    links = LinkFilter()
    return b"".join(links.feed(chunk) for chunk in chunks)


@pytest.mark.parametrize(
    ("stream", "expected"),
    [
        (b"\x1b]8;;http://a\x07a", b"\x1b]80;;http://a\x07a"),
        (b"\x1b]8;;\x1b\\", b"\x1b]80;;\x1b\\"),
        (b"\x1b\x07]\x00008\x01;x", b"\x1b\x07]\x00008\x010;x"),
        (b"\x1b[1;\x9d8;x", b"\x1b[1;\x9d80;x"),
        (b"\x1b \x9d8;x", b"\x1b \x9d80;x"),
        (b"\x1b\xc2\x9d8;x", b"\x1b\xc2\x9d80;x"),
        (b"\x1b\x9b\x9d8;x", b"\x1b\x9b\x9d80;x"),
        (b"\x1b_Gabc\x9d8;x", b"\x1b_Gabc\x9d80;x"),
        (b"\x1b[\x90\x9d8;x", b"\x1b[\x90\x9d80;x"),
        (b"\x1b]8;\x1b]8;\x1b]8;", b"\x1b]80;\x1b]80;\x1b]80;"),
    ],
)
def test_every_way_to_begin_a_link_is_made_unknown(
    stream: bytes, expected: bytes
) -> None:
    assert filtered(stream) == expected
    assert filtered(*(bytes([byte]) for byte in stream)) == expected


@pytest.mark.parametrize(
    "stream",
    [
        b"",
        b"8;",
        b"\x1b]2;8;title\x07",
        b"\x1b]88;x\x07",
        b"\x1b]81;x\x07",
        b"\x1b[8;3H]8;",
        b"\x1b]\x078;",
        b"\x1b]8\x07;",
        b"\x1b ]8;",
        b"\x1b[1\x18\x9d8;",
        "\x1b[0m╝8; \u041d8; 漢\U0001f61d8;".encode(),
        b"\x9d8;\xc2\x9d8;",
    ],
)
def test_what_is_no_link_is_left_alone(stream: bytes) -> None:
    assert filtered(stream) == stream
    assert filtered(*(bytes([byte]) for byte in stream)) == stream


def test_an_endless_string_of_escapes_takes_little_time() -> None:
    stream = b"\x1b" * 1_000_000

    assert filtered(stream) == stream
