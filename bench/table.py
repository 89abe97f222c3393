"""Figures beside their budgets, printed as they come and kept for a file."""

import json
import os
import platform
import sys
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path

_LINE = "{:<56} {:>12} {:<6} {:>10} {:>10}  {}"


@dataclass(frozen=True, slots=True)
class Scale:
    """How much is measured: the full run, or one that only shows that it runs."""

    is_quick: bool
    sessions: int

    def pick(self, full: int, quick: int) -> int:
        """Return the number that belongs to this scale."""
        return quick if self.is_quick else full


@dataclass(frozen=True, slots=True)
class Row:
    """One figure. Without a budget it is there to explain the others."""

    what: str
    measured: float
    unit: str
    at_least: float | None = None
    at_most: float | None = None
    floor: float | None = None
    """What was reached beside it, in the same run, by what does only what must be done:
    the kernel's part, Python's own start, a local attach. Nothing can be faster."""

    @property
    def budget(self) -> str:
        """The budget as it is written in the design; empty if there is none."""
        if self.at_least is not None:
            return f">= {self.at_least:g}"
        return "" if self.at_most is None else f"<= {self.at_most:g}"

    @property
    def is_met(self) -> bool | None:
        """Whether the figure keeps its budget; None if it has none."""
        if self.at_least is not None:
            return self.measured >= self.at_least
        return None if self.at_most is None else self.measured <= self.at_most


class Table:
    """The rows of one run."""

    def __init__(self) -> None:
        self.rows: list[Row] = []
        self.notes: list[str] = []
        self.seconds: dict[str, float] = {}
        """How long each group took."""

        self.is_broken = False
        """Whether a group has figures missing."""

        self.began_wall = datetime.now(UTC)
        self._load = os.getloadavg()[0]
        print(self.machine, flush=True)
        heads = ("what", "measured", "unit", "floor", "budget", "met?")
        print(_LINE.format(*heads), flush=True)

    @property
    def machine(self) -> str:
        """What was measured on, and when."""
        return (
            f"{os.cpu_count()} cores ({platform.machine()}),"
            f" {platform.system()} {platform.release()},"
            f" Python {platform.python_version()},"
            f" {self.began_wall:%Y-%m-%d %H:%M} UTC,"
            f" load {self._load:.1f} at the beginning"
        )

    def add(self, row: Row) -> None:
        """Print a row, and keep it."""
        self.rows.append(row)
        met = {True: "yes", False: "MISSED", None: ""}[row.is_met]
        figure = f"{row.measured:,.2f}"
        floor = "" if row.floor is None else f"{row.floor:,.2f}"
        shown = (row.what, figure, row.unit, floor, row.budget, met)
        print(_LINE.format(*shown), flush=True)

    def note(self, text: str) -> None:
        """Print what has to be known to read the figures."""
        self.notes.append(text)
        print(f"  note: {text}", flush=True)

    def broken(self, group: str, error: Exception) -> None:
        """Note that a group did not come to its end."""
        self.is_broken = True
        self.note(f"{group} was broken off: {error!r}")

    def took(self, group: str, seconds: float) -> None:
        """Note how long a group took, and how busy the machine was at its end."""
        self.seconds[group] = seconds
        load = os.getloadavg()[0]
        print(f"  {group}: {seconds:.0f} s, load {load:.1f}", flush=True)

    def close(self) -> None:
        """Print how many budgets were kept."""
        print(f"{sum(self.seconds.values()):.0f} s in all", flush=True)
        met = [row.is_met for row in self.rows if row.is_met is not None]
        print(f"{sum(met)} of {len(met)} budgets met", flush=True)

    def save(self, path: Path) -> None:
        """Write everything down for programs."""
        rows = [
            {**asdict(row), "budget": row.budget, "met": row.is_met}
            for row in self.rows
        ]
        facts = {
            "machine": self.machine,
            "rows": rows,
            "notes": self.notes,
            "seconds": self.seconds,
        }
        path.write_text(json.dumps(facts, indent=2) + "\n")


def percentile(values: Iterable[float], share: float) -> float:
    """Return the value that `share` of all do not exceed; 1.0 is the worst."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


def progress(text: str) -> None:
    """Say on the terminal what is being measured, and not in the table."""
    if sys.stderr.isatty():
        print(f"\r\x1b[K{text}", end="\r", file=sys.stderr, flush=True)
