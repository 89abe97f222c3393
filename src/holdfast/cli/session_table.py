"""The table of `holdfast ls`, from what is known of each session."""

from holdfast.cli.table import table
from holdfast.model.text import printable

TYPE_CHECKING = False
"""Only checkers take it for true."""

if TYPE_CHECKING:
    from collections.abc import Sequence

TITLES = ("NAME", "ID", "STATE", "AGE", "COMMAND")
MAX_COMMAND = 200
UNITS = ((86_400, "d"), (3_600, "h"), (60, "m"), (1, "s"))


def lines(rows: "Sequence[tuple[str, ...]]", room: int) -> list[str]:
    """Return rows as lines, each cut to `room` columns, unless that is 0."""
    return [
        line[: room - 1] + "…" if 0 < room < len(line) else line
        for line in table([TITLES, *rows])
    ]


def command_told(command: "Sequence[str]") -> str:
    """Return a command as one line."""
    return printable(" ".join(command), MAX_COMMAND)


def state_told(state: str, status: int | None, *, keep: bool, dozing: bool) -> str:
    """Return what a session does, in two words at most."""
    if status is None:
        word = "dozing" if dozing and state == "running" else state
        return printable(word or "running", 32) + (", kept" if keep else "")
    if status >= 0:
        return f"exited {status}"
    from holdfast.cli.arguments import signal_name  # noqa: PLC0415  # rarely needed

    return f"killed {signal_name(-status)}"


def age(seconds: float) -> str:
    """Return a length of time in its largest unit."""
    for size, unit in UNITS:
        if seconds >= size:
            return f"{int(seconds // size)}{unit}"
    return "now"
