"""What is known of a shell that goes on from an image, perhaps rolled back."""

import pytest
from tests.core.shell_world import (
    ANNA,
    BOT,
    DEPLOY,
    HOME,
    PATH,
    Shell,
    command,
    moment,
    state,
)

from holdfast.core.book.logbook import EntryKind
from holdfast.core.provenance.originators import UNKNOWN, Origins

LATER = 5_000_000_000_000


@pytest.fixture
def shell() -> Shell:
    """PATH is set by command 1 and by command 3, DEPLOY by 2, HOME by 3."""
    made = Shell()
    made.see(state(PATH="0"))
    made.run(ANNA)
    made.see(state(PATH="1"))
    made.run(BOT)
    made.see(state(PATH="1", deploy="rm"))
    made.run(BOT)
    made.see(state(PATH="3", deploy="rm", HOME="/"))
    return made


def rolled_back(shell: Shell, *, by_book: bool) -> Origins:
    """Return what is known after a restore of an image made after command 2."""
    fields: dict[str, int | str | None] = {
        "by": ANNA,
        "offset": 0,
        "image": 1,
        "through": 9,
        "command": 2,
    }
    shell.origins.roll_back(2, LATER)
    shell.write(EntryKind.RECOVERED, {**fields, "hands": ""})
    return shell.heir() if by_book else shell.origins


@pytest.mark.parametrize("by_book", [False, True])
def test_nobody_is_blamed_for_what_a_roll_back_did(
    shell: Shell, *, by_book: bool
) -> None:
    origins = rolled_back(shell, by_book=by_book)

    origins.seen(state(PATH="1", deploy="rm"))

    origin = origins.of(DEPLOY)
    assert origin is not None
    assert (origin.command, origin.trigger) == (2, BOT)
    assert origins.of(PATH) == UNKNOWN, "command 1 set it, and 3, which is undone"
    assert origins.of(HOME) == UNKNOWN
    assert origins.since(2) == ()


def test_until_the_shell_has_told_its_state_nothing_is_claimed(shell: Shell) -> None:
    origins = rolled_back(shell, by_book=False)

    assert origins.of(DEPLOY) == UNKNOWN


def test_what_comes_next_is_the_doing_of_the_next_command(shell: Shell) -> None:
    origins = rolled_back(shell, by_book=False)
    origins.seen(state(PATH="1", deploy="rm"))
    shell.run(ANNA)

    shell.see(state(PATH="2", deploy="rm"))

    origin = origins.of(PATH)
    assert origin is not None
    assert (origin.command, origin.trigger) == (4, ANNA)


def test_the_clock_of_another_boot_dates_nothing(shell: Shell) -> None:
    at = next(one for one in range(90) if shell.origins.at_up(moment(one).up_ms))
    known = shell.origins.at(moment(at).wall_ms)

    origins = rolled_back(shell, by_book=False)

    assert origins.at_up(moment(at).up_ms) is None
    assert origins.starter(moment(at).up_ms, ANNA) == ""
    assert origins.at(moment(at).wall_ms) == known


def test_a_command_that_ran_then_ended_at_the_latest_with_the_life(
    shell: Shell,
) -> None:
    shell.begin(command(4, BOT))

    shell.origins.roll_back(4, LATER)

    found = shell.origins.at(LATER - 1)
    assert found is not None
    assert found.command == 4
    assert shell.origins.at(LATER + 1) is None


def test_what_is_said_of_the_rest_is_not_surer_than_before(shell: Shell) -> None:
    shell.run(BOT)
    shell.lose()
    before = shell.origins.dump()
    for rest, kept in ((2, True), (4, False)):
        origin = before.spans[rest - 1].origin
        origins = Origins.load(before._replace(rest=origin))

        origins.roll_back(2, LATER)

        assert origins.dump().rest == (origin if kept else UNKNOWN)
