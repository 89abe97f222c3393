"""Write docs/reference/errors.md and events.md from the code.

python -m tools.write_reference            write them
python -m tools.write_reference --check    exit 1 if they are not what would be written
"""

from collections.abc import Iterable
from pathlib import Path

from tools.generated import write

from holdfast.model.errors import (
    Forbidden,
    HoldfastError,
    PeerError,
    Unavailable,
    Unsettled,
    UsageError,
    leaves,
)
from holdfast.model.events import EventName

TARGET = Path(__file__).parent.parent / "docs" / "reference"

BRANCHES: dict[type[HoldfastError], str] = {
    UsageError: "fix the call",
    Forbidden: "get the authority first",
    PeerError: "hang up",
    Unavailable: "try again later",
    Unsettled: "look, do not repeat",
}

INTRODUCTION = """\
# Errors

For people who call holdfast from a program, a script or an agent, and get a refusal.

Every error has a stable code, the facts it is made of, and a sentence.
Decide by the branch, show the sentence, log the code.
The code never changes; the sentence may.
*Retry* says whether the same request may succeed later without anything else changed.
`tools/write_reference.py` writes this page from the code.
"""


EVENTS = """\
# Events

For programs that watch sessions, and for tests that wait for something to happen.

An event has a name, the session it happened to, and fields.
Fields are names and numbers: never terminal contents, never a key.
The text of a call for somebody is the exception: its source chose it, and it is cut.
`holdfast watch` prints them all; the SDK has classes for most, and `Noted` for others.
*Frame* is how a holder sends it ([wire](../spec/wire.md)).
Those without one are found by `watch` itself.
*Entry* is what the [logbook](../spec/logbook.md) keeps of it.
A holder of another version may send more: ignore what you do not know.
A name once given is never used for anything else.
`tools/write_reference.py` writes this page from `model/events.py`.

| name | when | fields | frame | entry |
| --- | --- | --- | --- | --- |
"""


def events_text() -> str:
    """Return the page of events as it should be."""
    return EVENTS + "".join(
        f"| `{one}` | {one.when} | {_listed(one.fields)} | {_listed([one.message])}"
        f" | {_listed([one.entry])} |\n"
        for one in EventName
    )


def _listed(words: Iterable[str]) -> str:
    return ", ".join(f"`{word}`" for word in words if word)


def errors_text() -> str:
    """Return the page of errors as it should be."""
    parts = [INTRODUCTION]
    for branch, reaction in BRANCHES.items():
        parts += [
            f"## {branch.__name__}: {reaction}\n",
            f"{_summary(branch)}\n",
            "| code | what happened | facts | retry | what to do next |",
            "| --- | --- | --- | --- | --- |",
            *(_row(leaf) for leaf in leaves(branch)),
            "",
        ]
    return "\n".join(parts)


def _row(leaf: type[HoldfastError]) -> str:
    names = [f"`{name}`" for name in leaf.fields]
    retry = "yes" if leaf.retryable else "no"
    next_step = leaf.next_step or "Hang up."
    cells = (f"`{leaf.code}`", _summary(leaf), ", ".join(names), retry, next_step)
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def _summary(kind: type[HoldfastError]) -> str:
    return (kind.__doc__ or "").split("\n", maxsplit=1)[0]


def made(folder: Path) -> dict[Path, str]:
    """Return each page in the folder, and its text."""
    return {folder / "errors.md": errors_text(), folder / "events.md": events_text()}


if __name__ == "__main__":
    raise SystemExit(write(made, TARGET))
