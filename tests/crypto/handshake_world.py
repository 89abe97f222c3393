"""An operator, a host and an invitation, for the tests of handshakes."""

from collections.abc import Callable
from dataclasses import dataclass

from holdfast.crypto.handshake import Accepting, Established, Joining, Opening
from holdfast.crypto.identity import Identity

HOST = Identity.from_seed(bytes(range(32)))
OPERATOR = Identity.from_seed(bytes(range(1, 33)))
STRANGER = Identity.from_seed(bytes(range(2, 34)))
INVITE_ID = bytes(range(50, 66))
SECRET = bytes(range(70, 86))
EPHEMERAL = bytes(range(100, 132))
ANSWERING = bytes(range(140, 172))

Dialled = Opening | Joining
Meddle = Callable[[bytes], bytes]


def opening(ephemeral: bytes = EPHEMERAL) -> Opening:
    return Opening(OPERATOR, HOST.public, HOST.static_public, ephemeral)


def joining(ephemeral: bytes = EPHEMERAL, secret: bytes = SECRET) -> Joining:
    return Joining(OPERATOR, HOST.public, INVITE_ID, secret, ephemeral)


DIALLED: dict[str, Callable[..., Dialled]] = {"attach": opening, "join": joining}


@dataclass
class Held:
    """A handshake that was held, message by message."""

    operator: Established
    host: Established
    messages: tuple[bytes, bytes, bytes]


def unchanged(message: bytes) -> bytes:
    return message


def hold(
    dialled: Dialled,
    host: Identity = HOST,
    meddle: tuple[Meddle, Meddle, Meddle] = (unchanged, unchanged, unchanged),
) -> Held:
    first = dialled.first()
    accepting = Accepting(host, meddle[0](first), ANSWERING)
    reply = accepting.reply()
    last, operator = dialled.last(meddle[1](reply))
    secret = b"" if accepting.invite_id is None else SECRET
    found = accepting.finish(meddle[2](last), secret)
    return Held(operator, found, (first, reply, last))
