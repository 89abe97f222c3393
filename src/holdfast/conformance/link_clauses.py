"""Sections 1 to 3 and 6: frames, payloads, greeting, versions, proof."""

import struct

from holdfast.conformance.clauses import clause
from holdfast.conformance.kinds import (
    KINDS,
    MAX_PAYLOAD,
    MAX_UNPROVEN_PAYLOAD,
    VERSION,
)
from holdfast.conformance.link import HEADER, PATIENCE, Link, frame, raw_frame
from holdfast.conformance.packed_form import Value, packed
from holdfast.conformance.subject import PRODUCT, Subject, new_client
from holdfast.conformance.verdict import Broken

UNSPOKEN = 60000
"""A version that nobody speaks yet."""

SERVED = ("PONG", "ATTACHED", "SCREEN", "GRAPH", "EVIDENCE", "PRESENCE")
"""Answers that must not come to what has to be refused."""

NUMBER = packed("number")
SPOILT = {
    "a longer form of a number": b"\x81" + NUMBER + b"\xcc\x05",
    "a longer form of a text": b"\x81\xd9\x06number\x05",
    "a longer form of a map": b"\xde\x00\x01" + NUMBER + b"\x05",
    "an unknown field": b"\x82" + NUMBER + b"\x05\xa1x\x05",
    "no field": b"\x80",
    "a field twice": b"\x82" + (NUMBER + b"\x05") * 2,
    "bytes after the end": b"\x81" + NUMBER + b"\x05\xc0",
    "a floating point number": b"\x81" + NUMBER + b"\xca\x40\xa0\x00\x00",
    "an extension": b"\x81" + NUMBER + b"\xd4\x01\x05",
    "a number below zero": b"\x81" + NUMBER + b"\xff",
    "a number over the limit": b"\x81" + NUMBER + b"\xcf" + struct.pack(">Q", 2**53),
    "a name that is not UTF-8": b"\x81\xa6numbe\xff\x05",
    "bytes instead of a text": b"\x81\xc4\x06number\x05",
    "no map": b"\x05",
    "nothing": b"",
}
"""Payloads of PING that are written in another way than the one there is."""


@clause("6.1")
def greeting(subject: Subject) -> str:
    """A HELLO is answered with WELCOME, in a version that was offered."""
    link = subject.link()
    link.send("HELLO", versions=[VERSION, UNSPOKEN], product=PRODUCT, client="service")
    version = link.wait("WELCOME", "GOODBYE").fields.get("version")
    if version != VERSION:
        raise Broken(f"of the versions {VERSION} and {UNSPOKEN} it chose {version}")
    return f"version {version}"


@clause("6.2")
def no_common_version(subject: Subject) -> str:
    """Without a common version it says so, and hangs up."""
    link = subject.link()
    link.send("HELLO", versions=[UNSPOKEN], product=PRODUCT, client="service")
    code = link.closes("a HELLO in no version it speaks", unless=("WELCOME",))
    if code != "no-common-version":
        raise Broken(f"it said {code or 'nothing'} and not no-common-version")
    return code


@clause("4.2")
def hello_first(subject: Subject) -> str:
    """The first frame MUST be HELLO."""
    link = subject.link()
    link.send("PING", number=7)
    return _told(link.closes("a PING before HELLO", unless=SERVED))


@clause("2.2")
def unknown_kind(subject: Subject) -> str:
    """An unknown kind is refused on the header alone."""
    codes = []
    for number in (0x00, 0x13, 0xFF):
        link = subject.proven()
        link.send_raw(HEADER.pack(number, 100))
        codes.append(link.closes(f"a frame of kind 0x{number:02x}", unless=SERVED))
    return _told(codes[-1])


@clause("2.2")
def oversize(subject: Subject) -> str:
    """A frame that is too large is refused on the header alone."""
    link = subject.proven()
    link.send("PING", number=1)
    link.wait("PONG")
    link.send_raw(HEADER.pack(KINDS["SUBMIT"].number, MAX_PAYLOAD + 1))
    return _told(link.closes(f"a header of {MAX_PAYLOAD + 1} bytes"))


@clause("2.3")
def oversize_unproven(subject: Subject) -> str:
    """Before the proof, no frame over 4,096 bytes is taken."""
    link, _ = subject.greeted()
    link.send_raw(HEADER.pack(KINDS["PING"].number, MAX_UNPROVEN_PAYLOAD + 1))
    return _told(link.closes(f"a header of {MAX_UNPROVEN_PAYLOAD + 1} bytes"))


