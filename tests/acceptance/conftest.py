"""One browser and one machine for each act; nothing is skipped."""

from collections.abc import Iterator

import pytest
from tests.acceptance.stage import Stage, stage
from tests.web.browsing import Browser, browser, what_is_missing


@pytest.fixture
def chromium() -> Iterator[Browser]:
    # What is to be accepted must have been seen: skipping would say it was.
    assert what_is_missing() == ""
    with browser() as made:
        yield made


@pytest.fixture
def here() -> Iterator[Stage]:
    with stage() as made:
        yield made
