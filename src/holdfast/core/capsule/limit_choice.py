"""Chooses a session's limits from request, settings and policy.

Theory of operation
-------------------
Three may say something about each of memory, processors and processes: who asks for
the session, the policy for the asker's kind, and the settings of the machine's user.
The policy says the most. Who asks for less gets less; who asks for more is refused; who
asks for nothing gets what the settings say, but never more than the policy's most.

What was asked for, or is the policy's, holds or the session does not start. What only
the settings say is left out where the machine cannot do it, and that is told.

Invariants, checked by tests/core/capsule/test_limit_choice.py:

I1  No session has more than the policy's most.
I2  A requested limit is set or refused, never replaced.
I3  A session that is not in a capsule has no limits, and none that demands them starts.
"""

from typing import NamedTuple

from holdfast.core.capsule.runtime_choice import Choice
from holdfast.model.errors import DeniedByPolicy, MalformedArgument
from holdfast.model.limits import NO_LIMITS, Limits

RULE = "limits"
"""What is named where the policy refuses a session that asks for more."""


class LimitChoice(NamedTuple):
    """What a session gets."""

    limits: Limits = NO_LIMITS
    is_required: bool = False
    """Whether it does not start where they cannot be kept."""


def choose_limits(
    choice: Choice, asked: Limits, most: Limits, usual: Limits
) -> LimitChoice:
    """Return the limits of a session that runs as `choice` says.

    `most` is the policy's, `usual` what the settings say.

    Raises:
        UsageError: No session could live with what is asked for, or it is plain.
        Forbidden: It is more than the policy lets it have.

    """
    if not choice.is_capsule:
        return _of_plain(asked, most)
    if problem := asked.problem():
        raise MalformedArgument(asked.told() or str(tuple(asked)), problem)
    chosen = Limits(*(_one(*each) for each in zip(asked, most, usual, strict=True)))
    if any(wanted > given for wanted, given in zip(asked, chosen, strict=True)):
        raise DeniedByPolicy(RULE, f"at most {most.told()}")
    return LimitChoice(chosen, is_required=any(asked) or any(most))


def _of_plain(asked: Limits, most: Limits) -> LimitChoice:
    if any(asked):
        raise MalformedArgument(asked.told(), "limit without a capsule")
    if any(most):
        raise DeniedByPolicy(RULE, "a session without a capsule has no limits")
    return LimitChoice()


def _one(asked: int, most: int, usual: int) -> int:
    wanted = asked or usual
    return min(wanted, most) if wanted and most else wanted or most
