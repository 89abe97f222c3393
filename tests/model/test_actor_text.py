from holdfast.model.actor_text import fingerprint_of, shown_actor

ACTOR = "a_" + "abcdefgh" * 4


def test_an_actor_is_shown_with_kind_and_fingerprint() -> None:
    assert shown_actor(ACTOR, "agent", "robo") == "robo (agent, abcdefgh)"
    assert fingerprint_of(ACTOR) == "abcdefgh"


def test_a_name_cannot_look_like_another() -> None:
    assert shown_actor(ACTOR, "human", "ann\u0430") == "ann\\u0430 (human, abcdefgh)"
