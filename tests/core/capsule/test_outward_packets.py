import socket
import struct

from hypothesis import given
from hypothesis import strategies as st

from holdfast.core.capsule import outward_packets
from holdfast.core.capsule.outward_packets import IPV4, IPV6, MAX_KNOWN, OutwardPackets
from holdfast.model.preview_report import Tried


def four(protocol: int, to: str, rest: bytes, *, words: int = 5) -> bytes:
    head = bytes([0x40 | words, *bytes(8), protocol, 0, 0, *bytes(4)])
    options = bytes(4 * (words - 5))
    return head + socket.inet_aton(to) + options + rest


def six(protocol: int, to: str, rest: bytes) -> bytes:
    source = bytes(16)
    to_raw = socket.inet_pton(socket.AF_INET6, to)
    return bytes([0x60, *bytes(5), protocol, 64]) + source + to_raw + rest


def tcp(port: int, flags: int = 0x02) -> bytes:
    return struct.pack(">HH8xBBHHH", 40000, port, 0x50, flags, 0, 0, 0)


def udp(port: int, message: bytes = b"") -> bytes:
    return struct.pack(">HHHH", 40000, port, 8 + len(message), 0) + message


def question(*labels: bytes) -> bytes:
    name = b"".join(bytes([len(one)]) + one for one in labels)
    return bytes(12) + name + b"\0\0\1\0\1"


def seen(*packets: tuple[int, bytes]) -> list[Tried]:
    outward = OutwardPackets()
    for kind, packet in packets:
        outward.take(kind, packet)
    return list(outward.tried())


def test_a_connection_is_told_once_with_how_often_it_was_tried() -> None:
    packet = four(6, "1.2.3.4", tcp(443))

    assert seen((IPV4, packet), (IPV4, packet)) == [Tried("tcp", "1.2.3.4:443", 2)]


def test_an_address_of_the_newer_kind_is_told_in_brackets() -> None:
    packet = six(6, "2001:db8::1", tcp(80))

    assert seen((IPV6, packet)) == [Tried("tcp", "[2001:db8::1]:80")]


def test_a_header_with_options_is_skipped_as_a_whole() -> None:
    packet = four(6, "1.2.3.4", tcp(22), words=8)

    assert seen((IPV4, packet)) == [Tried("tcp", "1.2.3.4:22")]


def test_answers_and_later_packets_of_a_connection_are_not_told() -> None:
    refused, accepted, cut = tcp(80, 0x14), tcp(80, 0x12), tcp(80)[:8]

    for rest in (refused, accepted, cut):
        assert seen((IPV4, four(6, "1.2.3.4", rest))) == []


def test_a_name_that_is_looked_up_is_told_and_not_whom_is_asked() -> None:
    asked = udp(53, question(b"example", b"com"))

    assert seen((IPV4, four(17, "10.0.0.53", asked))) == [Tried("name", "example.com")]


def test_what_is_no_question_is_told_by_its_address() -> None:
    too_long = question(*[b"a" * 63] * 5)
    others = udp(53), udp(53, question()), udp(53, too_long)

    for rest in others:
        found = seen((IPV4, four(17, "10.0.0.53", rest)))
        assert found == [Tried("udp", "10.0.0.53:53")]
    assert seen((IPV4, four(17, "10.0.0.9", udp(123)))) == [
        Tried("udp", "10.0.0.9:123")
    ]


def test_a_name_is_told_with_what_is_not_ascii_as_escapes() -> None:
    asked = udp(53, question(b"ex\xffample"))

    assert seen((IPV4, four(17, "10.0.0.53", asked))) == [Tried("name", "ex\\xffample")]


def test_an_echo_request_is_told_and_what_the_kernel_answers_is_not() -> None:
    echo, unreachable = four(1, "8.8.8.8", b"\x08"), four(1, "8.8.8.8", b"\x03")
    echo6 = six(58, "2001:db8::1", b"\x80")

    found = seen((IPV4, echo), (IPV4, unreachable), (IPV6, echo6))

    assert found == [Tried("icmp", "8.8.8.8"), Tried("icmp", "2001:db8::1")]


def test_another_protocol_is_told_by_its_number() -> None:
    assert seen((IPV4, four(132, "8.8.8.8", b""))) == [Tried("protocol 132", "8.8.8.8")]


def test_i2_what_stays_inside_is_not_told() -> None:
    inside = [
        (IPV4, four(6, "127.0.0.1", tcp(80))),
        (IPV4, four(6, "127.9.9.9", tcp(80))),
        (IPV4, four(17, "224.0.0.251", udp(5353))),
        (IPV6, six(6, "::1", tcp(80))),
        (IPV6, six(58, "ff02::2", b"\x85")),
    ]

    assert seen(*inside) == []


def test_i3_of_too_many_places_the_packets_are_counted() -> None:
    outward = OutwardPackets()
    for port in range(1, MAX_KNOWN + 4):
        outward.take(IPV4, four(6, "1.2.3.4", tcp(port)))
    outward.take(IPV4, four(6, "1.2.3.4", tcp(1)))

    assert len(outward.tried()) == MAX_KNOWN
    assert outward.tried()[0].times == 2
    assert outward.left_out == 3


def test_a_packet_of_another_kind_or_cut_short_is_not_told() -> None:
    assert seen((0x0806, bytes(60)), (IPV4, bytes(19)), (IPV6, bytes(39))) == []


@given(st.sampled_from([IPV4, IPV6, 0]), st.binary(max_size=200))
def test_i1_no_bytes_raise_anything(kind: int, packet: bytes) -> None:
    outward = OutwardPackets()
    outward.take(kind, packet)

    assert len(outward.tried()) <= 1
    assert outward_packets.MAX_KNOWN > 1
