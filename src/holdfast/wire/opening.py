"""Requests of an operator once its channel is open.

The first record of the operator is OPEN, alone in its record: the host itself, or
one of its sessions. The host answers with one record, OPENED or DECLINED. After
OPENED the channel carries the bytes of what was asked for: for a session the
local wire protocol (docs/spec/wire.md), for the host its requests.

Each is a msgpack map that says under `is` what it is, its fields in the order of
their declaration. What is read is written again and compared, so that there is
one way to write each.

I1  decode(encode(m)) is m, and encode(decode(b)) is b.
I2  Whatever the bytes, decode returns a message or raises a PeerError.
"""

from typing import Annotated, Final

import msgspec
from msgspec import Meta

from holdfast.model.errors import HoldfastError, SessionLeft, from_facts
from holdfast.wire.canonical_form import CanonicalForm
from holdfast.wire.channel import VERSION
from holdfast.wire.messages import MAX_TEXT, Facts, Text, Word, fitting, sent_facts

HOST: Final = "host"
"""The target that is the host itself."""

MAX_OPENING: Final = 32 * 1024
"""Bytes of any of these: DECLINED with all it can hold is shorter, and one record."""

MAX_FACT: Final = 200
"""Characters kept of a fact; what is longer was not made to be read."""

Target = Annotated[str, Meta(pattern=r"^(host|s_[a-z2-7]{16})\Z", max_length=18)]
Version = Annotated[int, Meta(ge=VERSION, le=VERSION)]


class Opens(msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag_field="is"):
    """One of the messages of this page."""


class Open(Opens, frozen=True, tag="open"):
    """Asks for a connection to the host, or to one of its sessions."""

    version: Version
    target: Target


class Opened(Opens, frozen=True, tag="opened"):
    """Grants it: what follows belongs to that connection."""

    version: Version


class Declined(Opens, frozen=True, tag="declined"):
    """Refuses it, and says why; nothing follows."""

    code: Word
    text: Text
    facts: Facts


OpeningMessage = Open | Opened | Declined

_spelling: CanonicalForm[OpeningMessage] = CanonicalForm(
    "opening", msgspec.msgpack.Decoder(OpeningMessage), MAX_OPENING
)
encode, decode = _spelling.encode, _spelling.decode
"""Write a message down, and read one: see CanonicalForm."""


OPENED: Final = encode(Opened(VERSION))
"""What grants a connection, written down."""


def declined(error: HoldfastError) -> Declined:
    """Return what tells the other side of an error."""
    # Where a session went is read by programs, and of no use if it is cut.
    longest = MAX_TEXT if isinstance(error, SessionLeft) else MAX_FACT
    facts = sent_facts(error, longest)
    return Declined(error.code, fitting(str(error), MAX_TEXT), facts)


def error_from(message: Declined) -> HoldfastError:
    """Return the error that a host told us of."""
    return from_facts(message.code, message.facts, message.text)
