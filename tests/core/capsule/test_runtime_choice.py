import pytest

from holdfast.core.capsule.runtime_choice import Choice, Runtime, choose
from holdfast.model.actors import ActorKind
from holdfast.model.errors import DeniedByPolicy, MalformedArgument

HUMAN, AGENT = ActorKind.HUMAN, ActorKind.AGENT
WALLED = {AGENT: Runtime.CAPSULE}


def test_a_person_s_session_is_plain_unless_asked_for() -> None:
    assert choose(HUMAN, "", "", {}).is_capsule is False
    assert choose(HUMAN, "plain", "", {}).is_capsule is False
    assert choose(HUMAN, "capsule", "own", {}) == Choice(is_capsule=True)


def test_anybody_else_s_is_a_capsule_where_that_is_possible() -> None:
    for kind in (AGENT, ActorKind.SERVICE, ActorKind.DEVICE):
        assert choose(kind, "", "", {}) == Choice(is_capsule=True, is_required=False)


def test_an_agent_may_say_what_it_wants_where_the_policy_is_silent() -> None:
    assert choose(AGENT, "plain", "", {}).is_capsule is False
    assert choose(AGENT, "capsule", "", {}) == Choice(is_capsule=True)


def test_a_policy_can_let_agents_have_plain_sessions() -> None:
    free = {AGENT: Runtime.PLAIN}

    assert choose(AGENT, "", "", free).is_capsule is False
    assert choose(AGENT, "capsule", "", free) == Choice(is_capsule=True)


def test_i1_what_the_policy_requires_is_never_left_out() -> None:
    assert choose(AGENT, "", "", WALLED) == Choice(is_capsule=True)
    assert choose(HUMAN, "", "", WALLED).is_capsule is False
    with pytest.raises(DeniedByPolicy, match="capsules here"):
        choose(AGENT, "plain", "", WALLED)


@pytest.mark.parametrize(("runtime", "net"), [("vm", ""), ("capsule", "none")])
def test_i2_what_there_is_not_is_refused(runtime: str, net: str) -> None:
    with pytest.raises(MalformedArgument):
        choose(HUMAN, runtime, net, {})
