"""Write docs/reference/errors.md, events.md and metrics.md from the code.

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
from holdfast.model.metrics import (
    HOST_METRICS,
    RELAY_METRICS,
    SESSION_METRICS,
    Metric,
)

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
The text of a call for attention is the exception: its source chose it, and it is cut.
`holdfast watch` prints them all; the SDK has classes for most, and `Noted` for others.
*Frame* is how a holder sends it ([wire](../spec/wire.md)).
Events without one are found by `watch` itself.
*Entry* is what the [logbook](../spec/logbook.md) keeps of it.
A holder of another version may send other events: ignore what you do not know.
A name is never reused for another event.
`tools/write_reference.py` writes this page from `model/events.py`.

| name | when | fields | frame | entry |
| --- | --- | --- | --- | --- |
"""


METRICS = """\
# Metrics

For people who watch holdfast with Prometheus, or read its numbers from a script.

`holdfast metrics` prints what a machine counts, a relay serves its own at `/metrics`; [monitor sessions](../howto/monitor.md) explains both.
Every label has the values listed here, and `other` for anything else: no metric names a session, an operator or a host, and none contains what was typed or printed.
Counters of sessions outlive their holder and their session, and begin at 0 when the machine starts.
Entries of the last milliseconds before a holder is killed may be missing; nothing is counted twice.
*Mode* is the failure mode whose signature the metric shows ([promises](../explanation/promises.md)).
`tools/write_reference.py` writes this page from `model/metrics.py`.
"""  # noqa: E501  # lines of a page

SECTIONS = (
    (
        "Sessions",
        "Counted by each session's holder, added up for the machine.",
        SESSION_METRICS,
    ),
    (
        "Host",
        "Found out when somebody asks; sleeping sessions are not woken.",
        HOST_METRICS,
    ),
    (
        "Relay",
        "Served by each relay. `why` is a code of [errors](errors.md) or a fixed word.",
        RELAY_METRICS,
    ),
)


def metrics_text() -> str:
    """Return the page of metrics as it should be."""
    parts = [METRICS]
    for title, what, metrics in SECTIONS:
        parts += [
            f"## {title}\n",
            f"{what}\n",
            "| name | kind | what | labels | mode |",
            "| --- | --- | --- | --- | --- |",
            *map(_metric_row, metrics),
            "",
        ]
    return "\n".join(parts)


def _metric_row(one: Metric) -> str:
    labels = "; ".join(
        f"`{name}`" + (": " if values else "") + ", ".join(values)
        for name, values in one.labels
    )
    if one.buckets:
        labels = "buckets: " + ", ".join(f"{bound:g}" for bound in one.buckets)
    return f"| `{one.name}` | {one.kind} | {one.what} | {labels} | {one.shows} |"


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
    texts = {"errors": errors_text, "events": events_text, "metrics": metrics_text}
    return {folder / f"{name}.md": text() for name, text in texts.items()}


if __name__ == "__main__":
    raise SystemExit(write(made, TARGET))
