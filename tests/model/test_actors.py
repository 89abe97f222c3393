import pytest

from holdfast.model.actors import Actor, ActorKind
from holdfast.model.ids import actor_id

KEY = b"a public key"


@pytest.mark.parametrize(
    "name", ["ada", "\x1b[8mada", "\u202eada", "\u0430da", "a\u200bda", "x" * 999, ""]
)
def test_the_fingerprint_is_always_shown_and_the_name_is_inert(name: str) -> None:
    actor = Actor(actor_id(KEY), ActorKind.AGENT, name)

    assert actor.fingerprint() == actor.id[2:10]
    assert actor.shown().endswith(f" (agent, {actor.fingerprint()})")
    assert actor.shown().replace("…", "").isprintable()
    assert actor.shown().replace("…", "").isascii()


def test_what_people_compare_is_sixteen_letters_of_the_id_in_groups() -> None:
    actor = Actor(actor_id(KEY), ActorKind.AGENT, "ada")

    groups = actor.compared().split("-")
    assert [len(group) for group in groups] == [4, 4, 4, 4]
    assert "".join(groups) == actor.id[2:18]


def test_one_name_with_two_keys_is_two_actors() -> None:
    one = Actor(actor_id(b"one"), ActorKind.HUMAN, "ada")
    other = Actor(actor_id(b"other"), ActorKind.HUMAN, "ada")

    assert one != other
    assert one.shown() != other.shown()
