"""Whose keys a command may read, which line it was, and how long it took."""

import pytest
from tests.core.commands_world import ANNA, BERT, HER, HIM, LS, entered, prompted, told

from holdfast.core.provenance.commands import Commands, Entered, Marked, Phase, Resumed
from holdfast.core.provenance.entered_lines import MAX_AUTHORS
from holdfast.model.ids import actor_id
from holdfast.model.moments import Moment
from holdfast.term.marks import Began, Ended, Mark, Prompted


def running(*before: Entered) -> Commands:
    machine = prompted()
    told(machine, *before, Marked(LS, 0))
    return machine


def test_an_end_is_between_prompts_even_if_nothing_began() -> None:
    machine = prompted()

    told(machine, Marked(Ended(130, "/"), 5))

    assert machine.phase is Phase.BETWEEN


def test_the_line_that_the_shell_tells_is_the_one_that_was_entered() -> None:
    machine = prompted()
    told(
        machine,
        entered(b"make\r", None, 0, HIM),
        entered(b"ls\r", None, 0, HER),
        Marked(LS, 0),
    )

    assert machine.last is not None
    assert machine.last.trigger == HER


def test_whose_lines_wait_when_a_command_begins_may_be_read_by_it() -> None:
    machine = running(
        entered(b"ls\r", None, 0, HER),
        entered(b"y\r", None, 0, HIM),
        entered(b"n\r", None, 0, HER),
    )

    assert machine.last is not None
    assert (machine.last.trigger, machine.last.hands) == (HER, (HIM,))
    assert machine.last.shared_ms == machine.last.since.up_ms


def test_since_when_a_command_is_shared_is_said_only_of_one_that_is() -> None:
    shared = []
    for lines in ([b"ls\r"], [b"ls\r", b"y\r"]):
        machine = prompted()
        for actor, line in zip((HER, HIM), lines, strict=False):
            machine.handle(entered(line, None, 0, actor), Moment(7, 7))
        machine.handle(Marked(LS, 0), Moment(8, 8))
        assert machine.last is not None
        shared.append((machine.last.hands, machine.last.shared_ms))

    assert shared == [((), 0), ((HIM,), 7000)]


def test_others_who_type_into_a_command_are_kept_up_to_a_limit() -> None:
    machine = running(entered(b"ls\r", None, 0, HER))
    crowd = [actor_id(bytes([number]) * 32) for number in range(10, 11 + MAX_AUTHORS)]
    for number, actor in enumerate([HER, *crowd], 5):
        machine.handle(entered(b"y", None, 0, actor), Moment(number, number))

    assert machine.last is not None
    assert machine.last.hands == tuple(crowd[:MAX_AUTHORS])
    assert machine.last.shared_ms == 6000


@pytest.mark.parametrize("mark", [Ended(0, "/"), Prompted(), LS])
def test_a_clock_that_is_set_makes_no_command_longer_or_shorter(mark: Mark) -> None:
    machine = prompted()
    machine.handle(Marked(LS, 0), Moment(1, 100))

    machine.handle(Marked(mark, 5), Moment(3, 50))

    (first, *_) = machine.kept
    assert first.duration_ms == 2000


@pytest.mark.parametrize("is_resumed", [True, False])
def test_what_was_typed_long_before_a_prompt_is_no_line_of_it(
    *, is_resumed: bool
) -> None:
    machine = running(entered(b"ls\r", None, 0, HER))
    machine.handle(entered(b"make\r", None, 0, HIM), Moment(2, 2))
    prompt = Resumed(at_prompt=True, offset=5)
    machine.handle(prompt if is_resumed else Marked(Prompted(), 5), Moment(3, 3))
    machine.handle(entered(b"x\r", None, 5, HER), Moment(99, 99))

    machine.handle(Marked(Began("make", 4), 6), Moment(99, 99))

    assert machine.last is not None
    assert HIM not in machine.last.authors


def test_a_client_s_line_is_not_the_one_of_another() -> None:
    machine = running(entered(b"ls\r", ANNA, 0), entered(b"ls\r", BERT, 0))

    assert machine.last is not None
    assert machine.last.client == ANNA
