"""Chooses whether a session gets a capsule, and its limits."""

from holdfast.core.capsule.limit_choice import LimitChoice, choose_limits
from holdfast.core.capsule.runtime_choice import Choice, Wish, choose
from holdfast.holder.policy.policy_in_force import PolicyInForce
from holdfast.linux.stored import config
from holdfast.model.actors import Actor
from holdfast.model.limits import NO_LIMITS, Limits
from holdfast.model.session_requests import Creation


def runtime_of(asked: Creation, creator: Actor) -> tuple[Choice, LimitChoice]:
    """Return whether a session gets a capsule, and how much of the machine.

    By what is asked for, by the policy and, where neither says anything, by the
    settings.

    Raises:
        HoldfastError: What is asked for is not allowed, or nothing that there is.

    """
    policy = PolicyInForce(lambda _: None).policy
    wish = Wish(asked.runtime, asked.net, asked.files)
    choice = choose(creator.kind, wish, policy.runtime)
    most = policy.limits.get(creator.kind, NO_LIMITS)
    chosen = choose_limits(choice, asked.limits, most, _usual(choice))
    # Without a capsule there would be no limits.
    needs = choice.is_required or chosen.is_required
    return choice._replace(is_required=needs), chosen


def _usual(choice: Choice) -> Limits:
    if choice.is_capsule and config.mentions(*config.LIMITS):
        found = config.settings()
        return Limits(found.memory, found.millicpus, found.pids)
    return NO_LIMITS
