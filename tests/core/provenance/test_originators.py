from dataclasses import replace

import pytest
from tests.core.shell_world import (
    ANNA,
    BOT,
    CARL,
    DEPLOY,
    HOME,
    PATH,
    Shell,
    command,
    finished,
    state,
)

from holdfast.core.provenance.originators import (
    MAX_LINE,
    MAX_SPANS,
    MAX_TRACED,
    UNKNOWN,
    Origin,
    Origins,
)
from holdfast.core.shell.shell_state import MAX_CHANGES, ChangeKind, Item, ItemKind
from holdfast.model.ids import ActorId


@pytest.fixture
def shell() -> Shell:
    made = Shell()
    made.see(state(PATH="/bin"))
    return made


def test_i2_what_the_shell_began_with_is_nobodys_doing(shell: Shell) -> None:
    shell.run(BOT)
    shell.see(state(PATH="/bin"))

    assert shell.origins.of(PATH) is None
    assert shell.origins.of(DEPLOY) is None


def test_i1_what_differs_is_the_doing_of_the_command_in_between(shell: Shell) -> None:
    ran = shell.run(BOT, "alias deploy='rm -rf build'")
    shell.see(state(PATH="/bin", deploy="rm"))

    origin = shell.origins.of(DEPLOY)
    assert origin == Origin(1, BOT, (BOT,), ran.line, ran.since.wall_ms)
    assert origin.is_sure
    traced = shell.origins.traced(DEPLOY)
    assert traced is not None
    assert (traced.how, traced.digest) == (ChangeKind.ADDED, b"rm")


def test_i1_the_last_change_counts(shell: Shell) -> None:
    for actor, digest in ((BOT, "1"), (ANNA, "2")):
        shell.run(actor)
        shell.see(state(PATH="/bin", deploy=digest))
    shell.run(CARL)
    shell.see(None)

    origin = shell.origins.of(DEPLOY)
    assert origin is not None
    assert (origin.command, origin.trigger) == (2, ANNA)


def test_i1_who_removed_something_is_known_too(shell: Shell) -> None:
    shell.run(BOT)
    shell.see(state())

    traced = shell.origins.traced(PATH)
    assert traced is not None
    assert (traced.how, traced.origin.trigger) == (ChangeKind.REMOVED, BOT)


def test_authors_are_those_who_typed_the_line_and_those_who_typed_into_it(
    shell: Shell,
) -> None:
    ran = command(1, ANNA, BOT)
    shell.begin(ran)
    shell.finish(replace(finished(ran), hands=(CARL,)))
    shell.see(state(PATH="/evil"))

    origin = shell.origins.of(PATH)
    assert origin is not None
    assert (origin.trigger, origin.authors) == (ANNA, (BOT, CARL))
    assert origin.actors == (ANNA, BOT, CARL)


def test_what_changed_without_a_command_has_no_origin_to_name(shell: Shell) -> None:
    shell.see(state(PATH="/evil"))

    assert shell.origins.of(PATH) == UNKNOWN
    assert not UNKNOWN.is_sure


def test_i1_what_changed_while_nobody_looked_is_one_of_the_commands_since(
    shell: Shell,
) -> None:
    shell.run(BOT)
    shell.lose()
    shell.run(ANNA)
    shell.see(state(PATH="/evil"))

    origin = shell.origins.of(PATH)
    assert origin is not None
    assert (origin.first, origin.command, origin.is_sure) == (1, 2, False)
    assert (origin.trigger, origin.authors) == ("", (BOT, ANNA))
    assert (origin.line, origin.at_wall_ms) == ("", 1_000_010_000)


def test_i3_one_of_several_commands_of_one_operator_is_that_operators(
    shell: Shell,
) -> None:
    shell.run(BOT)
    shell.lose()
    shell.run(BOT)
    shell.see(state(PATH="/evil"))

    origin = shell.origins.of(PATH)
    assert origin is not None
    assert (origin.trigger, origin.is_sure) == (BOT, False)


def test_i3_a_command_of_nobody_known_makes_the_trigger_unknown(shell: Shell) -> None:
    shell.run(BOT)
    shell.lose()
    shell.run(None)
    shell.see(state(PATH="/evil"))

    origin = shell.origins.of(PATH)
    assert origin is not None
    assert (origin.trigger, origin.authors) == ("", (BOT,))


def test_i1_while_the_state_is_lost_every_item_may_have_changed(shell: Shell) -> None:
    shell.run(BOT)
    shell.see(state(PATH="/bin", deploy="1"))
    shell.run(ANNA)
    shell.lose()

    initial, changed = shell.origins.of(PATH), shell.origins.of(DEPLOY)
    assert initial is not None
    assert changed is not None
    assert (initial.trigger, initial.first, initial.is_sure) == (ANNA, 2, False)
    assert (changed.trigger, changed.authors, changed.first) == ("", (BOT, ANNA), 1)


def test_i1_the_shells_word_that_nothing_is_new_does_not_find_what_was_lost(
    shell: Shell,
) -> None:
    shell.run(BOT)
    shell.lose()
    shell.run(ANNA)
    shell.see(None)

    origin = shell.origins.of(PATH)
    assert origin is not None
    assert not origin.is_sure
    assert shell.origins.is_behind


def test_i1_a_state_lost_without_a_command_may_be_anybodys_doing(shell: Shell) -> None:
    shell.lose()
    assert shell.origins.of(PATH) == UNKNOWN

    shell.run(ANNA)
    shell.see(state(PATH="/evil"))

    assert shell.origins.of(PATH) == UNKNOWN


