"""Write the bytes that everybody who signs inputs must agree on.

    python -m tools.write_input_vectors            write what differs
    python -m tools.write_input_vectors --check    fail if anything differs

Keys, and what is drawn at random in earnest, are fixed here, so everything that
follows is fixed too. docs/spec/logbook.md, section 13, says what the names mean.
"""

import json
from pathlib import Path

from tools.generated import write

from holdfast.core.input.commitments import chain_begin, content
from holdfast.core.input.input_chain import InputChain
from holdfast.crypto.keys import SigningKey
from holdfast.model.ids import (
    Epoch,
    Incarnation,
    SessionId,
    actor_id,
    client_id,
)
from holdfast.model.inputs import InputKind
from holdfast.wire.messages import Submit

TARGET = Path(__file__).resolve().parent.parent / "tests/core/vectors/inputs.json"

Json = dict[str, "Json"] | list["Json"] | str | int

SEED = bytes(range(32))
SECRET = bytes(range(32, 64))
SESSION = SessionId("s_" + "abcdefgh234567ab")
CLIENT = client_id(bytes(range(10)))
INPUTS = (
    (InputKind.KEYS, 1, b"l"),
    (InputKind.COMMAND, 2, b"make\r"),
    (InputKind.RESIZE, 2, b"120x40"),
    (InputKind.KEYS, 2**32 + 7, bytes(range(256))),
    (InputKind.ANSWER, 2**53 - 1, "pa\u00dfwort\r".encode()),
)
STATEMENTS = (1, 4, 5)
"""Up to which input each statement speaks."""


def text() -> str:
    """Return the whole file."""
    key = SigningKey.from_seed(SEED)
    actor, chain = actor_id(key.public), InputChain(SESSION, CLIENT, SECRET)
    inputs: list[Json] = []
    statements: list[Json] = []
    for number, (kind, epoch, payload) in enumerate(INPUTS, 1):
        made = Submit(
            client=CLIENT,
            sequence=number,
            kind=kind,
            incarnation=Incarnation(1),
            epoch=Epoch(epoch),
            payload=payload,
            seen=None,
            waits=True,
        )
        chain.note(made)
        what = content(made.incarnation, made.epoch, made.kind, made.payload)
        inputs.append(
            {
                "kind": kind.value,
                "epoch": epoch,
                "payload": payload.hex(),
                "content": what.hex(),
            }
        )
        if number in STATEMENTS:
            signed = chain.sign(key, actor, number)
            assert signed is not None  # noqa: S101  # it was just noted
            said = signed.to_message()
            statements.append(
                {
                    "last": said.last,
                    "steps": said.steps.hex(),
                    "signature": said.signature.hex(),
                }
            )
    vectors: Json = {
        "seed": SEED.hex(),
        "key": key.public.hex(),
        "actor": actor,
        "session": SESSION,
        "client": CLIENT,
        "secret": SECRET.hex(),
        "begin": chain_begin(SESSION, CLIENT).hex(),
        "inputs": inputs,
        "statements": statements,
    }
    return json.dumps(vectors, indent=1) + "\n"


if __name__ == "__main__":
    raise SystemExit(write(lambda target: {target: text()}, TARGET))
