from collections.abc import Iterator

import pytest
from tests.scenarios.support import Machine, machine


@pytest.fixture(scope="module")
def here() -> Iterator[Machine]:
    with machine() as made:
        yield made
