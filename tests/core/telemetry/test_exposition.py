"""Metrics in Prometheus' text format, read back by a parser written from its text."""

import re

import pytest

from holdfast.core.telemetry.exposition import Distribution, facts, text
from holdfast.model.metrics import COUNTER, GAUGE, HISTOGRAM, Metric

PLAIN = Metric("holdfast_plain_total", COUNTER, "Plain.")
KINDS = Metric("holdfast_kinds", GAUGE, "Kinds.", (("kind", ("a", "b")),))
PAIRS = Metric(
    "holdfast_pairs_total", COUNTER, "Pairs.", (("x", ("a",)), ("y", ("b",)))
)
TIMES = Metric("holdfast_times", HISTOGRAM, "Times.", buckets=(0.5, 1.0))

SAMPLE = re.compile(r"([a-z_]+)(?:\{(.*)\})? (-?[0-9.e+-]+)")
PAIR = re.compile(r'([a-z]+)="((?:[^"\\\n]|\\["\\n])*)"(?:,|$)')
UNESCAPED = {'\\"': '"', "\\\\": "\\", "\\n": "\n"}


def parsed(told: str) -> dict[tuple[str, tuple[tuple[str, str], ...]], float]:
    """Read the text as its specification says; whatever it does not allow fails."""
    found = {}
    assert told.endswith("\n")
    for line in told[:-1].split("\n"):
        if line.startswith(("# HELP ", "# TYPE ")):
            continue
        sample = SAMPLE.fullmatch(line)
        assert sample is not None, line
        name, raw, value = sample.groups()
        pairs = PAIR.findall(raw or "")
        assert "".join(f'{key}="{one}",' for key, one in pairs).rstrip(",") == (
            raw or ""
        )
        labels = tuple(
            (key, re.sub(r"\\.", lambda it: UNESCAPED[it[0]], one))
            for key, one in pairs
        )
        assert (name, labels) not in found
        found[name, labels] = float(value)
    return found


def test_every_metric_has_a_sentence_a_kind_and_its_numbers_in_order() -> None:
    told = text([PLAIN, KINDS], {("holdfast_kinds", ("b",)): 2}, {})

    assert told == (
        "# HELP holdfast_plain_total Plain.\n"
        "# TYPE holdfast_plain_total counter\n"
        "holdfast_plain_total 0\n"
        "# HELP holdfast_kinds Kinds.\n"
        "# TYPE holdfast_kinds gauge\n"
        'holdfast_kinds{kind="a"} 0\n'
        'holdfast_kinds{kind="b"} 2\n'
    )


def test_of_several_labels_only_pairs_that_were_counted_are_told() -> None:
    assert parsed(text([PAIRS], {}, {})) == {}
    found = parsed(text([PAIRS], {("holdfast_pairs_total", ("a", "b")): 3}, {}))

    assert found == {("holdfast_pairs_total", (("x", "a"), ("y", "b"))): 3}


@pytest.mark.parametrize("value", ['a"b', "back\\slash", "two\nlines", "a}b", "ü"])
def test_a_value_of_a_label_is_read_back_as_it_was(value: str) -> None:
    told = text([KINDS], {("holdfast_kinds", (value,)): 1}, {})

    assert parsed(told)["holdfast_kinds", (("kind", value),)] == 1


def test_the_sentence_of_a_metric_stays_one_line() -> None:
    odd = PLAIN._replace(what="Two\nlines and a \\.")

    assert "# HELP holdfast_plain_total Two\\nlines and a \\\\.\n" in text(
        [odd], {}, {}
    )


def test_each_bucket_has_all_smaller_ones_in_it() -> None:
    seen = {"holdfast_times": Distribution((2, 0, 3), 7.25)}

    found = parsed(text([TIMES], {}, seen).replace("+Inf", "Inf"))

    assert found == {
        ("holdfast_times_bucket", (("le", "0.5"),)): 2,
        ("holdfast_times_bucket", (("le", "1"),)): 2,
        ("holdfast_times_bucket", (("le", "Inf"),)): 5,
        ("holdfast_times_sum", ()): 7.25,
        ("holdfast_times_count", ()): 5,
    }


def test_a_histogram_that_saw_nothing_is_all_zero() -> None:
    found = parsed(text([TIMES], {}, {}))

    assert len(found) == 5
    assert set(found.values()) == {0}


def test_json_says_the_same() -> None:
    values: dict[tuple[str, tuple[str, ...]], float] = {("holdfast_kinds", ("b",)): 2.0}
    seen = {"holdfast_times": Distribution((1, 0, 0), 0.25)}

    plain, kinds, times = facts([PLAIN, KINDS, TIMES], values, seen)

    assert plain == {"name": "holdfast_plain_total", "kind": "counter", "samples": []}
    assert kinds["samples"] == [{"labels": {"kind": "b"}, "value": 2.0}]
    assert times["buckets"] == [
        {"at_most": 0.5, "count": 1},
        {"at_most": 1.0, "count": 1},
        {"at_most": None, "count": 1},
    ]
    assert (times["sum"], times["count"]) == (0.25, 1)
    assert facts([TIMES], {}, {})[0]["count"] == 0
