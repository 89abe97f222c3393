"""Several ways of doing something, measured in turn, so that one moment meets all."""

import statistics
from collections.abc import Callable

from bench.table import Row, Table, percentile, progress


class Turns:
    """What is measured together."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._ways: dict[str, Callable[[], float]] = {}
        self._taken: dict[str, list[float]] = {}

    @property
    def kinds(self) -> list[str]:
        """What is measured, in the order in which it is."""
        return [*self._ways]

    def add(self, what: str, way: Callable[[], float]) -> None:
        """Measure this too; `way` returns the seconds it took."""
        self._ways[what] = way
        self._taken[what] = []

    def run(self, rounds: int) -> None:
        """Measure each once in every round, after one that does not count."""
        for number in range(rounds + 1):
            progress(f"{self._name}, {number} of {rounds}")
            for what, way in self._ways.items():
                taken = way()
                if number:
                    self._taken[what].append(taken)

    def tell(
        self,
        table: Table,
        what: str,
        at_most: float | None = None,
        beside: str | None = None,
    ) -> None:
        """Add the median of one, in milliseconds; that of another is its floor."""
        floor = None if beside is None else self._middle(beside)
        row = Row(
            f"{what}, p50", self._middle(what), "ms", at_most=at_most, floor=floor
        )
        table.add(row)

    def _middle(self, what: str) -> float:
        return statistics.median(self._taken[what]) * 1e3

    def tell_ratio(self, table: Table, what: str, beside: str, at_most: float) -> None:
        """Add how many times as long one takes as another, round by round."""
        both = zip(self._taken[what], self._taken[beside], strict=True)
        middle = statistics.median(one / other for one, other in both)
        table.add(Row(f"{what}, beside {beside}", middle, "x", at_most=at_most))

    def tell_worst(self, table: Table, what: str) -> None:
        """Add the longest that one took."""
        most = percentile(self._taken[what], 1.0) * 1e3
        table.add(Row(f"{what}, worst of {len(self._taken[what])}", most, "ms"))
