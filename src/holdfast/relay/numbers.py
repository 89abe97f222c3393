"""The relay's counters, and how they are exposed to Prometheus.

No number is kept per key or id: who talks to whom is nobody's business.
"""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

from holdfast.core.relay.meeting import Stats

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"

GAUGES = {
    "hosts": "Hosts that are registered now.",
    "operators_waiting": "Operators whose host was told and has not come yet.",
    "pairs": "Operators joined with their host now.",
    "sessions": "Sessions that hosts have published.",
    "unproven": "Connections that have not said yet who they are.",
    "links": "Connections of every kind.",
}

COUNTERS = {
    "connections_total": "Connections taken.",
    "turned_away_total": "Connections hung up on before a byte was read.",
    "requests_refused_total": "Requests refused, by why.",
    "refusals_total": "Peers refused after they were heard, by code.",
    "pairs_total": "Pairs joined.",
    "bytes_total": "Bytes passed on within pairs.",
    "cuts_total": "Connections cut by us, by why.",
    "lease_answers_total": "Questions about leases answered, by code.",
}


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
        lines: list[str] = []
        for name, what in GAUGES.items():
            lines += _head(name, what, "gauge")
            lines.append(f"holdfast_relay_{name} {gauges[name]}")
        for name, what in COUNTERS.items():
            lines += _head(name, what, "counter")
            found = {why: n for (key, why), n in self.counts.items() if key == name}
            for why, count in sorted((found or {"": 0}).items()):
                label = f'{{why="{why}"}}' if why else ""
                lines.append(f"holdfast_relay_{name}{label} {count}")
        return "\n".join(lines) + "\n"


def _head(name: str, what: str, kind: str) -> list[str]:
    return [
        f"# HELP holdfast_relay_{name} {what}",
        f"# TYPE holdfast_relay_{name} {kind}",
    ]
