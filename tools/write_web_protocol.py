"""Write what the web page knows of messages and errors, from the code.

python -m tools.write_web_protocol            write it
python -m tools.write_web_protocol --check    exit 1 if it is not what would be written

web/src/protocol/messages.ts has the type and the exact shape of each message,
codes.ts the code of each error, session-record.ts what is told of a session,
words.ts the words of fingerprints, and client-limits.ts how long a client waits.
The reader and the writer are there too, and are written by hand; they agree with
ours on the vectors of tests/wire/vectors.
"""

import json
import sys
import textwrap
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import get_args

from msgspec import inspect
from tools.generated import write

from holdfast.core.client import questions, screen_question, signing, timeouts
from holdfast.crypto.words import WORDS
from holdfast.host.host_requests import RIGHTS
from holdfast.model import inputs
from holdfast.model.envelopes import Right
from holdfast.model.errors import (
    Forbidden,
    HoldfastError,
    PeerError,
    Unavailable,
    Unsettled,
    UsageError,
    leaves,
)
from holdfast.model.image_record import ImageRecord
from holdfast.model.lost_record import LostRecord
from holdfast.model.process_status import GuestStatus
from holdfast.model.session_record import (
    Attention,
    Cells,
    ParentRecord,
    SessionRecord,
    key_of,
)
from holdfast.model.session_requests import KINDS as REQUESTS
from holdfast.model.session_requests import Creation, Join, OpenSession, Terms
from holdfast.wire import opening, relay_messages
from holdfast.wire.codec import KINDS
from holdfast.wire.versions import SPOKEN

FOLDER = Path(__file__).parent.parent / "web" / "src" / "protocol"
BRANCHES = (UsageError, Forbidden, PeerError, Unavailable, Unsettled)
INTRODUCTION = """\
/**
 * {what}
 *
 * tools/write_web_protocol.py writes this file from the code in src/holdfast.
 */
"""


class Shapes:
    """The types that messages are made of, each written once, after what it needs."""

    def __init__(self) -> None:
        self._classes: dict[str, type] = {}
        self.types: dict[str, str] = {}
        self.shapes: dict[str, str] = {}

    def add(  # noqa: PLR0911  # one case for each sort of type
        self, told: inspect.Type
    ) -> tuple[str, str]:
        """Return a type's name in TypeScript, and the expression of its shape."""
        match told:
            case inspect.Metadata(type=inner):
                return self.add(inner)
            case inspect.StructType():
                return self._struct(told)
            case inspect.EnumType(cls=kind):
                words = [json.dumps(str(one.value)) for one in kind]
                self.types[kind.__name__] = f"export type {kind.__name__} = " + (
                    " | ".join(words) + ";"
                )
                return kind.__name__, f"oneOf({', '.join(words)})"
            case inspect.VarTupleType(item_type=item, min_length=low, max_length=high):
                name, shape = self.add(item)
                return (
                    f"readonly {_bracketed(name)}[]",
                    f"list({shape}, {low or 0}, {high})",
                )
            case inspect.DictType(max_length=high):
                return "Facts", f"facts({high})"
            case inspect.UnionType(types=types):
                kept = [one for one in types if not isinstance(one, inspect.NoneType)]
                assert len(kept) == 1, "a field is something, or nothing"  # noqa: S101
                name, shape = self.add(kept[0])
                return f"{name} | null", f"orNull({shape})"
            case _:
                return _plain(told)

    def _struct(self, told: inspect.StructType) -> tuple[str, str]:
        name = told.cls.__name__
        if self._classes.setdefault(name, told.cls) is not told.cls:
            sys.exit(f"two messages are called {name}: one must have another name")
        if name in self.types:
            return name, _constant(name)
        made = [(one.encode_name, *self.add(one.type)) for one in told.fields]
        summary = (told.cls.__doc__ or "").strip().splitlines()[0]
        lines = [f"  readonly {field}: {kind};" for field, kind, _ in made]
        body = "\n".join(["{", *lines, "}"]) if lines else "{}"
        shape = ",\n".join(f"  {field}: {shape}" for field, _, shape in made)
        self.types[name] = f"/** {summary} */\nexport interface {name} {body}"
        self.shapes[name] = (
            f"export const {_constant(name)} = struct<{name}>("
            + (f"{{\n{shape},\n}}" if shape else "{}")
            + ");"
        )
        return name, _constant(name)


