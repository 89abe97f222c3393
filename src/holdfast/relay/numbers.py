"""The relay's counters, and how they are exposed to Prometheus.

No number is kept per key or id: who talks to whom is nobody's business.
"""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

from holdfast.core.relay.peer_joins import Stats
from holdfast.core.telemetry import exposition
from holdfast.model.metrics import BY_NAME, RELAY_METRICS

PREFIX = "holdfast_relay_"


@dataclass(slots=True)
class Numbers:
    """What has happened since the relay started."""

    counts: Counter[tuple[str, str]] = field(default_factory=Counter)

    def add(self, name: str, why: str = "", amount: int = 1) -> None:
        """Count something. `why` is one of few fixed words, never a peer's."""
        self.counts[name, why] += amount

    def text(self, stats: Stats, others: Mapping[str, int]) -> str:
        """Return everything in Prometheus' text format."""
        gauges = {
            "hosts": stats.hosts,
            "operators_waiting": stats.waiting,
            "pairs": stats.pairs,
            "sessions": stats.sessions,
            **others,
        }
        values: dict[tuple[str, tuple[str, ...]], float] = {
            (PREFIX + name, ()): number for name, number in gauges.items()
        }
        for (name, why), number in self.counts.items():
            labels = (why,) if BY_NAME[PREFIX + name].labels else ()
            values[PREFIX + name, labels] = number
        return exposition.text(RELAY_METRICS, values, {})
