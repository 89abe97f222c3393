"""What an isolated capsule tried to reach, judged by the packets it sent.

Theory of operation
-------------------
In a network of its own everything but the capsule itself is out of reach. For a
preview every address is made the capsule's own, so that the kernel refuses at once
what nobody inside listens to, and the packets go by on the loopback device, where
they can be read:

    tcp    the packet that opens a connection
    udp    each packet; one to port 53 is a question for a name
    icmp   an echo request
    else   by the number of its protocol, as long as it is no answer of the kernel

Who sent a packet is not in it.

Invariants, each checked by tests/core/capsule/test_outward_packets.py:

I1  No bytes raise anything, whatever is in them.
I2  What goes to the capsule's own loopback addresses is not counted.
I3  At most MAX_KNOWN places are kept; of the others it is counted how many packets
    there were.
"""

import ipaddress

from holdfast.model.preview_report import Tried

IPV4, IPV6 = 0x0800, 0x86DD
"""The kinds of packets that are read, as the kernel numbers them."""

MAX_KNOWN = 1000
"""Places that are kept; a scan of ports has more."""

MAX_HOST = 253
"""Letters of a name that is looked up."""

_ICMP, _TCP, _UDP, _ICMP6 = 1, 6, 17, 58
_ECHO = {_ICMP: 8, _ICMP6: 128}
_NAMES = 53
_SYN, _ACK = 0x02, 0x10
_HEADER4, _HEADER6 = 20, 40
_FLAGS_AT, _UDP_HEADER, _QUESTION_AT = 13, 8, 12
_MAX_LABEL = 63


class OutwardPackets:
    """What was tried, gathered packet by packet."""

    def __init__(self) -> None:
        self._known: dict[tuple[str, str], int] = {}
        self.left_out = 0
        """Packets to places that are not kept."""

    def take(self, kind: int, packet: bytes) -> None:
        """Count one packet."""
        found = _seen(kind, packet)
        if found is None:
            return
        if found in self._known or len(self._known) < MAX_KNOWN:
            self._known[found] = self._known.get(found, 0) + 1
        else:
            self.left_out += 1

    def tried(self) -> tuple[Tried, ...]:
        """Return what was tried, in the order in which it was tried first."""
        return tuple(Tried(*place, count) for place, count in self._known.items())


def _seen(kind: int, packet: bytes) -> tuple[str, str] | None:
    if kind == IPV4 and len(packet) >= _HEADER4:
        size = (packet[0] & 0x0F) * 4
        protocol, raw = packet[9], packet[16:20]
    elif kind == IPV6 and len(packet) >= _HEADER6:
        size, protocol, raw = _HEADER6, packet[6], packet[24:40]
    else:
        return None
    to = ipaddress.ip_address(raw)
    if to.is_loopback or to.is_multicast or to.is_unspecified:
        return None
    return _told(protocol, str(to), packet[size:])


def _told(protocol: int, to: str, rest: bytes) -> tuple[str, str] | None:
    port = int.from_bytes(rest[2:4], "big")
    place = f"[{to}]:{port}" if ":" in to else f"{to}:{port}"
    if protocol == _TCP:
        flags = rest[_FLAGS_AT] if len(rest) > _FLAGS_AT else 0
        return ("tcp", place) if flags & (_SYN | _ACK) == _SYN else None
    if protocol == _UDP:
        name = _question(rest[_UDP_HEADER:]) if port == _NAMES else ""
        return ("name", name) if name else ("udp", place)
    if protocol in _ECHO:
        return ("icmp", to) if rest[:1] == bytes([_ECHO[protocol]]) else None
    return f"protocol {protocol}", to


def _question(message: bytes) -> str:
    """Return the name that a message asks for; empty if it is no question."""
    labels: list[str] = []
    at = _QUESTION_AT
    while at < len(message) and 0 < (size := message[at]) <= _MAX_LABEL:
        label = message[at + 1 : at + 1 + size]
        labels.append(label.decode("ascii", "backslashreplace"))
        at += 1 + size
    name = ".".join(labels)
    return name if len(name) <= MAX_HOST else ""
