"""One browser for all tests of a process; one machine for the tests of a file."""

from collections.abc import Iterator

import pytest
from tests.web.browsing import Browser, browser, what_is_missing
from tests.web.world import World, world


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    missing = what_is_missing()
    if missing:
        for item in items:
            if "tests/web" in str(item.path):
                item.add_marker(pytest.mark.skip(reason=missing))


@pytest.fixture(scope="session")
def started_browser() -> Iterator[Browser]:
    with browser() as made:
        yield made


@pytest.fixture
def chromium(started_browser: Browser) -> Iterator[Browser]:
    yield started_browser
    started_browser.close_pages()


@pytest.fixture(scope="module")
def machine() -> Iterator[World]:
    with world() as made:
        yield made


@pytest.fixture
def here(machine: World) -> Iterator[World]:
    yield machine
    # Every list looks at every session that lives, again and again.
    machine.end_all()
