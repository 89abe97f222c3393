"""Logbooks on disk that tell of an agent's acts."""

from collections.abc import Iterator, Mapping
from pathlib import Path

from holdfast.core.book.logbook import EntryKind, Logbook, genesis
from holdfast.model.ids import FIRST_INCARNATION, Epoch, SessionId
from holdfast.wire.lines import Value

Told = tuple[EntryKind, Mapping[str, Value]]
MAKE = "/usr/bin/make test"


def acts(
    actor: str, count: int, *, policy: str = "", action: str = MAKE, **more: Value
) -> Iterator[Told]:
    """Yield what a book says of so many acts that are alike: six entries each."""
    for number in range(1, count + 1):
        client = f"c_{number:016d}"
        yield (
            EntryKind.INTENDED,
            {"actor": actor, "act": "run", "intent": "to build", "expects": "{}"},
        )
        yield (
            EntryKind.INPUT,
            {
                "actor": actor,
                "actor_kind": "agent",
                "client": client,
                "sequence": 1,
                "input": "command",
                "verdict": more.get("verdict", "ask"),
                "rule": more.get("rule", "default-agent"),
                "policy": policy,
                "approver": None,
                "action": action,
                "data": "bWFrZQ==",
            },
        )
        yield EntryKind.SETTLED, {"of": 0, "as": "applied"}
        yield (
            EntryKind.BEGAN,
            {"number": number, "client": client, "offset": 0, "trigger": actor},
        )
        status = more.get("status", 0)
        yield EntryKind.FINISHED, {"number": number, "status": status, "duration": 30}
        told = more.get("as", "matched")
        yield EntryKind.OBSERVED, {"actor": actor, "number": number, "as": told}


def write_book(folder: Path, session: SessionId, told: Iterator[Told]) -> int:
    """Write a book that says this; return how many entries it has."""
    book = Logbook(genesis(session))
    lines = []
    for number, (kind, fields) in enumerate([(EntryKind.OPENED, {}), *told]):
        entry = book.draft(kind, fields, FIRST_INCARNATION, Epoch(1), number)
        book.commit(entry)
        lines.append(entry.line)
    (folder / f"{session}.log").write_bytes(b"".join(line + b"\n" for line in lines))
    return len(lines)
