"""The host takes back what was earned and is no longer deserved; it gives nothing."""

from pathlib import Path

import pytest
from tests.core.autonomy.written_book import MAKE, acts, write_book
from tests.scenarios.support import apply_policy

from holdfast.client import current_operator
from holdfast.core.autonomy.ladder import Step, ladder_from
from holdfast.core.policy.applied_policy import SHORT
from holdfast.host.autonomy_review import AutonomyReview
from holdfast.linux.stored import ladder_steps, places, policy_files
from holdfast.model.actors import ActorKind
from holdfast.model.ids import ActorId, SessionId
from holdfast.model.verdicts import Verdict

SESSION = SessionId("s_" + "a" * 16)
POLICY = '[default]\nagent = "preview"\n[autonomy]\nagent = "allow"\n'


@pytest.fixture
def bot(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ActorId:
    for name in ("CONFIG", "STATE"):
        monkeypatch.setenv(f"HOLDFAST_{name}_DIR", str(tmp_path / name))
    apply_policy(POLICY)
    return current_operator.enrol("bot", ActorKind.AGENT).actor.id


def rung(bot: ActorId) -> Verdict | None:
    applied = policy_files.load(policy_files.seal_key())
    return ladder_from(applied.ladder).rungs.get((bot, MAKE))


def climb(bot: ActorId) -> str:
    step = Step(bot, MAKE, Verdict.PREVIEW, Verdict.ALLOW, "")
    return ladder_steps.make(step, current_operator.ourselves()).digest[:SHORT]


def test_an_unintended_effect_takes_one_step_back_and_no_more(bot: ActorId) -> None:
    policy = climb(bot)
    bad = acts(bot, 1, policy=policy, **{"as": "unintended"})
    write_book(places.log_dir(), SESSION, bad)
    review = AutonomyReview()

    assert review.look() == 1
    assert rung(bot) is Verdict.PREVIEW
    assert review.look() == 0
    entry = ladder_steps.entries()[-1].fields
    assert (entry["by"], entry["to"], entry["actor"]) == ("", "preview", bot)


def test_a_good_score_raises_nothing_by_itself(bot: ActorId) -> None:
    write_book(places.log_dir(), SESSION, acts(bot, 200, verdict="preview"))

    assert AutonomyReview().look() == 0
    assert rung(bot) is None


def test_what_is_well_stays_as_it_is(bot: ActorId) -> None:
    policy = climb(bot)
    write_book(places.log_dir(), SESSION, acts(bot, 20, policy=policy))

    assert AutonomyReview().look() == 0
    assert rung(bot) is Verdict.ALLOW