@clause("2.4")
def cut_anywhere(subject: Subject) -> str:
    """Frames do not depend on where the stream is cut."""
    link = subject.link()
    hello = frame("HELLO", versions=[VERSION], product=PRODUCT, client="service")
    for byte in hello:
        link.send_raw(bytes([byte]))
    link.wait("CHALLENGE")
    link.send_raw(frame("PING", number=1) + frame("PING", number=2))
    for number in (1, 2):
        if link.wait("PONG")["number"] != number:
            raise Broken("two frames in one piece were not both answered, in order")
    return f"{len(hello)} pieces of one byte, two frames in one piece"


@clause("3.3")
def garbage(subject: Subject) -> str:
    """What is written in another way is refused, and not acted on."""
    for what, payload in SPOILT.items():
        link = subject.proven()
        link.send_raw(raw_frame(KINDS["PING"].number, payload))
        link.closes(f"a PING with {what}", unless=SERVED)
        link.close()
    return f"{len(SPOILT)} spoilt forms of PING"


@clause("3.3")
def reordered_fields(subject: Subject) -> str:
    """Fields in another order are refused."""
    link = subject.link()
    hello: dict[str, Value] = {
        "product": PRODUCT,
        "versions": [VERSION],
        "client": "service",
    }
    link.send_raw(raw_frame(KINDS["HELLO"].number, packed(hello)))
    return _told(
        link.closes("a HELLO with its fields in disorder", unless=("WELCOME",))
    )


@clause("4.1")
def wrong_side(subject: Subject) -> str:
    """A message that only the session's side sends is refused."""
    link = subject.proven()
    link.send("WELCOME", version=VERSION, product=PRODUCT)
    return _told(link.closes("a WELCOME from the operator's side"))


@clause("4.2")
def ping(subject: Subject) -> str:
    """PING is answered with PONG and the same number."""
    link = subject.proven()
    for number in (0, 7, 2**53 - 1):
        link.send("PING", number=number)
        if (found := link.wait("PONG")["number"]) != number:
            raise Broken(f"PING {number} was answered with PONG {found}")
    return "0, 7 and 2^53 - 1"


@clause("4.2")
def fresh_nonce(subject: Subject) -> str:
    """CHALLENGE follows WELCOME, with a nonce that was never used."""
    nonces = [subject.greeted()[1] for _ in range(4)]
    if len({*nonces}) < len(nonces) or not all(nonces):
        raise Broken("two links were given the same nonce")
    return f"{len(nonces)} nonces, {len(nonces[0])} bytes each"


@clause("4.2")
def nothing_before_proof(subject: Subject) -> str:
    """Before the proof nothing is served but PING and IDENTIFY."""
    wanted: dict[str, dict[str, Value]] = {
        "SCREEN_REQUEST": {"cells": False},
        "GRAPH_REQUEST": {"descriptors": False},
        "STATE_REQUEST": {},
        "WHO": {},
    }
    for name, fields in wanted.items():
        link, _ = subject.greeted()
        link.send("PING", number=3)
        link.wait("PONG")
        link.send(name, **fields)
        _unserved(link, name)
    link, _ = subject.greeted()
    _attach(subject, link)
    _unserved(link, "ATTACH")
    return f"{', '.join(wanted)}, ATTACH"


@clause("4.2")
def wrong_proof(subject: Subject) -> str:
    """A wrong proof is not taken."""
    link, nonce = subject.greeted()
    proof = bytearray(subject.proof(subject.first, nonce))
    proof[0] ^= 1
    link.send("IDENTIFY", actor=subject.first.actor, proof=bytes(proof))
    _attach(subject, link)
    _unserved(link, "a wrong proof")
    return "one bit was wrong"


@clause("4.2")
def replayed_proof(subject: Subject) -> str:
    """A proof is good for its own nonce alone."""
    _, old = subject.greeted()
    link, _ = subject.greeted()
    proof = subject.proof(subject.first, old)
    link.send("IDENTIFY", actor=subject.first.actor, proof=proof)
    _attach(subject, link)
    _unserved(link, "the proof of another link")
    return "the proof of another link was refused"


@clause("1.2")
def borrowed_name(subject: Subject) -> str:
    """Who somebody is follows from the proof, and from no message."""
    other = subject.other()
    link, nonce = subject.greeted()
    proof = subject.proof(other, nonce)
    link.send("IDENTIFY", actor=subject.first.actor, proof=proof)
    _attach(subject, link)
    _unserved(link, "another operator's name")
    return f"{other.name} cannot be {subject.first.name}"


def _attach(subject: Subject, link: Link) -> None:
    link.send(
        "ATTACH",
        session=subject.session,
        client=new_client(),
        mode="observe",
        size=None,
        incarnation=None,
        after=None,
        keyframe=False,
    )


def _unserved(link: Link, what: str) -> None:
    """See that a link is hung up on, and served nothing before that."""
    link.closes(what, unless=tuple(name for name in SERVED if name != "PONG"))


def _told(code: str) -> str:
    return code or f"it hung up within {PATIENCE:.0f} s, and did not say why"
