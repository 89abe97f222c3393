"""Write docs/spec/wire.schema.json from the messages.

python -m tools.write_schema            write it
python -m tools.write_schema --check    exit 1 if it is not what would be written

JSON Schema (2020-12) for every message, for readers who do not read Python; from it
the types of other languages are made. On the wire the same fields are msgpack, and
`bytes` are bytes: the schema says base64 because JSON has no other way, and `tsType`
says what they are.
"""

import hashlib
import json
from pathlib import Path

import msgspec
from tools.generated import write

from holdfast.wire.codec import KINDS
from holdfast.wire.versions import PROTOCOL

TARGET = Path(__file__).parent.parent / "docs" / "spec" / "wire.schema.json"

Json = str | int | bool | None | list["Json"] | dict[str, "Json"]


def document() -> dict[str, Json]:
    """Return the schema of every message; `x-kinds` says which frame carries it."""
    references, components = msgspec.json.schema_components(
        KINDS.values(), ref_template="#/$defs/{name}"
    )
    schema: dict[str, Json] = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Message",
        "x-protocol": PROTOCOL,
        "x-kinds": {
            kind.name: {"number": kind.value, "message": shape.__name__}
            for kind, shape in KINDS.items()
        },
        "oneOf": list(references),
        "$defs": dict(components),
    }
    return schema


def text() -> str:
    """Return the schema as docs/spec/wire.schema.json holds it."""
    return _written(document(), indent=2) + "\n"


def fingerprint(schema: Json) -> str:
    """Return the SHA-256 of a message set, which no change leaves the same.

    Descriptions are left out: better words do not make another protocol. The
    order of fields is kept, because it is the order on the wire.
    """
    return hashlib.sha256(_written(_bare(schema)).encode()).hexdigest()


def _written(schema: Json, indent: int | None = None) -> str:
    return json.dumps(schema, indent=indent, ensure_ascii=False)


def _bare(schema: Json) -> Json:
    match schema:
        case dict():
            return {
                name: _bare(value)
                for name, value in schema.items()
                if not (name == "description" and isinstance(value, str))
            }
        case list():
            return [_bare(value) for value in schema]
        case _:
            return schema


if __name__ == "__main__":
    raise SystemExit(write(lambda target: {target: text()}, TARGET))
