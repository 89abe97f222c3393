import math

import pytest

from holdfast.model.limits import (
    EXPECTED,
    MAX_CPU,
    MAX_MEMORY,
    MAX_PIDS,
    MIN_MEMORY,
    NO_LIMITS,
    Limits,
    limit_from,
    limits_from,
)


def nothing(name: str, what: str) -> None:
    raise AssertionError(name, what)


@pytest.mark.parametrize(
    ("name", "given", "kept"),
    [
        ("memory", "2G", 2 << 30),
        ("memory", 64 << 20, 64 << 20),
        ("memory", "0", 0),
        ("cpus", 1.5, 1500),
        ("cpus", 2, 2000),
        ("cpus", 0.05, 50),
        ("pids", 500, 500),
        ("pids", 0, 0),
    ],
)
def test_a_limit_is_kept_as_a_whole_number(name: str, given: object, kept: int) -> None:
    assert limit_from(name, given) == kept


@pytest.mark.parametrize(
    ("name", "given"),
    [
        ("memory", "15M"),
        ("memory", "lots"),
        ("memory", 2.5),
        ("memory", MAX_MEMORY + 1),
        ("memory", -1),
        ("cpus", 0.04),
        ("cpus", "1.5"),
        ("cpus", math.nan),
        ("cpus", math.inf),
        ("cpus", MAX_CPU),
        ("cpus", True),
        ("pids", 15),
        ("pids", 2.5),
        ("pids", MAX_PIDS + 1),
        ("pids", None),
    ],
)
def test_what_is_no_limit_is_refused(name: str, given: object) -> None:
    assert limit_from(name, given) is None


def test_limits_are_read_by_what_people_call_them() -> None:
    given = {"memory": "1G", "cpus": 0.5, "pids": 100}

    assert limits_from(given, nothing) == Limits(1 << 30, 500, 100)
    assert limits_from({}, nothing) == NO_LIMITS


def test_each_mistake_is_named_and_counts_as_no_limit() -> None:
    said: list[tuple[str, str]] = []

    found = limits_from(
        {"memory": 1, "cpus": 1, "pids": "many"},
        lambda name, what: said.append((name, what)),
    )

    assert found == Limits(millicpus=1000)
    assert said == [
        ("memory", f"expected {EXPECTED['memory']}"),
        ("pids", f"expected {EXPECTED['pids']}"),
    ]


@pytest.mark.parametrize(
    ("limits", "problem"),
    [
        (NO_LIMITS, ""),
        (Limits(MIN_MEMORY, 50, 16), ""),
        (Limits(memory=1), EXPECTED["memory"]),
        (Limits(millicpus=1), EXPECTED["cpus"]),
        (Limits(pids=-1), EXPECTED["pids"]),
    ],
)
def test_limits_that_no_session_can_live_with_are_a_problem(
    limits: Limits, problem: str
) -> None:
    assert limits.problem() == problem


def test_limits_are_told_to_people() -> None:
    limits = Limits(2 << 30, 1500, 500)

    assert limits.told() == "2G of memory, 1.5 processors, 500 processes"
    assert NO_LIMITS.told() == ""
