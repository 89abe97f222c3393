"""Metrics as others read them: Prometheus' text format, and JSON.

    # HELP name sentence
    # TYPE name kind
    name{label="value",...} number

A histogram is written as its buckets, each with all smaller ones counted in, their sum
and their number. Metrics are in the order in which they are declared, their samples in
the order of their labels: the same numbers make the same text.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from holdfast.model.metrics import HISTOGRAM, OTHER, Metric

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"

Values = Mapping[tuple[str, tuple[str, ...]], float]
"""Numbers by the metric's name and the values of its labels."""


class Distribution(NamedTuple):
    """What a histogram has seen."""

    counts: tuple[int, ...]
    """How many in each bucket, the last for all above; none counts in another."""

    total: float
    """The sum of everything seen."""


Distributions = Mapping[str, Distribution]
"""Histograms by name; none of ours has labels."""


def text(
    metrics: Sequence[Metric], values: Values, distributions: Distributions
) -> str:
    """Return everything in Prometheus' text format, also what was never counted."""
    by_name = _sorted(values)
    lines: list[str] = []
    for one in metrics:
        lines.append(f"# HELP {one.name} {_escaped_help(one.what)}")
        lines.append(f"# TYPE {one.name} {one.kind}")
        if one.kind == HISTOGRAM:
            lines += _histogram(one, distributions.get(one.name))
        else:
            lines += _samples(one, by_name.get(one.name, []))
    return "\n".join(lines) + "\n"


def facts(
    metrics: Sequence[Metric], values: Values, distributions: Distributions
) -> list[dict[str, object]]:
    """Return the same as JSON says it."""
    by_name = _sorted(values)
    found: list[dict[str, object]] = []
    for one in metrics:
        told: dict[str, object] = {"name": one.name, "kind": one.kind}
        if one.kind == HISTOGRAM:
            seen = distributions.get(one.name) or _nothing(one)
            told["buckets"] = [
                {"at_most": bound, "count": count}
                for bound, count in zip(
                    (*one.buckets, None), _cumulative(seen.counts), strict=True
                )
            ]
            told |= {"sum": seen.total, "count": sum(seen.counts)}
        else:
            told["samples"] = [
                {"labels": dict(_paired(one, labels)), "value": value}
                for labels, value in by_name.get(one.name, [])
            ]
        found.append(told)
    return found


_Samples = list[tuple[tuple[str, ...], float]]


def _sorted(values: Values) -> dict[str, _Samples]:
    found: dict[str, _Samples] = {}
    for (name, labels), value in sorted(values.items()):
        found.setdefault(name, []).append((labels, value))
    return found


def _samples(metric: Metric, found: _Samples) -> Iterable[str]:
    known = dict(found)
    if len(metric.labels) <= 1:
        # A rate needs a first number; of several labels there are too many pairs.
        found = sorted({**dict.fromkeys(_expected(metric), 0.0), **known}.items())
    return [
        f"{metric.name}{_labelled(_paired(metric, labels))} {_number(value)}"
        for labels, value in found
    ]


def _expected(metric: Metric) -> Iterable[tuple[str, ...]]:
    return (labels for labels in metric.combinations() if OTHER not in labels)


def _histogram(metric: Metric, seen: Distribution | None) -> Iterable[str]:
    seen = seen or _nothing(metric)
    bounds = [*map(_number, metric.buckets), "+Inf"]
    for bound, count in zip(bounds, _cumulative(seen.counts), strict=True):
        yield f'{metric.name}_bucket{{le="{bound}"}} {count}'
    yield f"{metric.name}_sum {_number(seen.total)}"
    yield f"{metric.name}_count {sum(seen.counts)}"


def _nothing(metric: Metric) -> Distribution:
    return Distribution((0,) * (len(metric.buckets) + 1), 0.0)


def _cumulative(counts: Iterable[int]) -> Iterable[int]:
    so_far = 0
    for count in counts:
        so_far += count
        yield so_far


def _paired(metric: Metric, labels: tuple[str, ...]) -> list[tuple[str, str]]:
    names = [name for name, _ in metric.labels]
    return [*zip(names, labels, strict=True)]


def _labelled(pairs: list[tuple[str, str]]) -> str:
    if not pairs:
        return ""
    return "{" + ",".join(f'{name}="{_escaped(value)}"' for name, value in pairs) + "}"


def _escaped(value: str) -> str:
    return _escaped_help(value).replace('"', '\\"')


def _escaped_help(sentence: str) -> str:
    return sentence.replace("\\", "\\\\").replace("\n", "\\n")


def _number(value: float) -> str:
    return str(int(value)) if value == int(value) else repr(float(value))
