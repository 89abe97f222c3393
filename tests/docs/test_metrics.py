"""The page and the dashboard of metrics: every name and label they use exists."""

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from holdfast.model.metrics import BY_NAME, HISTOGRAM, METRICS, Metric

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs/reference/metrics.md").read_text("utf-8")
HOWTO = (ROOT / "docs/howto/monitor.md").read_text("utf-8")
DASHBOARD = json.loads((ROOT / "docs/examples/grafana-dashboard.json").read_text())

NAME = re.compile(r"\bholdfast_[a-z_]+")
BY = re.compile(r"by \(([a-z, ]*)\)")
LEGEND = re.compile(r"\{\{(\w+)\}\}")
MATCHER = re.compile(r'(\w+)="([^"]*)"')
GRID = 24


def queries() -> Iterator[tuple[str, str]]:
    for panel in DASHBOARD["panels"]:
        for target in panel["targets"]:
            yield target["expr"], target["legendFormat"]


def metric_of(name: str) -> Metric:
    for suffix in ("", "_bucket", "_sum", "_count"):
        found = BY_NAME.get(name.removesuffix(suffix)) if suffix else BY_NAME.get(name)
        if found is not None and (not suffix or found.kind == HISTOGRAM):
            return found
    raise AssertionError(f"no metric is called {name}")


def labels_of(metric: Metric) -> set[str]:
    own = {"le"} if metric.kind == HISTOGRAM else set()
    return own | {name for name, _ in metric.labels}


@pytest.mark.parametrize("metric", METRICS, ids=lambda one: one.name)
def test_every_metric_is_on_the_page_once(metric: Metric) -> None:
    assert PAGE.count(f"| `{metric.name}` |") == 1


@pytest.mark.parametrize(("query", "legend"), [*queries()])
def test_the_dashboard_asks_for_what_is_counted(query: str, legend: str) -> None:
    metrics = [metric_of(name) for name in NAME.findall(query)]
    assert metrics
    known = set.intersection(*map(labels_of, metrics))
    grouped = {one.strip() for by in BY.findall(query) for one in by.split(",")}
    assert grouped <= known
    assert {*LEGEND.findall(legend)} <= grouped
    assert all(metric.kind != "counter" or "[" in query for metric in metrics)


def test_the_dashboard_loads_as_grafana_has_it() -> None:
    panels = DASHBOARD["panels"]
    assert DASHBOARD["schemaVersion"] >= 30
    assert len({panel["id"] for panel in panels}) == len(panels)
    taken: set[tuple[int, int]] = set()
    for panel in panels:
        place = panel["gridPos"]
        assert place["x"] + place["w"] <= GRID
        cells = {(place["x"] + x, place["y"]) for x in range(place["w"])}
        assert not cells & taken
        taken |= cells
        assert panel["datasource"]["uid"] == "${datasource}"
        references = [target["refId"] for target in panel["targets"]]
        assert len({*references}) == len(references)
    (variable,) = DASHBOARD["templating"]["list"]
    assert (variable["name"], variable["type"]) == ("datasource", "datasource")


def test_most_of_what_is_counted_is_on_the_dashboard() -> None:
    shown = {
        metric_of(name).name for query, _ in queries() for name in NAME.findall(query)
    }
    signatures = {one.name for one in METRICS if one.shows}

    assert signatures - shown == {"holdfast_relay_lease_answers_total"}


def test_the_alerts_of_the_how_to_name_metrics_and_values_that_exist() -> None:
    alerts = re.findall(r"^\| `(.*?)` \|", HOWTO, re.MULTILINE)
    assert alerts
    for alert in alerts:
        (metric,) = (metric_of(name) for name in NAME.findall(alert))
        for name, value in MATCHER.findall(alert):
            assert value in dict(metric.labels)[name]
