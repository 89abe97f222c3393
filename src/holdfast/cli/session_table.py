"""The table of `holdfast ls`, from what is known of each session."""

from holdfast.cli.table import table
from holdfast.model.text import printable, shown_name

TYPE_CHECKING = False
"""Only checkers take it for true."""

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from holdfast.model.session_record import SessionRecord

TITLES = ("NAME", "ID", "STATE", "TURN", "ATTACHED", "OUTPUT", "AGE", "COMMAND")
NAME, ID, STATE, TURN, ATTACHED, OUTPUT, AGE, COMMAND = range(len(TITLES))

NARROW = {NAME: 18, STATE: 18, TURN: 10, ATTACHED: 10}
"""Columns of what is cut where there is no room; `waiting-for-secret` has 18."""

LEAST = 12
"""Columns that a command gets before something else is left out."""

GAP = 2
MAX_COMMAND = 200
NOW = "now"
NOBODY = "-"
UNKNOWN = "not known"
"""What is said to be done by a session whose holder has not answered."""

UNITS = ((86_400, "d"), (3_600, "h"), (60, "m"), (1, "s"))


def row(label: str, facts: "Mapping[str, Any]", now: float) -> tuple[str, ...]:
    """Return a session's row, from the facts of its record; `now` by the wall."""
    printed = facts["output_ms"] or facts["idle_ms"]
    is_walled = facts.get("runtime") == "capsule" and facts["exit"] is None
    return (
        label,
        facts["id"],
        state_told(
            facts["state"],
            facts["exit"],
            keep=facts["keep"],
            dozing=facts["dozing"],
            doing=facts["doing"],
            calls=_calls(facts.get("attention")),
        )
        + ", capsule" * is_walled
        + ", no capsule" * bool(facts.get("no_capsule"))
        + image_told(facts, now)
        + reaping_told(facts.get("reaps_ms"), now)
        + origin_told(facts.get("recovered_ms")),
        shown_name(facts["turn_of"]) or NOBODY,
        _crowd(facts["attached"]),
        age(now - printed / 1000) if printed and facts["exit"] is None else NOBODY,
        age(now - facts["created_ms"] / 1000),
        command_told(facts["command"]),
    )


def as_tree(known: "Sequence[SessionRecord]") -> "list[tuple[str, SessionRecord]]":
    """Return sessions with each branch below its parent, and what marks it as one.

    A branch whose parent is not listed stands by itself.
    """
    listed = {(one.host, one.id) for one in known}
    below: dict[tuple[str, str], list[SessionRecord]] = {}
    tops = []
    for one in known:
        parent = (one.host, one.parent.session) if one.parent else None
        if parent is not None and parent in listed:
            below.setdefault(parent, []).append(one)
        else:
            tops.append(one)
    found: list[tuple[str, SessionRecord]] = []
    waiting = [("", "", one) for one in reversed(tops)]
    while waiting:
        mark, indent, one = waiting.pop()
        found.append((mark, one))
        branches = below.pop((one.host, one.id), [])
        for branch in reversed(branches):
            is_last = branch is branches[-1]
            own, rest = ("└─ ", "   ") if is_last else ("├─ ", "│  ")
            waiting.append((indent + own, indent + rest, branch))
    # A host elsewhere may say of two sessions that each is the other's branch.
    return found + [("", one) for rest_of in below.values() for one in rest_of]


def image_told(facts: "Mapping[str, Any]", now: float) -> str:
    """Return what is added to the state of a session of which there is an image."""
    imaged_ms = facts.get("imaged_ms")
    if not imaged_ms or facts["exit"] is not None:
        return ""
    return f", image {age(now - imaged_ms / 1000)} old"


def reaping_told(reaps_ms: object, now: float) -> str:
    """Return what is added to the state of a session that is going to be reaped."""
    left = reaps_ms / 1000 - now if isinstance(reaps_ms, int) and reaps_ms else -1.0
    return f", reaped in {age(left)}" if left >= 0 else ""


def origin_told(recovered_ms: object) -> str:
    """Return what is added to the state of a session that was recovered."""
    return ", reconstructed" if recovered_ms else ""


def _calls(attention: object) -> bool:
    return isinstance(attention, dict) and bool(attention.get("what"))


def lines(rows: "Sequence[tuple[str, ...]]", room: int) -> list[str]:
    """Return rows as lines of at most `room` columns, or of any length if it is 0."""
    whole = [TITLES, *rows]
    if not room:
        return table(whole)
    shown = list(range(len(TITLES)))
    widths = [max(len(one[column]) for one in whole) for column in shown]

    def needed(least: int) -> int:
        wide = [widths[column] for column in shown if column != COMMAND]
        return sum(wide) + GAP * len(wide) + min(least, widths[COMMAND])

    if needed(widths[COMMAND]) > room:
        shown.remove(ID)
    if needed(LEAST) > room:
        shown.remove(AGE)
    if needed(LEAST) > room:
        widths = [min(one, NARROW.get(at, one)) for at, one in enumerate(widths)]
    return [
        _cut(line, room)
        for line in table(
            [
                tuple(_cut(one[column], widths[column]) for column in shown)
                for one in whole
            ]
        )
    ]


def _cut(text: str, room: int) -> str:
    return text[: room - 1] + "…" if len(text) > room else text


def command_told(command: "Sequence[str]") -> str:
    """Return a command as one line."""
    return printable(" ".join(command), MAX_COMMAND)


def state_told(
    state: str,
    status: int | None,
    *,
    keep: bool,
    dozing: bool,
    doing: str = "",
    calls: bool = False,
) -> str:
    """Return what a session does, in the words of `holdfast state`."""
    if status is None:
        alive = doing or ("" if dozing else UNKNOWN)
        word = alive if state in ("running", "") else state
        called = "calls you" if calls else ""
        marks = [called, word, "dozing" if dozing else "", "kept" if keep else ""]
        return ", ".join(printable(one, 32) for one in marks if one)
    if status >= 0:
        return f"exited {status}"
    from holdfast.cli.arguments import signal_name  # noqa: PLC0415  # rarely needed

    return f"killed {signal_name(-status)}"


def _crowd(names: "Sequence[str]") -> str:
    """Return who is attached, each once, and how often if more than that."""
    counted: dict[str, int] = {}
    for name in names:
        counted[name] = counted.get(name, 0) + 1
    told = [
        shown_name(name) + (f" ({count})" if count > 1 else "")
        for name, count in counted.items()
    ]
    return ", ".join(told) or NOBODY


def age(seconds: float) -> str:
    """Return a length of time in its largest unit."""
    for size, unit in UNITS:
        if seconds >= size:
            return f"{int(seconds // size)}{unit}"
    return NOW
