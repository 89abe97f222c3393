import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.linux.painter_packets import Packet
from holdfast.model.errors import PeerError

HEADERS = st.dictionaries(st.text(), st.integers() | st.text() | st.booleans())


@given(header=HEADERS, data=st.binary())
def test_what_was_written_down_is_read_again(
    header: dict[str, object], data: bytes
) -> None:
    packet = Packet(header, data)

    assert Packet.from_bytes(packet.to_bytes()) == packet


@pytest.mark.parametrize(
    "raw",
    [
        b"",
        b"\0\0\0",
        b"\0\0\0\5{}",
        b"\0\0\0\2{]",
        b"\0\0\0\2[]",
        b"\0\0\0\1\xff",
        b"\0\1\0\0" + b"[" * 65536,
    ],
)
def test_what_is_no_packet_is_refused(raw: bytes) -> None:
    with pytest.raises(PeerError):
        Packet.from_bytes(raw)


def test_a_header_gives_only_what_was_asked_for() -> None:
    packet = Packet({"n": 3, "minus": -1, "yes": True, "t": "x", "p": [1, 2]})

    assert (packet.number("n"), packet.text("t"), packet.pair("p")) == (3, "x", (1, 2))
    for name in ("minus", "yes", "t", "gone"):
        with pytest.raises(PeerError):
            packet.number(name)
    with pytest.raises(PeerError):
        packet.text("n")
    with pytest.raises(PeerError):
        packet.pair("t")
