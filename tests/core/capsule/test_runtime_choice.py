import pytest

from holdfast.core.capsule.runtime_choice import Choice, Runtime, Wish, choose
from holdfast.model.actors import ActorKind
from holdfast.model.errors import DeniedByPolicy, MalformedArgument

HUMAN, AGENT = ActorKind.HUMAN, ActorKind.AGENT
WALLED = {AGENT: Runtime.CAPSULE}


def test_a_person_s_session_is_plain_unless_asked_for() -> None:
    assert choose(HUMAN, Wish("", ""), {}).is_capsule is False
    assert choose(HUMAN, Wish("plain", ""), {}).is_capsule is False
    assert choose(HUMAN, Wish("capsule", "own"), {}) == Choice(is_capsule=True)


def test_anybody_else_s_is_a_capsule_where_that_is_possible() -> None:
    for kind in (AGENT, ActorKind.SERVICE, ActorKind.DEVICE):
        assert choose(kind, Wish("", ""), {}) == Choice(
            is_capsule=True, is_required=False
        )


def test_an_agent_may_say_what_it_wants_where_the_policy_is_silent() -> None:
    assert choose(AGENT, Wish("plain", ""), {}).is_capsule is False
    assert choose(AGENT, Wish("capsule", ""), {}) == Choice(is_capsule=True)


def test_a_policy_can_let_agents_have_plain_sessions() -> None:
    free = {AGENT: Runtime.PLAIN}

    assert choose(AGENT, Wish("", ""), free).is_capsule is False
    assert choose(AGENT, Wish("capsule", ""), free) == Choice(is_capsule=True)


def test_i1_what_the_policy_requires_is_never_left_out() -> None:
    assert choose(AGENT, Wish("", ""), WALLED) == Choice(is_capsule=True)
    assert choose(HUMAN, Wish("", ""), WALLED).is_capsule is False
    with pytest.raises(DeniedByPolicy, match="capsules here"):
        choose(AGENT, Wish("plain", ""), WALLED)


@pytest.mark.parametrize(("runtime", "net"), [("vm", ""), ("capsule", "none")])
def test_i2_what_there_is_not_is_refused(runtime: str, net: str) -> None:
    with pytest.raises(MalformedArgument):
        choose(HUMAN, Wish(runtime, net), {})


def test_files_of_its_own_are_had_in_a_capsule_or_not_at_all() -> None:
    own = Wish("", "", "own")

    assert choose(HUMAN, own, {}) == Choice(is_capsule=True)
    assert choose(AGENT, own, {AGENT: Runtime.PLAIN}) == Choice(is_capsule=True)
    assert choose(HUMAN, Wish(files="shared"), {}).is_capsule is False
    for wish in (Wish("plain", "", "own"), Wish("capsule", "", "mine")):
        with pytest.raises(MalformedArgument):
            choose(HUMAN, wish, {})
