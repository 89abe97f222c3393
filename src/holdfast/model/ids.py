"""Ids, each with a type of its own so that none is mistaken for another.

    s_ + 16 letters   session   10 random bytes
    h_ + 32 letters   host      20 bytes of SHA-256 over its public key
    a_ + 32 letters   actor     20 bytes of SHA-256 over its public key
    c_ + 16 letters   client    10 random bytes: one program that sends inputs

Letters are base32 in lower case (RFC 4648, a to z and 2 to 7), so an id can be
read aloud, typed and double-clicked. Knowing one grants nothing.

Checkers keep the kinds apart; at run time an id is its text. What would say so to
both (`typing`) takes longer to load than everything else that an id needs.
"""

from holdfast.model.text import printable

TYPE_CHECKING = False
"""Only checkers take it for true."""

if TYPE_CHECKING:
    from typing import NewType

    SessionId = NewType("SessionId", str)
    HostId = NewType("HostId", str)
    ActorId = NewType("ActorId", str)
    ClientId = NewType("ClientId", str)

    Epoch = NewType("Epoch", int)
    """The turn epoch: raised whenever the right to write changes hands."""

    Incarnation = NewType("Incarnation", int)
    """The n-th life of a session, from 1; the fencing epoch of its lease."""

    Index = NewType("Index", int)
    """The place of an entry in a session's logbook, from 0, without gaps."""
else:
    SessionId = HostId = ActorId = ClientId = str
    Epoch = Incarnation = Index = int

NO_EPOCH = Epoch(0)
FIRST_INCARNATION = Incarnation(1)

ENTROPY = 10
"""Random bytes in an id: 80 bits, so that a billion sessions do not collide."""

_DIGEST = 20
_SHOWN = 64
_SHORT = 16
_LONG = 32
_ALPHABET = "abcdefghijklmnopqrstuvwxyz234567"
_BITS = 5


def session_id(entropy: bytes) -> SessionId:
    """Name a new session from ENTROPY random bytes."""
    return SessionId("s_" + _letters(entropy, ENTROPY))


def client_id(entropy: bytes) -> ClientId:
    """Name a new client from ENTROPY random bytes."""
    return ClientId("c_" + _letters(entropy, ENTROPY))


def host_id(public_key: bytes) -> HostId:
    """Return the id of the host that owns this public key."""
    return HostId("h_" + _key_letters(public_key))


def actor_id(public_key: bytes) -> ActorId:
    """Return the id of the actor that owns this public key."""
    return ActorId("a_" + _key_letters(public_key))


def parse_session_id(text: str) -> SessionId:
    """Read a session id.

    Raises:
        UsageError: The text is none.

    """
    return SessionId(_checked(text, "s_", _SHORT, "session id"))


def parse_client_id(text: str) -> ClientId:
    """Read a client id.

    Raises:
        UsageError: The text is none.

    """
    return ClientId(_checked(text, "c_", _SHORT, "client id"))


def parse_host_id(text: str) -> HostId:
    """Read a host id.

    Raises:
        UsageError: The text is none.

    """
    return HostId(_checked(text, "h_", _LONG, "host id"))


def parse_actor_id(text: str) -> ActorId:
    """Read an actor id.

    Raises:
        UsageError: The text is none.

    """
    return ActorId(_checked(text, "a_", _LONG, "actor id"))


def is_actor_id(text: str) -> bool:
    """Tell whether a text is an actor's id."""
    return _fits(text, "a_", _LONG)


def next_epoch(epoch: Epoch) -> Epoch:
    """Return the epoch after this one."""
    return Epoch(epoch + 1)


def next_incarnation(incarnation: Incarnation) -> Incarnation:
    """Return the life after this one."""
    return Incarnation(incarnation + 1)


def _letters(raw: bytes, size: int) -> str:
    assert len(raw) == size, f"an id is made of {size} bytes, not {len(raw)}"  # noqa: S101
    number = int.from_bytes(raw, "big")
    shifts = range(8 * size - _BITS, -1, -_BITS)
    return "".join(
        _ALPHABET[number >> shift & (len(_ALPHABET) - 1)] for shift in shifts
    )


def _key_letters(public_key: bytes) -> str:
    import hashlib  # noqa: PLC0415  # slow to load, and few make an id of a key

    return _letters(hashlib.sha256(public_key).digest()[:_DIGEST], _DIGEST)


def _checked(text: str, prefix: str, letters: int, wanted: str) -> str:
    if not _fits(text, prefix, letters):
        from holdfast.model.errors import MalformedId  # noqa: PLC0415  # rarely needed

        raise MalformedId(printable(text, _SHOWN), wanted)
    return text


def _fits(text: str, prefix: str, letters: int) -> bool:
    rest = text[len(prefix) :]
    is_whole = text.startswith(prefix) and len(rest) == letters
    return is_whole and frozenset(_ALPHABET).issuperset(rest)
