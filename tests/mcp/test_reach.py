"""Which sessions an agent's server stays in, and which it leaves first."""

from collections.abc import Iterator

import pytest
from tests.mcp.support import told
from tests.scenarios.support import Machine, machine

from holdfast.mcp import reach
from holdfast.mcp.reach import Reach
from holdfast.model.ids import SessionId


@pytest.fixture
def here() -> Iterator[Machine]:
    with machine() as made:
        yield made


def test_the_session_that_was_not_used_for_longest_is_left_first(
    here: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reach, "MAX_KEPT", 2)
    one, two, three = (here.new("cat") for _ in range(3))

    async def story() -> list[tuple[SessionId, ...]]:
        async with Reach("bot") as made:
            kept = []
            for session in (one, two, one, three):
                await made.session(session)
                kept.append(made.kept)
            return kept

    assert told(story) == [(one,), (one, two), (two, one), (one, three)]


def test_a_session_is_entered_anew_only_if_we_come_for_something_else(
    here: Machine,
) -> None:
    session = here.new("cat")

    async def story() -> None:
        async with Reach("bot") as made:
            first = await made.session(session)
            assert await made.session(session) is first
            assert await made.session(session, observe=False) is first
            looked = await made.session(session, observe=True)
            assert looked is not first
            assert await made.session(session) is looked
            assert not first.is_attached
            assert made.kept == (session,)
            assert await made.leave(session)
            assert not await made.leave(session)
            assert not made.kept

    told(story)