def test_i2_what_was_there_when_the_state_was_first_seen_may_be_a_commands() -> None:
    shell = Shell()
    shell.run(BOT)
    shell.see(state(PATH="/evil"))

    origin = shell.origins.of(PATH)
    assert origin is not None
    assert (origin.trigger, origin.is_sure, origin.line) == (BOT, False, "")


def test_i2_what_was_lost_before_a_state_was_ever_seen_may_be_anybodys() -> None:
    shell = Shell()
    shell.lose()
    shell.run(BOT)
    shell.see(state(PATH="/evil"))

    assert shell.origins.of(PATH) == UNKNOWN
    assert shell.heir().of(PATH) == UNKNOWN


def test_the_digest_that_was_seen_last_is_told(shell: Shell) -> None:
    assert shell.origins.digest(PATH) == b"/bin"
    assert shell.origins.digest(DEPLOY) == b""
    assert Origins().digest(PATH) == b""


def test_i2_a_state_that_is_not_whole_says_nothing_of_what_it_leaves_out() -> None:
    shell = Shell()
    assert shell.origins.of(HOME) == UNKNOWN

    shell.see(replace(state(PATH="/bin"), is_whole=False))

    assert shell.origins.of(PATH) is None
    assert shell.origins.of(HOME) == UNKNOWN


def test_what_was_changed_since_a_command_is_told(shell: Shell) -> None:
    shell.run(BOT)
    shell.see(state(PATH="/evil"))
    shell.run(ANNA)
    shell.see(state(PATH="/evil", deploy="1"))

    assert [one.item for one in shell.origins.since(0)] == [PATH, DEPLOY]
    assert [one.item for one in shell.origins.since(1)] == [DEPLOY]
    assert shell.origins.last == 2


def test_the_last_command_with_a_word_is_found(shell: Shell) -> None:
    shell.run(BOT, "alias deploy='rm'")
    shell.run(ANNA, "cd x && deploy; ls")
    shell.run(CARL, "deployment")

    found = shell.origins.last_use("deploy")
    assert found is not None
    assert found.trigger == ANNA
    assert shell.origins.last_use("never") is None


def test_i6_changes_that_are_left_out_make_the_rest_unsure(shell: Shell) -> None:
    many = {f"a{number}": "1" for number in range(MAX_CHANGES + 50)}
    shell.run(BOT)
    shell.see(state(PATH="/bin", **many))

    origin = shell.origins.of(HOME)
    assert origin is not None
    assert (origin.trigger, origin.is_sure) == (BOT, False)


def test_i6_origins_that_are_forgotten_are_not_taken_for_none(shell: Shell) -> None:
    names: dict[str, str] = {}
    for number in range(MAX_TRACED // 200 + 2):
        names |= {f"a{number}x{one}": "1" for one in range(200)}
        shell.run(BOT)
        shell.see(state(PATH="/bin", **names))

    origin = shell.origins.of(HOME)
    assert origin is not None
    assert (origin.trigger, origin.is_sure) == (BOT, False)
    assert len(shell.origins.since(0)) <= MAX_TRACED


def test_i6_what_was_changed_last_is_forgotten_last(shell: Shell) -> None:
    def change(names: dict[str, str], actor: ActorId) -> None:
        shell.run(actor)
        shell.see(state(PATH="/bin", **names))

    names = {"deploy": "1"}
    change(names, BOT)
    while len(shell.origins.since(0)) < MAX_TRACED:
        left = MAX_TRACED - len(shell.origins.since(0))
        size = len(names)
        names |= {f"a{size + one}": "1" for one in range(min(left, MAX_CHANGES))}
        change(names, BOT)
    change(names | {"deploy": "2"}, ANNA)
    assert len(shell.origins.since(0)) == MAX_TRACED
    change(names | {"deploy": "2", "last": "1"}, CARL)

    assert len(shell.origins.since(0)) == MAX_TRACED
    for item, actor in ((DEPLOY, ANNA), (Item(ItemKind.ALIAS, "last"), CARL)):
        traced = shell.origins.traced(item)
        assert traced is not None
        assert traced.origin.trigger == actor


def test_i6_of_commands_that_are_forgotten_nobody_is_named(shell: Shell) -> None:
    for _ in range(MAX_SPANS + 1):
        shell.run(BOT)
    shell.see(state(PATH="/bin", deploy="rm"))

    assert shell.origins.of(DEPLOY) == UNKNOWN


def test_before_any_state_was_seen_nothing_is_known() -> None:
    assert Shell().origins.of(PATH) == UNKNOWN


def test_what_nobody_is_known_to_have_entered_is_nobody_s(shell: Shell) -> None:
    shell.run(None)
    shell.see(state(PATH="/bin", deploy="rm"))

    origin = shell.origins.of(DEPLOY)
    assert origin is not None
    assert origin.trigger == ""


def test_a_line_is_kept_so_that_it_can_be_shown(shell: Shell) -> None:
    shell.run(BOT, "\x1b[31m" + "x" * 200)
    shell.see(state())

    origin = shell.origins.of(PATH)
    assert origin is not None
    assert origin.line.startswith("\\x1b[31m")
    assert len(origin.line) <= MAX_LINE + 4


def test_the_end_of_a_command_that_is_not_known_changes_nothing() -> None:
    origins = Origins()
    origins.ended(command(7, BOT))

    assert origins.last == 0
