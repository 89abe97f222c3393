"""Where operators stand, by the policy in force and the acts since the last step."""

from pathlib import Path

import pytest
from tests.core.autonomy.written_book import MAKE, acts, write_book
from tests.scenarios.support import apply_policy

from holdfast.client import current_operator
from holdfast.core.autonomy.ladder import Step
from holdfast.core.policy.applied_policy import SHORT
from holdfast.linux.stored import ladder_steps, places
from holdfast.linux.stored.act_traces import ActTraces
from holdfast.linux.stored.autonomy_state import AutonomyState, autonomy_state
from holdfast.model.actors import ActorKind
from holdfast.model.ids import ActorId, SessionId
from holdfast.model.verdicts import Verdict

SESSION = SessionId("s_" + "a" * 16)
POLICY = '[default]\nagent = "ask"\n[autonomy]\nagent = "preview"\n'


@pytest.fixture
def bot(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ActorId:
    for name in ("CONFIG", "STATE"):
        monkeypatch.setenv(f"HOLDFAST_{name}_DIR", str(tmp_path / name))
    apply_policy(POLICY)
    return current_operator.enrol("bot", ActorKind.AGENT).actor.id


def seen() -> AutonomyState:
    traces = ActTraces()
    traces.look()
    return autonomy_state(traces)


def test_who_may_climb_is_who_the_policy_names_and_the_host_knows(bot: ActorId) -> None:
    stranger = ActorId("a_" + "x" * 32)
    write_book(places.log_dir(), SESSION, acts(bot, 2))
    other = SessionId("s_" + "b" * 16)
    write_book(places.log_dir(), other, acts(stranger, 2))

    state = seen()

    assert state.ceilings == {bot: Verdict.PREVIEW}
    assert {*state.score.total} == {bot, stranger}
    assert state.ladder.rungs == {}


def test_only_acts_since_the_last_step_count(bot: ActorId) -> None:
    step = Step(bot, MAKE, Verdict.ASK, Verdict.PREVIEW, "")
    made = ladder_steps.make(step, current_operator.ourselves())
    old = acts(bot, 5, policy="0" * SHORT)
    new = acts(bot, 2, policy=made.digest[:SHORT])
    write_book(places.log_dir(), SESSION, old)
    write_book(places.log_dir(), SessionId("s_" + "b" * 16), new)

    state = seen()

    assert state.score.kinds[bot, MAKE].acts == 2
    assert state.ladder.rungs == {(bot, MAKE): Verdict.PREVIEW}
