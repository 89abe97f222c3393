"""Which rules hold for an exec, how strict they are together, and what is kept."""

from collections.abc import Iterator

import pytest
from tests.holder.input_world import World, world
from tests.scenarios.support import apply_policy

from holdfast.holder.policy.exec_rules import MAX_REMEMBERED, ExecRules
from holdfast.holder.policy.policy_in_force import PolicyInForce
from holdfast.linux.exec_words import Wanted
from holdfast.model.actors import Actor, ActorKind
from holdfast.model.ids import actor_id
from holdfast.model.verdicts import Verdict

ANNA = Actor(actor_id(b"anna"), ActorKind.HUMAN, "anna")
BOT = Actor(actor_id(b"bot"), ActorKind.AGENT, "bot")
FREE = '[default]\nagent = "allow"\nhuman = "allow"\n'
NO_RM = '[[rule]]\nverdict = "deny"\nkind = "agent"\nprogram = "/bin/rm"\n'


class Ruled:
    """The rules of a session for its execs."""

    def __init__(self, here: World) -> None:
        self.in_force = PolicyInForce(print)
        self.rules = ExecRules(here.descriptors, self.in_force, here.intake)

    def apply(self, text: str) -> None:
        """Have another policy hold."""
        apply_policy(text)
        self.in_force.refresh()

    def says(self, program: str, *actors: Actor, word: str = "x") -> Verdict:
        """Return what holds for an exec that one of these may be behind."""
        wanted = Wanted(program, program, (program, word), "/")
        return self.rules.strictest(actors, wanted)[0].verdict

    @property
    def kept(self) -> tuple[int, int]:
        """How much is remembered."""
        rules = self.rules
        return len(rules._remembered), len(rules._unruled)  # noqa: SLF001


@pytest.fixture
def ruled(own_folders: None) -> Iterator[Ruled]:
    del own_folders
    with world() as here:
        yield Ruled(here)


def test_who_may_do_what_no_rule_speaks_of_is_free(ruled: Ruled) -> None:
    ruled.apply('[default]\nhuman = "allow"\nagent = "ask"\n')

    assert ruled.rules.is_free(ANNA)
    assert not ruled.rules.is_free(BOT)


def test_words_are_not_read_where_no_rule_could_fit(ruled: Ruled) -> None:
    ruled.apply(FREE + NO_RM)

    assert ruled.rules.is_unruled(ANNA)
    assert not ruled.rules.is_unruled(BOT)


def test_nor_where_nothing_is_allowed_by_itself(ruled: Ruled) -> None:
    ruled.apply('[default]\nhuman = "allow"\nagent = "deny"\n')

    assert ruled.rules.is_unruled(ANNA)
    assert not ruled.rules.is_unruled(BOT)


def test_what_holds_for_the_strictest_holds(ruled: Ruled) -> None:
    ruled.apply(FREE + NO_RM)

    assert ruled.says("/bin/rm", ANNA) is Verdict.ALLOW
    assert ruled.says("/bin/rm", BOT) is Verdict.DENY
    assert ruled.says("/bin/rm", ANNA, BOT) is Verdict.DENY
    assert ruled.says("/bin/rm", BOT, ANNA) is Verdict.DENY
    assert ruled.says("/bin/ls", ANNA, BOT) is Verdict.ALLOW


def test_what_was_judged_is_judged_anew_by_other_rules(ruled: Ruled) -> None:
    ruled.apply(FREE)
    assert ruled.says("/bin/rm", BOT) is Verdict.ALLOW
    assert ruled.rules.is_unruled(BOT)

    ruled.apply(FREE + NO_RM)

    assert ruled.says("/bin/rm", BOT) is Verdict.DENY
    assert not ruled.rules.is_unruled(BOT)


def test_no_more_is_remembered_than_so_much(ruled: Ruled) -> None:
    ruled.apply(FREE + NO_RM)
    crowd = [
        Actor(actor_id(bytes([number])), ActorKind.HUMAN, f"n{number}")
        for number in range(MAX_REMEMBERED + 3)
    ]
    most = [0, 0]

    for actor in crowd:
        ruled.says("/bin/ls", actor)
        ruled.rules.is_unruled(actor)
        most = [max(pair) for pair in zip(most, ruled.kept, strict=True)]

    assert most == [MAX_REMEMBERED, MAX_REMEMBERED]
    assert max(ruled.kept) < MAX_REMEMBERED


def test_the_same_exec_is_remembered_once(ruled: Ruled) -> None:
    ruled.apply(FREE + NO_RM)

    for word in ("x", "x", "y"):
        ruled.says("/bin/ls", BOT, word=word)

    assert ruled.kept[0] in (2, 3)  # Three if the minute has changed.
