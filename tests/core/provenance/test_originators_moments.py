from dataclasses import replace

import pytest
from tests.core.shell_world import (
    ANNA,
    BOOT_MS,
    BOT,
    CARL,
    Shell,
    command,
    finished,
    moment,
)

from holdfast.core.provenance.commands import Command
from holdfast.core.provenance.entered_lines import Instant
from holdfast.core.provenance.originators import (
    COARSE_MS,
    MAX_SPANS,
    MAX_STEPS,
    UNKNOWN,
)


def wall(second: float) -> int:
    return moment(second).wall_ms


def up(second: float) -> int:
    return moment(second).up_ms


@pytest.fixture
def shell() -> Shell:
    """Return one in which the bot ran a command at 10, and Anna one at 20."""
    made = Shell()
    made.run(BOT)
    made.run(ANNA)
    return made


@pytest.mark.parametrize(
    ("second", "number"), [(10, 1), (12, 1), (15, 1), (20, 2), (25, 2)]
)
def test_i4_a_moment_belongs_to_the_command_that_ran(
    shell: Shell, second: float, number: int
) -> None:
    for origin in (shell.origins.at(wall(second)), shell.origins.at_up(up(second))):
        assert origin is not None
        assert (origin.command, origin.is_sure) == (number, True)


@pytest.mark.parametrize("second", [5, 17, 30])
def test_i4_a_moment_between_commands_belongs_to_none(
    shell: Shell, second: float
) -> None:
    assert shell.origins.at(wall(second)) is None
    assert shell.origins.at_up(up(second)) is None


def test_i4_a_file_may_be_dated_a_tick_before_the_command_was_entered(
    shell: Shell,
) -> None:
    assert shell.origins.at(wall(10) - COARSE_MS) is not None
    assert shell.origins.at(wall(10) - COARSE_MS - 1) is None
    assert shell.origins.at_up(up(10) - COARSE_MS) is not None
    assert shell.origins.at_up(up(10) - COARSE_MS - 1) is None


def test_i4_what_still_runs_has_every_later_moment(shell: Shell) -> None:
    shell.begin(command(3, CARL))

    origin = shell.origins.at(wall(99_999))
    assert origin is not None
    assert origin.trigger == CARL


def test_i4_where_a_command_was_typed_ahead_it_may_be_either() -> None:
    shell = Shell()
    first = command(1, BOT, begins=10)
    shell.begin(first)
    shell.finish(finished(first, ends=15))
    second = command(2, ANNA, begins=12)
    shell.begin(second)
    shell.finish(finished(second, ends=20))

    origin = shell.origins.at(wall(14))
    assert origin is not None
    assert (origin.first, origin.command, origin.trigger) == (1, 2, "")
    assert shell.origins.at(wall(11)) == shell.origins.at_up(up(11))


def test_i4_without_commands_there_is_none() -> None:
    assert Shell().origins.at(5) is None
    assert Shell().origins.at_up(5) is None


def test_i6_what_is_older_than_what_is_kept_is_unknown() -> None:
    shell = Shell()
    for _ in range(MAX_SPANS + 1):
        shell.run(BOT)

    assert shell.origins.at(wall(10)) == UNKNOWN
    assert shell.origins.at_up(up(10)) == UNKNOWN
    assert shell.origins.at(wall(25)) is not None
    assert shell.origins.starter(up(10), CARL) == ""
    last = 10 * (MAX_SPANS + 1)
    assert shell.origins.at(wall(last - 3)) is None
    assert shell.origins.at_up(up(last - 3)) is None


def test_what_the_shell_started_is_whose_command_it_was(shell: Shell) -> None:
    assert shell.origins.starter(up(12), CARL) == BOT
    assert shell.origins.starter(up(22), CARL) == ANNA


def test_what_the_shell_started_before_all_commands_is_its_creators(
    shell: Shell,
) -> None:
    assert shell.origins.starter(up(5), CARL) == CARL
    assert Shell().origins.starter(up(5), CARL) == CARL


def test_what_the_shell_started_between_commands_is_nobodys(shell: Shell) -> None:
    assert shell.origins.starter(up(17), CARL) == ""