def _plain(told: inspect.Type) -> tuple[str, str]:
    match told:
        case inspect.BoolType():
            return "boolean", "flag"
        case inspect.IntType(ge=low, le=high):
            return "number", f"int({low}, {high})"
        case inspect.BytesType(min_length=low, max_length=high):
            return "Uint8Array", f"bytes({low or 0}, {high})"
        case inspect.StrType(max_length=high, pattern=pattern):
            if pattern is None:
                return "string", f"text({high})"
            # A browser has no \Z, and its $ is never before a newline.
            written = pattern.replace(r"\Z", "$").replace(r"$(?!\n)", "$")
            return "string", f"text({high}, /{written}/)"
        case _:
            raise TypeError(told)


def _bracketed(name: str) -> str:
    return f"({name})" if "|" in name else name


def _constant(name: str) -> str:
    letters = (f"_{one}" if one.isupper() else one.upper() for one in name)
    return "".join(letters).removeprefix("_")


def messages_text() -> str:
    """Return messages.ts as it should be."""
    made = Shapes()
    bodies = {kind.name: made.add(inspect.type_info(KINDS[kind])) for kind in KINDS}
    said = _tagged(made, get_args(relay_messages.RelayMessage), relay_messages.__name__)
    opened = _tagged(made, get_args(opening.OpeningMessage), opening.__name__)
    numbers = [f"  {kind.name}: 0x{kind.value:02x}," for kind in KINDS]
    return "\n".join(
        [
            INTRODUCTION.format(what="Every message there is, its type and its shape."),
            "import {",
            "  bytes, facts, flag, int, list, oneOf, orNull, struct, text,",
            '} from "./shapes.js";',
            'import type { Facts } from "./shapes.js";',
            "",
            f"export const SPOKEN: readonly number[] = {list(SPOKEN)};",
            "",
            *_spaced(made.types.values()),
            *_spaced(made.shapes.values()),
            "/** The number of each kind of frame. */",
            "export const KINDS = {",
            *numbers,
            "} as const;",
            "",
            "export interface Bodies {",
            *(f"  readonly {kind}: {name};" for kind, (name, _) in bodies.items()),
            "}",
            "",
            "export const SHAPES = {",
            *(f"  {kind}: {shape}," for kind, (_, shape) in bodies.items()),
            "} as const;",
            "",
            "/** What a relay and its peers say: docs/spec/relay.md. */",
            *_table("RELAY_MESSAGES", said),
            "/** What a channel begins with: docs/spec/channel.md, section 7. */",
            *_table("OPENING", opened),
        ]
    )


def _tagged(
    made: Shapes, kinds: Iterable[type], module: str
) -> dict[str, tuple[str, str]]:
    found: dict[str, tuple[str, str]] = {}
    for kind in kinds:
        told = inspect.type_info(kind)
        assert isinstance(told, inspect.StructType), module  # noqa: S101
        found[str(told.tag)] = made.add(told)
    return found


def _table(name: str, said: dict[str, tuple[str, str]]) -> Iterator[str]:
    yield f"export const {name} = {{"
    for tag, (_, shape) in said.items():
        yield f"  {json.dumps(tag)}: {shape},"
    yield "} as const;"
    yield ""


def _spaced(parts: Iterable[str]) -> Iterator[str]:
    for part in parts:
        yield part
        yield ""


def codes_text() -> str:
    """Return codes.ts as it should be."""
    lines = [
        INTRODUCTION.format(
            what="Every error there is, as in docs/reference/errors.md."
        ),
        "/** What to do about an error; each code belongs to one of these. */",
        "export type Branch =",
        *(f'  | "{branch.__name__}"' for branch in BRANCHES[:-1]),
        f'  | "{BRANCHES[-1].__name__}";',
        "",
        "/** Its branch, whether to try again, and what to do next. */",
        "export type About = readonly [Branch, boolean, string];",
        "",
        "export const CODES: Readonly<Record<string, About>> = {",
    ]
    for branch in BRANCHES:
        lines += [_code(branch, leaf) for leaf in leaves(branch)]
    return "\n".join([*lines, "};", ""])


