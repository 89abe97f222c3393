import re

from holdfast.model.metrics import BY_NAME, HISTOGRAM, METRICS, OTHER, Metric

NAME = re.compile(r"holdfast_[a-z_]+[a-z]")
LABEL = re.compile(r"[a-z]+")


def test_every_name_is_there_once_and_says_what_is_counted() -> None:
    assert len(BY_NAME) == len(METRICS)
    for one in METRICS:
        assert NAME.fullmatch(one.name)
        assert one.what.endswith(".")
        assert (one.kind == "counter") == one.name.endswith("_total")


def test_the_labels_of_a_metric_have_few_values_which_are_known_beforehand() -> None:
    for one in METRICS:
        assert len([*one.combinations()]) <= 100
        for name, values in one.labels:
            assert LABEL.fullmatch(name)
            assert OTHER not in values


def test_a_histogram_has_rising_buckets_and_no_labels() -> None:
    found = [one for one in METRICS if one.kind == HISTOGRAM]

    assert found
    for one in found:
        assert not one.labels
        assert [*one.buckets] == sorted(set(one.buckets))


def test_what_is_no_value_of_a_label_counts_as_other() -> None:
    metric = Metric("x", "counter", "X.", (("a", ("one", "two")), ("b", ("three",))))

    assert metric.fitting(("one", "three")) == ("one", "three")
    assert metric.fitting(("evil\n", "one")) == (OTHER, OTHER)
