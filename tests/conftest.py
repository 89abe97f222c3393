"""How hard do the properties look? Few examples by default, many on request.

By default they are the same few every time, so that a change is judged by what it
changes and not by luck; `make thorough` looks further, elsewhere every time.
"""

import os
import signal

import pytest
from hypothesis import HealthCheck, settings

UNHURRIED = (HealthCheck.too_slow,)
"""A busy machine must not decide about a test."""

settings.register_profile(
    "quick",
    derandomize=True,
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


def pytest_configure(config: pytest.Config) -> None:
    # What the tests start is killed at will, and so says now this, now that of
    # the lines it ran: only the runner's own workers are measured.
    if hasattr(config, "workerinput"):
        os.environ.pop("COVERAGE_PROCESS_CONFIG", None)
    # Started in the background, a runner ignores interrupts, and so would every
    # program that it starts.
    signal.signal(signal.SIGINT, signal.default_int_handler)
