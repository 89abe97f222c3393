"""Where operators stand on the ladder of this host, and what their figures say."""

from dataclasses import dataclass

from holdfast.core.autonomy.figures import Score, scored
from holdfast.core.autonomy.ladder import Ladder, ladder_from
from holdfast.core.autonomy.steps import counting, since_last_step
from holdfast.core.policy.applied_policy import SHORT
from holdfast.linux.stored import ladder_steps, operators, policy_files
from holdfast.linux.stored.act_traces import ActTraces
from holdfast.model.verdicts import Verdict


@dataclass(frozen=True, slots=True)
class AutonomyState:
    """What decides about steps, at one moment."""

    ladder: Ladder
    score: Score
    """Of the acts since the last step of each kind of action."""

    ceilings: dict[str, Verdict]
    """The highest rung of each operator who may climb at all."""


def autonomy_state(traces: ActTraces) -> AutonomyState:
    """Return where things stand now; `traces` have been looked at.

    Raises:
        PeerError: The policy in force or the host's logbook was tampered with.
        UsageError: The policy cannot be read by this version.

    """
    applied = policy_files.load(policy_files.seal_key())
    tops = applied.policy().autonomy
    score = scored(
        traces.acts(), counting(since_last_step(ladder_steps.history(), SHORT))
    )
    ceilings: dict[str, Verdict] = {
        one.actor.id: tops[one.actor.kind]
        for one in operators.enrolled()
        if one.actor.kind in tops and one.actor.id in score.total
    }
    return AutonomyState(ladder_from(applied.ladder), score, ceilings)
