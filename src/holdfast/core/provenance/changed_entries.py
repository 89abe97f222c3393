"""The logbook entry of a change in the shell's state.

An entry says after which command it was seen and lists what differed, one item a
line: how it changed, what kind of item, the digest it has now, its name. What a
shell had when it began is written in the same way, with a sign of its own, so that
readers of the book, a successor above all, can tell every later change by it.

    =  variable     5d41402abc4b2a76b9719d911017c592  EDITOR     had it from the start
    +  alias        7d793037a0760186574b0282f2f435e7  deploy     added
    ~  variable     9e107d9d372bb6826bd81d3542a419d6  PATH       changed
    -  function                                       f          removed

A single `?` says that the state was lost: what changed is not known.
Bytes of a name that cannot be shown are written as `%` and two hexadecimal digits.
"""

import re
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from holdfast.core.shell.shell_state import Change, ChangeKind, Item, ItemKind
from holdfast.wire.lines import Value, number_from

MAX_TEXT = 24 * 1024
"""Characters of changes in one entry: written out they fit into a line of the book
whatever they are."""

MAX_NAME = 512
"""Characters of a name; an item with a longer one is only counted."""

INITIAL = "="
"""The sign of what a shell had when it began."""

_LOST = "?"
_SIGNS = {ChangeKind.ADDED: "+", ChangeKind.CHANGED: "~", ChangeKind.REMOVED: "-"}
_KINDS = {sign: kind for kind, sign in _SIGNS.items()}
_ITEMS = {kind.value: kind for kind in ItemKind}
_ESCAPED = re.compile(rb"%([0-9a-f]{2})")
_PARTS = 3
"""Spaces in a line, before the name."""


class Changed(NamedTuple):
    """What an entry says: which commands may be behind it, and what differed.

    With an `initial` item nothing changed: the shell had it when it began.
    """

    first: int
    last: int
    initial: tuple[tuple[Item, bytes], ...]
    changes: tuple[Change, ...]
    more: int
    """Items that are not listed."""

    is_lost: bool = False
    """Whether all it says is that the state was lost."""


def changed_fields(
    first: int, last: int, changes: Iterable[Change]
) -> dict[str, Value]:
    """Say what differed after the last of the commands `first` to `last`."""
    lines = [_line(_SIGNS[one.how], one.item, one.digest) for one in changes]
    named = [line for line in lines if line]
    count = _fitting(named)
    return {
        "number": last,
        "first": first,
        "changes": "\n".join(named[:count]),
        "more": len(lines) - count,
    }


def initial_fields(items: Mapping[Item, bytes], most: int) -> list[dict[str, Value]]:
    """Say what the shell had when it began, in no more than `most` entries."""
    lines = [_line(INITIAL, item, digest) for item, digest in items.items()]
    named = [line for line in lines if line]
    unnamed = len(lines) - len(named)
    entries: list[dict[str, Value]] = []
    while named or not entries:
        count = _fitting(named)
        text, named = "\n".join(named[:count]), named[count:]
        entries.append({"number": 0, "first": 0, "changes": text, "more": 0})
        if len(entries) == most:
            break
    entries[-1]["more"] = unnamed + len(named)
    return entries


def lost_fields() -> dict[str, Value]:
    """Say that the state is not known from now on, until it is seen again."""
    return {"number": 0, "first": 0, "changes": _LOST, "more": 0}


def read_changed(fields: Mapping[str, Value]) -> Changed:
    """Return what an entry says; a line that makes no sense counts as left out."""
    initial: list[tuple[Item, bytes]] = []
    changes: list[Change] = []
    more = number_from(fields.get("more"))
    if fields.get("changes") == _LOST:
        return Changed(0, 0, (), (), 0, is_lost=True)
    for line in str(fields.get("changes") or "").splitlines():
        sign, item, digest = _read(line)
        if item is None:
            more += 1
        elif sign == INITIAL:
            initial.append((item, digest))
        else:
            changes.append(Change(item, _KINDS[sign], digest))
    first, last = number_from(fields.get("first")), number_from(fields.get("number"))
    return Changed(first, last, tuple(initial), tuple(changes), more)


def _line(sign: str, item: Item, digest: bytes) -> str:
    if len(item.name) > MAX_NAME:
        return ""
    return f"{sign} {item.kind.value} {digest.hex()} {_escaped(item.name)}"


def _fitting(lines: list[str]) -> int:
    """Return how many lines one entry has room for."""
    room = MAX_TEXT
    for count, line in enumerate(lines):
        room -= len(line) + 1
        if room < 0:
            return count
    return len(lines)


def _read(line: str) -> tuple[str, Item | None, bytes]:
    parts = line.split(" ", _PARTS)
    if len(parts) != _PARTS + 1:
        return "", None, b""
    sign, word, digest, name = parts
    kind = _ITEMS.get(word)
    if kind is None or sign not in {INITIAL, *_KINDS}:
        return "", None, b""
    try:
        return sign, Item(kind, _plain(name)), bytes.fromhex(digest)
    except ValueError:
        return "", None, b""


def _escaped(name: str) -> str:
    return "".join(
        one if one.isprintable() and one != "%" else _hexadecimal(one) for one in name
    )


def _hexadecimal(one: str) -> str:
    return "".join(f"%{byte:02x}" for byte in one.encode("utf-8", "surrogatepass"))


def _plain(name: str) -> str:
    raw = _ESCAPED.sub(lambda found: bytes([int(found[1], 16)]), name.encode())
    return raw.decode("utf-8", "surrogatepass")