def _code(branch: type[HoldfastError], leaf: type[HoldfastError]) -> str:
    about = [branch.__name__, leaf.retryable, leaf.next_step]
    return f"  {json.dumps(leaf.code)}: {json.dumps(about, ensure_ascii=False)},"


_READ: dict[object, tuple[str, str]] = {
    "id": ("SessionId", "textOf"),  # An id is a text at run time.
    str: ("string", "shownOf"),
    int: ("number", "numberOf"),
    int | None: ("number | null", "numberOrNull"),
    bool: ("boolean", "flagOf"),
    tuple[str, ...]: ("readonly string[]", "wordsOf"),
    Cells: ("Cells | null", "cellsOf"),
    Attention: ("Attention | null", "attentionOf"),
    ParentRecord | None: ("Parent | null", "parentOf"),
}
"""What each type of a session's fields is in TypeScript, and what reads it."""


def record_text() -> str:
    """Return session-record.ts as it should be."""
    return _read_text(
        SessionRecord,
        "SessionInfo",
        "A session, as its host lists it.",
        "Read what a host says of a session; what is missing is empty.",
    )


def lost_text() -> str:
    """Return lost-record.ts as it should be."""
    return _read_text(
        LostRecord,
        "LostInfo",
        "A session that was lost, as its host lists it.",
        "Read what a host says of a lost session; what is missing is empty.",
    )


def image_text() -> str:
    """Return image-record.ts as it should be."""
    return _read_text(
        ImageRecord,
        "ImageInfo",
        "An image of a session, as its host lists it.",
        "Read what a host says of an image; what is missing is empty.",
    )


def status_text() -> str:
    """Return host-status.ts as it should be."""
    return _read_text(
        GuestStatus,
        "HostStatus",
        "What a host says of itself; the notices are for people to read.",
        "Read what a host says of itself; what is missing is empty.",
    )


def _read_text(record: type, name: str, what: str, how: str) -> str:
    # Where it lives is what we call the host: the page knows that by itself.
    kinds = record.__annotations__.items()
    fields = [
        (field, *_READ.get(field, _READ[kind]))
        for field, kind in kinds
        if field != "host"
    ]
    types = {kind.removesuffix(" | null") for _, kind, _ in fields}
    readers = sorted({reader for _, _, reader in fields})
    source = record.__module__.replace(".", "/")
    return "\n".join(
        [
            INTRODUCTION.format(what=what),
            *(line for kind, line in _BEFORE.items() if kind in types),
            'import type { Packet } from "./packets.js";',
            _imported(readers, "./packets.js"),
            *(line for kind, line in _AFTER.items() if kind in types),
            "",
            f"/** What each field says is in src/{source}.py. */",
            f"export interface {name} {{",
            *(f"  readonly {_camel(field)}: {kind};" for field, kind, _ in fields),
            "}",
            "",
            f"/** {how} */",
            f"export function {name[0].lower()}{name[1:]}(told: Packet): {name} {{",
            "  return {",
            *(
                f'    {_camel(field)}: {by}(told, "{field}"),'
                for field, _, by in fields
            ),
            "  };",
            "}",
            "",
        ]
    )


def _imported(names: list[str], module: str) -> str:
    line = f'import {{ {", ".join(names)} }} from "{module}";'
    if len(line) <= WIDTH:
        return line
    return "\n".join(
        ["import {", *(f"  {one}," for one in names), f'}} from "{module}";']
    )


_BEFORE = {
    "SessionId": 'import type { SessionId } from "./api.js";',
    "Attention": 'import type { Attention } from "./attention.js";',
    "Cells": 'import type { Cells } from "./messages.js";',
}
_AFTER = {
    "Parent": 'import type { Parent } from "./parent.js";',
}
"""Where the types of ours come from, by the order of the files."""


_SAID: dict[object, str] = {
    str: "string",
    str | None: "string",
    int: "number",
    int | None: "number",
    bool: "boolean",
    bool | None: "boolean",
    tuple[str, ...]: "readonly string[]",
    dict[str, str] | None: "Readonly<Record<string, string>>",
    Cells | None: "readonly [number, number]",
}
"""What each type of a request's fields is in TypeScript."""

_OURS = frozenset(
    {"asker", "asked_ms", "proof", "creator", "token", "ground", "exec_gate"}
)
"""Fields that the host fills in: a client that asks through a channel says none."""

