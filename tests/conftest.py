"""How hard do the properties look? Few examples by default, many on request.

By default most runs of a day try the same few, so that a change is judged by what it
changes and not by luck; each day they are others, and the seed is printed. `make
thorough` looks further, elsewhere every time.

What they happen to draw does not count as covered, so nothing is traced while a
property runs; untraced it also takes less than half the time.

Nor may a test skip itself in silence (tests/skip_budget.py), or a module that hangs
when it is imported hang everything.
"""

import datetime as dt
import os
import signal
import sys
from collections.abc import Iterator
from functools import partial
from types import FrameType

import pytest
from hypothesis import HealthCheck, core, settings
from tests import empty_home, skip_budget

COLLECTION = float(os.environ.get("HOLDFAST_TEST_COLLECTION", "600"))
"""Seconds to import every test: half a minute of work, on a machine that others use."""

UNHURRIED = (HealthCheck.too_slow,)
"""A busy machine must not decide about a test."""

settings.register_profile(
    "quick",
    database=None,
    max_examples=40,
    stateful_step_count=40,
    deadline=None,
    suppress_health_check=UNHURRIED,
)
settings.register_profile(
    "thorough",
    max_examples=1000,
    stateful_step_count=60,
    deadline=None,
    suppress_health_check=UNHURRIED,
)
settings.load_profile("quick")


SEED = "HOLDFAST_TEST_SEED"
"""The variable with the seed of the properties; by default the day's number."""


def pytest_configure(config: pytest.Config) -> None:
    # What the tests start is killed at will, and so says now this, now that of
    # the lines it ran: only the runner's own workers are measured.
    if hasattr(config, "workerinput"):
        os.environ.pop("COVERAGE_PROCESS_CONFIG", None)
    # Started in the background, a runner ignores interrupts, and so would every
    # program that it starts.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    if config.getoption("--hypothesis-seed") is None and settings().database is None:
        today = dt.datetime.now(dt.UTC).date().toordinal()
        seed = int(os.environ.setdefault(SEED, str(today)))
        setattr(core, "global_force_seed", seed)  # noqa: B010  # typed as None
    if not hasattr(config, "workerinput"):
        config.pluginmanager.register(_Skips(), "skip-budget")
        config.add_cleanup(partial(empty_home.move_out, empty_home.move_in()))


def pytest_report_header() -> str:
    return f"properties: {SEED}={os.environ.get(SEED, 'none')}"


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Iterator[None]:
    """Give the collection an end: pytest-timeout begins with the first test."""

    def late(_: int, __: FrameType | None) -> None:
        pytest.exit(f"collecting took over {COLLECTION} seconds", 1)

    before = signal.signal(signal.SIGALRM, late)
    signal.setitimer(signal.ITIMER_REAL, COLLECTION)
    try:
        return (yield)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Run properties last: code that remembers would not run again for a test."""
    items.sort(key=_is_property)


def _is_property(item: pytest.Item) -> bool:
    return item.get_closest_marker("hypothesis") is not None


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    """Trace nothing of a property: the next seed may not run it."""
    tracer = sys.gettrace()
    if tracer is None or not _is_property(item):
        return (yield)
    # Coverage itself goes on: a start would also have the programs that tests run
    # measured again.
    sys.settrace(None)
    try:
        return (yield)
    finally:
        sys.settrace(tracer)


class _Skips:
    """Fails a run in which a test was skipped that may not be."""

    def __init__(self) -> None:
        self._refused: dict[str, str] = {}

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        was_skipped = report.skipped and not hasattr(report, "wasxfail")
        if was_skipped and not skip_budget.is_permitted(report.nodeid):
            self._refused[report.nodeid] = str(report.longrepr)

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        if self._refused and session.exitstatus == pytest.ExitCode.OK:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def pytest_terminal_summary(
        self, terminalreporter: pytest.TerminalReporter
    ) -> None:
        for test, why in self._refused.items():
            terminalreporter.write_line(f"SKIPPED, and may not be: {test}: {why}")


@pytest.fixture(autouse=True)
def nobody_is_left_over() -> Iterator[None]:
    """Act as nobody in particular again: a verb with --as says so to what follows."""
    yield
    os.environ.pop("HOLDFAST_AS", None)
