"""Figures beside their budgets, printed as they come and kept for a file."""

import json
import os
import platform
import sys
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path

_LINE = "{:<56} {:>12} {:<6} {:>10}  {}"


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
        self.began_wall = datetime.now(UTC)
        print(self.machine, flush=True)
        print(_LINE.format("what", "measured", "unit", "budget", "met?"), flush=True)

    @property
    def machine(self) -> str:
        """What was measured on, and when."""
        return (
            f"{os.cpu_count()} cores ({platform.machine()}),"
            f" {platform.system()} {platform.release()},"
            f" Python {platform.python_version()},"
            f" {self.began_wall:%Y-%m-%d %H:%M} UTC"
        )

    def add(self, row: Row) -> None:
        """Print a row, and keep it."""
        self.rows.append(row)
        met = {True: "yes", False: "MISSED", None: ""}[row.is_met]
        figure = f"{row.measured:,.2f}"
        print(_LINE.format(row.what, figure, row.unit, row.budget, met), flush=True)

    def note(self, text: str) -> None:
        """Print what has to be known to read the figures."""
        self.notes.append(text)
        print(f"  note: {text}", flush=True)

    def close(self) -> None:
        """Print how many budgets were kept."""
        met = [row.is_met for row in self.rows if row.is_met is not None]
        print(f"{sum(met)} of {len(met)} budgets met", flush=True)

    def save(self, path: Path) -> None:
        """Write everything down for programs."""
        rows = [
            {**asdict(row), "budget": row.budget, "met": row.is_met}
            for row in self.rows
        ]
        facts = {"machine": self.machine, "rows": rows, "notes": self.notes}
        path.write_text(json.dumps(facts, indent=2) + "\n")


def percentile(values: Iterable[float], share: float) -> float:
    """Return the value that `share` of all do not exceed; 1.0 is the worst."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


def progress(text: str) -> None:
    """Say on the terminal what is being measured, and not in the table."""
    if sys.stderr.isatty():
        print(f"\r\x1b[K{text}", end="\r", file=sys.stderr, flush=True)
