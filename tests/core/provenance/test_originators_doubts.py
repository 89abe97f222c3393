"""What is said when several commands may be meant, or none was seen."""

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
    moment,
    state,
)

from holdfast.core.provenance.changed_entries import changed_fields
from holdfast.core.provenance.originators import UNKNOWN, Origin
from holdfast.core.shell.shell_state import MAX_CHANGES, changes


@pytest.fixture
def shell() -> Shell:
    made = Shell()
    made.see(state(PATH="/bin"))
    return made


def told(origin: Origin | None) -> tuple[int, int, str, tuple[str, ...], int]:
    """Return all that an origin says, but for its line, which must be empty."""
    assert origin is not None
    assert origin.line == ""
    found = origin
    return found.first, found.command, found.trigger, found.authors, found.at_wall_ms


def at(second: float) -> int:
    return moment(second).wall_ms


def test_of_what_is_unknown_nothing_is_claimed() -> None:
    assert told(UNKNOWN) == (0, 0, "", (), 0)
    assert UNKNOWN.actors == ()


# ── ranges ────────────────────────────────────────────────────────────────────


def test_i1_two_ranges_become_one_from_the_first_to_the_last(shell: Shell) -> None:
    shell.run(BOT)
    shell.lose()
    shell.run(BOT)
    shell.see(state(PATH="/evil"))
    shell.run(ANNA)
    shell.lose()
    shell.run(CARL)

    assert told(shell.origins.of(PATH)) == (1, 4, "", (BOT, ANNA, CARL), at(10))
    assert told(shell.origins.of(HOME)) == (3, 4, "", (ANNA, CARL), at(30))


def test_i1_what_was_one_command_may_be_another_one_of_the_same_operator(
    shell: Shell,
) -> None:
    shell.run(BOT)
    shell.see(state(PATH="/evil"))
    shell.run(BOT)
    shell.lose()

    assert told(shell.origins.of(PATH)) == (1, 2, BOT, (BOT,), at(10))


def test_i6_what_is_left_out_twice_is_one_of_both(shell: Shell) -> None:
    many = {f"a{number:03}": "1" for number in range(MAX_CHANGES + 1)}
    for actor, value in ((BOT, "1"), (ANNA, "2")):
        shell.run(actor)
        shell.see(state(PATH="/bin", **dict.fromkeys(many, value)))

    assert told(shell.origins.of(HOME)) == (1, 2, "", (BOT, ANNA), at(10))


def test_i5_a_range_in_the_book_is_the_same_range_for_an_heir(shell: Shell) -> None:
    shell.run(BOT)
    shell.lose()
    shell.run(ANNA)
    shell.see(state(PATH="/evil"))
    shell.run(CARL)
    shell.see(state(PATH="/evil", deploy="1"))

    heir = shell.heir()

    assert told(heir.of(PATH)) == (1, 2, "", (BOT, ANNA), at(10))
    assert heir.of(PATH) == shell.origins.of(PATH)
    assert heir.of(DEPLOY) == shell.origins.of(DEPLOY)


# ── what was removed ──────────────────────────────────────────────────────────


def test_i5_what_was_removed_and_set_again_is_whose_it_is_now(shell: Shell) -> None:
    for actor, now in (
        (BOT, state(PATH="/bin", deploy="1")),
        (ANNA, state(PATH="/bin")),
        (CARL, state(PATH="/bin", deploy="1")),
    ):
        shell.run(actor)
        shell.see(now)
    heir = shell.heir()

    for one in (shell.origins, heir):
        origin = one.of(DEPLOY)
        assert origin is not None
        assert (origin.trigger, origin.command) == (CARL, 3)
    assert heir.digest(DEPLOY) == b"1"


def test_i5_an_heir_that_sees_the_same_state_blames_nobody_for_what_was_removed(
    shell: Shell,
) -> None:
    shell.run(BOT)
    shell.see(state(PATH="/bin", deploy="1"))
    shell.run(BOT)
    shell.see(state(PATH="/bin"))
    heir = shell.heir()
    heir.began(command(3, ANNA))
    heir.seen(state(PATH="/bin"))

    origin = heir.of(DEPLOY)
    assert origin is not None
    assert (origin.trigger, origin.command) == (BOT, 2)
    assert heir.since(2) == ()


# ── what is lost and what is recorded ─────────────────────────────────────────


def test_a_loss_is_news_once(shell: Shell) -> None:
    shell.run(BOT)

    assert len(shell.origins.lost()) == 1
    assert shell.origins.lost() == []


def test_a_loss_without_a_command_is_news_once(shell: Shell) -> None:
    assert len(shell.origins.lost()) == 1
    assert shell.origins.lost() == []


def test_i2_what_was_lost_before_anything_was_seen_is_anybodys() -> None:
    shell = Shell()
    shell.lose()
    shell.see(state(PATH="/evil"))

    assert shell.origins.of(PATH) == UNKNOWN
    assert shell.heir().of(PATH) == UNKNOWN


def test_nothing_is_recorded_where_no_command_ran_and_nothing_changed(
    shell: Shell,
) -> None:
    assert shell.origins.unchanged() == []
    assert shell.origins.seen(state(PATH="/bin")) == []


def test_i5_a_command_that_changed_nothing_is_recorded_and_an_heir_is_sure(
    shell: Shell,
) -> None:
    shell.run(BOT)
    shell.see(state(PATH="/bin"))

    assert shell.heir().of(PATH) is None
    assert not shell.heir().is_behind


def test_i6_as_many_changes_as_are_told_at_once_may_not_be_all(shell: Shell) -> None:
    many = {f"a{number:03}": "1" for number in range(MAX_CHANGES)}
    shell.run(BOT)
    (said,) = shell.origins.seen(state(PATH="/bin", **many))

    found = changes(state(PATH="/bin"), state(PATH="/bin", **many))
    left_out = changed_fields(1, 1, found)["more"]
    assert isinstance(left_out, int)
    assert said["more"] == left_out + 1


def test_what_is_known_of_an_item_that_is_not_told_any_more_is_still_known(
    shell: Shell,
) -> None:
    shell.run(BOT)
    shell.see(state(PATH="/bin", deploy="1"))
    shell.run(ANNA)
    shell.see(replace(state(PATH="/bin"), is_whole=False))

    origin = shell.origins.of(DEPLOY)
    assert origin is not None
    assert origin.trigger == ANNA
    assert shell.origins.of(HOME) == UNKNOWN


def test_the_end_of_an_earlier_command_leaves_the_last_as_it_is(shell: Shell) -> None:
    first = command(1, BOT)
    shell.begin(first)
    shell.begin(command(2, ANNA))
    shell.origins.ended(finished(first))

    assert shell.origins.last == 2
    origin = shell.origins.at(at(999))
    assert origin is not None
    assert origin.actors == (BOT, ANNA)