def test_what_was_started_after_others_typed_into_a_command_is_nobodys() -> None:
    shell = Shell()
    bash = command(1, ANNA, line="bash")
    shell.begin(bash)
    shell.finish(shared(bash, BOT, up(13)))

    assert shell.origins.starter(up(12), CARL) == ANNA
    assert shell.origins.starter(up(14), CARL) == ""


def test_what_may_be_of_a_command_into_which_others_typed_is_nobodys() -> None:
    shell = Shell()
    first, second = command(1, ANNA, begins=10), command(2, ANNA, begins=12)
    shell.begin(first)
    shell.finish(shared(first, BOT, up(13)))
    shell.begin(second)

    assert shell.origins.starter(up(12.5), CARL) == ANNA
    assert shell.origins.starter(up(14), CARL) == ""
    assert shell.origins.starter(up(16), CARL) == ANNA


def test_whoever_types_into_what_runs_is_an_author_at_once() -> None:
    shell = Shell()
    bash = command(1, ANNA, line="bash")
    shell.begin(bash)
    shell.origins.fed(replace(bash, hands=(BOT,), shared_ms=up(13)))

    origin = shell.origins.at(wall(14))
    assert origin is not None
    assert (origin.trigger, origin.authors) == (ANNA, (BOT,))


# ── clocks ────────────────────────────────────────────────────────────────────


def test_i4_a_moment_that_came_twice_belongs_to_nobody(shell: Shell) -> None:
    shell.begin(at_clock(3, BOT, 30, set_by=-15_000))

    assert shell.origins.at(wall(17)) == UNKNOWN
    assert shell.origins.at(wall(22)) == UNKNOWN
    origin = shell.origins.at_up(up(22))
    assert origin is not None
    assert origin.trigger == ANNA


def test_i4_a_clock_that_is_set_back_at_once_is_noticed(shell: Shell) -> None:
    shell.begin(at_clock(3, BOT, 25, set_by=-15_000))

    assert shell.origins.at(wall(22)) == UNKNOWN


def test_i4_what_was_typed_ahead_says_nothing_about_the_clock(shell: Shell) -> None:
    shell.begin(command(3, CARL, begins=12))
    shell.begin(at_clock(4, BOT, 30, set_by=-10_000))

    origin = shell.origins.at(wall(11))
    assert origin is not None
    assert origin.trigger == BOT
    assert shell.origins.at(wall(16)) == UNKNOWN


def test_i4_a_clock_that_is_set_back_while_a_command_runs_is_noticed() -> None:
    shell = Shell()
    one = command(1, BOT)
    shell.begin(one)
    shell.finish(ended_at(one, 70, set_by=-50_000))

    assert shell.origins.at(wall(15)) == UNKNOWN


def test_i4_a_clock_that_is_corrected_slowly_was_not_set() -> None:
    shell = Shell()
    one = command(1, BOT)
    shell.begin(one)
    shell.finish(ended_at(one, 3610, set_by=-1800))

    origin = shell.origins.at(wall(15))
    assert origin is not None
    assert origin.trigger == BOT


def test_a_clock_that_is_set_forward_makes_nothing_come_twice(shell: Shell) -> None:
    shell.begin(at_clock(3, BOT, 30, set_by=9_000_000))

    origin = shell.origins.at(wall(22))
    assert origin is not None
    assert origin.trigger == ANNA


def test_i6_a_clock_that_is_set_back_all_the_time_takes_no_more_memory() -> None:
    shell = Shell()
    for number in range(1, 3 * MAX_STEPS):
        shell.begin(at_clock(number, BOT, 10 * number, set_by=-20_000 * number))

    lowest = wall(0) - 10_000 * (3 * MAX_STEPS - 1)
    told = {shell.origins.at(moment_ms) for moment_ms in range(lowest, wall(0), 5000)}
    assert told == {UNKNOWN}


def at_clock(number: int, trigger: str, second: float, *, set_by: int) -> Command:
    since = Instant(BOOT_MS + round(second * 1000) + set_by, up(second))
    one = command(number, BOT if trigger == BOT else ANNA)
    return replace(one, since=since)


def ended_at(one: Command, second: float, *, set_by: int) -> Command:
    until = Instant(BOOT_MS + round(second * 1000) + set_by, up(second))
    return replace(finished(one), until=until)


def shared(one: Command, hand: str, since_ms: int) -> Command:
    assert hand == BOT
    return replace(finished(one), hands=(BOT,), shared_ms=since_ms)
