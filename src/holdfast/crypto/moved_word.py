"""Where a session went, in the words of the host that it left, signed.

Operators who are attached when a session moves, or who come too late, are told where it
is: the keys of the other host, and the relays that lead there. They believe it because
the host that they know has signed it; so nobody between can send them elsewhere.

    holdfast-moved-1.PAYLOAD.SIGNATURE

The form is that of every signed line (crypto.signed_line).

Invariants, checked by tests/crypto/test_moved_word.py:

I1  What was issued is read again; nothing else is, and reading raises only PeerError.
"""

from typing import NamedTuple

from holdfast.crypto.keys import PUBLIC, SigningKey
from holdfast.crypto.signed_line import MAX_TEXT, read_signed_line, signed_line
from holdfast.model.errors import TokenForged
from holdfast.model.text import printable

_TITLE = "holdfast-moved-1"


class MovedWord(NamedTuple):
    """Where one session is to be found."""

    session: str
    life: int
    """The last life that it had where this is said."""

    host: str
    """What the other host is called there, for people."""

    public_key: bytes
    static_key: bytes
    relays: tuple[str, ...]


def issue(word: MovedWord, key: SigningKey) -> str:
    """Return the word, signed; relays for which there is no room are left out."""
    relays = word.relays
    while True:
        text = signed_line(
            _TITLE,
            {
                "session": word.session,
                "life": word.life,
                "host": word.host,
                "public": word.public_key.hex(),
                "static": word.static_key.hex(),
                "relays": " ".join(relays),
            },
            key,
        )
        if len(text) <= MAX_TEXT or not relays:
            return text
        relays = relays[:-1]


def read(text: str, session: str, host: bytes) -> MovedWord:
    """Return where a session went, if that host has said so.

    Raises:
        PeerError: It has not.

    """
    said = read_signed_line(_TITLE, text, host)
    try:
        found = MovedWord(
            str(said["session"]),
            int(str(said["life"])),
            printable(str(said["host"]), 64),
            bytes.fromhex(str(said["public"])),
            bytes.fromhex(str(said["static"])),
            tuple(str(said["relays"]).split()),
        )
    except (KeyError, ValueError) as error:
        raise TokenForged(str(error)) from None
    if {len(found.public_key), len(found.static_key)} != {PUBLIC}:
        raise TokenForged("it names no key")
    if found.session != session:
        raise TokenForged("it is about another session")
    return found
