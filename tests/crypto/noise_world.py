"""Two sides of a handshake, for the tests of Noise."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from holdfast.crypto.noise import (
    IK,
    XXPSK3,
    Agreed,
    HandshakeState,
    KeyPair,
    Pattern,
)

VECTORS: list[dict[str, Any]] = json.loads(
    (Path(__file__).parent / "vectors/noise.json").read_text()
)["vectors"]
PATTERNS = {pattern.name: pattern for pattern in (IK, XXPSK3)}
PROLOGUE = b"where and what for"
PSK = bytes(range(200, 232))


def key(seed: int) -> KeyPair:
    return KeyPair(bytes(range(seed, seed + 32)))


@dataclass
class Sides:
    """An initiator and a responder that were told the same."""

    initiator: HandshakeState
    responder: HandshakeState

    def run(self) -> tuple[Agreed, Agreed]:
        writer, reader = self.initiator, self.responder
        while not self.initiator.is_over:
            reader.read(writer.write(b"hello"))
            writer, reader = reader, writer
        return self.initiator.agree(), self.responder.agree()


def sides(
    pattern: Pattern,
    *,
    prologues: tuple[bytes, bytes] = (PROLOGUE, PROLOGUE),
    psks: tuple[bytes, bytes] = (PSK, PSK),
    known: bytes | None = None,
) -> Sides:
    responder_static = key(40)
    expected = responder_static.public if known is None else known
    made = Sides(
        HandshakeState(
            pattern,
            prologues[0],
            key(1),
            key(20),
            remote_static=expected if pattern.knows_responder else None,
            is_initiator=True,
        ),
        HandshakeState(
            pattern, prologues[1], responder_static, key(60), is_initiator=False
        ),
    )
    if pattern.has_psk:
        made.initiator.set_psk(psks[0])
        made.responder.set_psk(psks[1])
    return made
