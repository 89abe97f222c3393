"""What a command prints is passed on as it comes, and a long output has two ends."""

import re

from tests.core.client.run_world import command, linked_again, typed

from holdfast.core.client.command_output import Stop
from holdfast.core.client.command_run import Wish
from holdfast.wire.commands import CommandEnded, CommandReport, CommandStarted
from holdfast.wire.messages import Output


def test_output_is_passed_on_before_the_command_is_over() -> None:
    run = typed()
    seen: list[bytes] = []
    run.printed = seen.append

    run.hear(Output(10, b"$ make\r\n\r\n"), 1)
    assert seen == []
    run.hear(CommandStarted(command()), 1)
    run.hear(Output(20, b"first"), 2)
    assert seen == [b"first"]
    run.hear(Output(25, b"second$ "), 3)
    assert seen == [b"first", b"second$ "]


def test_what_comes_after_the_end_is_not_the_command_s() -> None:
    run = typed()
    seen: list[bytes] = []
    run.printed = seen.append

    run.hear(CommandStarted(command()), 1)
    run.hear(CommandEnded(command(end=25, status=0)), 2)
    run.hear(Output(10, b"$ make\r\n\r\nfirst$ "), 3)

    assert seen == [b"first"]
    assert run.result is not None
    assert (run.result.stop, run.result.lost) == (Stop.ENDED, 0)


def test_of_a_long_output_both_ends_are_kept_and_the_rest_is_counted() -> None:
    run = typed(Wish(8, head=2))
    run.hear(CommandStarted(command()), 1)
    run.hear(Output(10, b"x" * 10 + b"0123456789abcdef"), 2)
    run.hear(CommandEnded(command(end=36, status=0)), 3)

    assert run.result is not None
    found = run.result
    assert (found.head, found.output, found.omitted) == (b"01", b"abcdef", 8)


def test_what_fits_has_no_head() -> None:
    run = typed(Wish(16, head=4))
    run.hear(CommandStarted(command()), 1)
    run.hear(Output(10, b"x" * 10 + b"0123456789abcdef"), 2)
    run.hear(CommandEnded(command(end=36, status=0)), 3)

    assert run.result is not None
    found = run.result
    assert (found.head, found.left_out) == (b"", 0)
    assert re.fullmatch(rb"[0-9a-f]{16}", found.output)


def test_after_a_cut_nothing_is_passed_on_before_its_end_is_known() -> None:
    run = typed()
    seen: list[bytes] = []
    run.printed = seen.append
    run.hear(CommandStarted(command()), 1)
    run.hear(Output(10, b"x" * 10 + b"first"), 2)

    linked_again(run, 3)
    run.hear(Output(25, b"last$ "), 4)
    assert seen == [b"first"]
    run.hear(CommandReport("prompt", command(end=29, status=0)), 5)

    assert seen == [b"first", b"last"]
    assert run.result is not None
