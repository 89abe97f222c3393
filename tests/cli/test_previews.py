import threading
from collections.abc import Iterator

import pytest
from tests.cli.support.fakes import FakeKeeper, FakeSession
from tests.cli.support.kernel import evidence
from tests.cli.support.screens import seen

from holdfast.cli.panels import Preview
from holdfast.cli.previews import Previews

PATIENCE = 30.0
"""Seconds: longer than a session is waited for that does not answer."""


class Found:
    """Waits for what is found."""

    def __init__(self) -> None:
        self.changed = threading.Event()
        self.previews = Previews(self.changed.set)

    def of(self, session: str) -> Preview:
        while (found := self.previews.of(session)) is None:
            assert self.changed.wait(PATIENCE)
            self.changed.clear()
        return found


@pytest.fixture
def found() -> Iterator[Found]:
    made = Found()
    yield made
    made.previews.close()


def test_a_session_is_looked_up_once(web: FakeSession, found: Found) -> None:
    web.screen = [seen("its screen")]
    web.operating.kernel.states = [evidence("running", sure=False)]

    preview = found.of(web.id)
    assert (preview.lines[0], preview.told) == ("its screen", "running (not sure)")
    web.screen = [seen("another")]
    assert found.of(web.id) == preview


def test_one_that_does_not_answer_is_told_and_asked_again(
    keeper: FakeKeeper, web: FakeSession, found: Found
) -> None:
    del keeper
    web.screen = [seen("its screen")]
    web.operating.kernel.states = [evidence("running")] * 2
    web.die()

    preview = found.of(web.id)
    assert (preview.lines, "does not answer" in preview.told) == ((), True)
    web.revive()
    while not found.of(web.id).lines:
        assert found.changed.wait(PATIENCE)
        found.changed.clear()


def test_after_the_end_nobody_is_asked(web: FakeSession) -> None:
    previews = Previews(lambda: None)
    previews.close()

    assert previews.of(web.id) is None