_OURS_OF_NEW = frozenset({"id", "recover"})
"""The same of a new session, which has them from its keeper."""


WIDTH = 100
"""Characters of a line, as the page's formatter has it."""


def requests_text() -> str:
    """Return session-requests.ts as it should be."""
    kinds = [
        (do, kind)
        for do, kind in REQUESTS.items()
        if kind in RIGHTS or kind in (OpenSession, Join, Terms)
    ]
    lines = [
        INTRODUCTION.format(what="What is asked of a host through a channel."),
        "/** What each field says is in src/holdfast/model/session_requests.py. */",
        "export type HostRequest =",
    ]
    for do, kind in kinds:
        fields = [
            f"readonly {key_of(name)}?: {_SAID[said]}"
            for name, said in kind.__annotations__.items()
            if name not in _OURS
            and not (kind is Creation and name in ("id", "recover"))
        ]
        members = [f'readonly do: "{do}"', *fields]
        line = f"  | {{ {'; '.join(members)} }}"
        if len(line) > WIDTH:
            line = "\n".join(["  | {", *(f"      {one};" for one in members), "    }"])
        lines.append(line)
    lines[-1] += ";"
    return "\n".join([*lines, ""])


def words_text() -> str:
    """Return words.ts as it should be."""
    said = ["/** The word of each byte; what a key is called by them never changes. */"]
    said += ["export const WORDS: readonly string[] = ("]
    lines = textwrap.wrap(" ".join(WORDS), WIDTH - len('  "" +') - 1)
    said += [f'  "{line} " +' for line in lines[:-1]] + [f'  "{lines[-1]}"']
    about = INTRODUCTION.format(what="256 words, for keys that are compared by voice.")
    return "\n".join([about, *said, ').split(" ");', ""])


LIMITS: dict[str, tuple[float, str]] = {
    "GREETING_MS": (timeouts.GREETING * 1000, "Milliseconds for a holder to greet us."),
    "ANSWER_MS": (timeouts.ANSWER * 1000, "Milliseconds for the answer to a question."),
    "CHECKPOINT_MS": (1000 * timeouts.CHECKPOINT, "Milliseconds for an image."),
    "END_MS": (timeouts.END * 1000, "Milliseconds for a session to end."),
    "RETRY_MS": (
        timeouts.RETRY * 1000,
        "Milliseconds until an input is sent again that there was no room for.",
    ),
    "CADENCE_MS": (
        signing.CADENCE * 1000,
        "Milliseconds between two statements about keys.",
    ),
    "MAX_UNSIGNED": (signing.MAX_UNSIGNED, "Inputs that wait to be signed."),
    "MAX_LINKS": (signing.MAX_LINKS, "Links on which one statement is sent."),
    "MAX_INPUT": (inputs.MAX_INPUT, "Bytes of one input."),
    "ALL_RIGHTS": (len(Right), "How many rights there are."),
    "MAX_GRAPH_PARTS": (questions.MAX_GRAPH_PARTS, "Parts taken of one graph."),
    "MAX_SCREEN_PARTS": (screen_question.MAX_PARTS, "Parts taken of one screen."),
}
"""What both twins of a client count by; each has its reason where it is."""


def limits_text() -> str:
    """Return client-limits.ts as it should be."""
    what = "How long a client waits and how much it takes; core/client says why."
    said = [INTRODUCTION.format(what=what)]
    for name, (value, about) in LIMITS.items():
        said.append(f"/** {about} */\nexport const {name} = {round(value):_};\n")
    return "\n".join(said)


def _camel(name: str) -> str:
    first, *rest = name.split("_")
    return first + "".join(word.capitalize() for word in rest)


def made(folder: Path) -> dict[Path, str]:
    """Return each file in the folder, and its text."""
    return {
        folder / "messages.ts": messages_text(),
        folder / "codes.ts": codes_text(),
        folder / "session-record.ts": record_text(),
        folder / "lost-record.ts": lost_text(),
        folder / "image-record.ts": image_text(),
        folder / "host-status.ts": status_text(),
        folder / "session-requests.ts": requests_text(),
        folder / "words.ts": words_text(),
        folder / "client-limits.ts": limits_text(),
    }


if __name__ == "__main__":
    raise SystemExit(write(made, FOLDER))
