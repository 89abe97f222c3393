import math
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.core.client.world import SESSION, US, attached, command, view

from holdfast.core.client.questions import NO_CLIENT
from holdfast.core.client.stream_wait import (
    MAX_MATCH,
    READING,
    EndWait,
    Match,
    MatchWait,
    Piece,
    QuietWait,
    Reading,
    Tail,
    Whole,
)
from holdfast.core.client.timeouts import LOSS
from holdfast.model.errors import (
    NotAllowed,
    SessionOver,
    SessionUnreachable,
    WaitedInVain,
)
from holdfast.model.ids import Incarnation
from holdfast.model.text import printable
from holdfast.wire.codec import Message, refusal
from holdfast.wire.commands import CommandReport, CommandRequest
from holdfast.wire.frames import FrameKind
from holdfast.wire.messages import Attach, Exited, Gap, Mode, Output, State

GONE = SessionUnreachable(SESSION, "it hung up")
ONE = Incarnation(1)


def matching(
    pattern: bytes, timeout: float | None = None, start: int | None = None
) -> MatchWait:
    wait = MatchWait(view(Mode.OBSERVE), re.compile(pattern), 0, timeout, start)
    (attach,) = wait.linked(0)
    assert isinstance(attach, Attach)
    assert attach.after == start
    wait.hear(attached(end=20), 0)
    return wait


def test_a_match_is_found_across_messages_and_links() -> None:
    wait = matching(b"lis(ten)ing")
    wait.hear(State("frozen", ONE), 0)
    wait.hear(Output(0, b"now lis"), 0)
    wait.cut(GONE, 1)
    wait.linked(1)
    wait.hear(attached(end=20), 1)
    wait.hear(Output(4, b"listening on"), 1)

    assert wait.result == Match(4, b"listening", (b"ten",))


def test_no_match_goes_across_a_gap() -> None:
    wait = matching(b"ab")
    wait.hear(Output(0, b"a"), 0)
    wait.hear(Gap(1, 5), 0)
    wait.hear(Output(5, b"b"), 0)

    assert wait.result is None


def test_what_is_older_than_the_longest_match_is_let_go() -> None:
    wait = matching(b"^a")
    wait.hear(Output(0, b"." * MAX_MATCH), 0)
    wait.hear(Output(MAX_MATCH, b"b"), 0)
    wait.hear(Output(MAX_MATCH + 1, b"a" * MAX_MATCH), 0)

    assert wait.result is None


def test_what_is_let_go_is_no_part_of_a_match() -> None:
    wait = matching(rb"\Ax+b")
    wait.hear(Output(0, b"." + b"x" * MAX_MATCH), 0)
    wait.hear(Output(1 + MAX_MATCH, b"b"), 0)

    assert wait.result is not None
    assert wait.result.offset == 1


def test_how_long_was_waited_is_counted_from_the_beginning() -> None:
    wait = MatchWait(view(Mode.OBSERVE), re.compile(b"x" * 99), 2, 3)

    with pytest.raises(WaitedInVain) as told:
        wait.cut(GONE, 7)
    assert told.value.facts["waited_ms"] == 3000
    assert told.value.facts["what"] == printable(repr(b"x" * 99), 64)


def test_a_match_that_does_not_come_is_given_up() -> None:
    wait = matching(b"x", timeout=5)

    assert wait.next_deadline(0) == 5
    assert wait.tick(4) == []
    with pytest.raises(WaitedInVain):
        wait.tick(5)
    with pytest.raises(WaitedInVain):
        wait.cut(GONE, 5)
    with pytest.raises(SessionOver):
        wait.hear(Exited(0), 1)


def test_without_another_link_it_is_over() -> None:
    wait = matching(b"x")
    wait.dials(1)
    wait.cut(GONE, LOSS)

    with pytest.raises(SessionUnreachable):
        wait.cut(GONE, 1 + LOSS)


def test_an_offset_is_meant_for_the_life_that_the_session_has() -> None:
    wait = MatchWait(view(Mode.OBSERVE), re.compile(b"x"), 0, None, 5)
    (first,) = wait.linked(0)
    assert wait.hear(attached(life=2), 0) == []
    wait.cut(GONE, 0)

    (again,) = wait.linked(0)

    assert isinstance(first, Attach)
    assert isinstance(again, Attach)
    assert (first.incarnation, first.after) == (None, 5)
    assert (again.incarnation, again.after) == (2, 5)
    assert wait.hear(attached(life=2), 0) == []


def quiet(answer: Message) -> QuietWait:
    wait = QuietWait(view(Mode.OBSERVE), 1, 0, 10)
    assert wait.linked(0) == [CommandRequest(NO_CLIENT)]
    (attach,) = wait.hear(answer, 0)
    assert isinstance(attach, Attach)
    return wait


def test_it_is_quiet_when_nothing_was_printed_for_long_enough() -> None:
    wait = quiet(CommandReport("prompt", command(3, 8)))
    wait.hear(attached(end=10), 0)

    wait.hear(Output(8, b"ab"), 0.5)  # Printed before we came.
    assert wait.next_deadline(0.5) == 1
    wait.hear(Output(10, b"new"), 0.5)
    assert wait.next_deadline(0.5) == 1.5
    wait.hear(Gap(13, 20), 1)
    assert wait.tick(1.5) == []
    assert wait.result is None
    assert wait.next_deadline(1.5) == 2
    wait.tick(2)
    assert wait.result == 20


def test_what_is_missing_from_before_we_came_was_no_noise() -> None:
    wait = quiet(CommandReport("prompt", command(3, 8)))
    wait.hear(attached(end=10), 0)

    wait.hear(Gap(8, 10), 0.5)

    assert wait.next_deadline(0.5) == 1


def test_from_now_on_means_from_when_we_first_came() -> None:
    wait = quiet(CommandReport("prompt", None))
    wait.hear(attached(end=10), 0)
    wait.hear(Output(10, b"new"), 0.5)
    wait.cut(GONE, 0.5)
    (attach,) = wait.linked(0.5)
    assert isinstance(attach, Attach)
    assert attach.after == 13
    wait.hear(attached(end=20), 0.5)

    wait.hear(Output(13, b"missed."), 0.9)

    assert wait.next_deadline(0.9) == 1.9


@pytest.mark.parametrize(
    ("told", "after"),
    [
        (CommandReport("prompt", command(3, 8)), 8),
        (CommandReport("running", command(3, None)), 3),
        (CommandReport("prompt", None), None),
        (refusal(NotAllowed(US, "observe"), FrameKind.COMMAND_REQUEST), None),
    ],
)
def test_what_was_printed_before_is_not_sent(told: Message, after: int | None) -> None:
    wait = EndWait(view(Mode.OBSERVE), 0, None)
    wait.linked(0)
    (attach,) = wait.hear(told, 0)

    assert isinstance(attach, Attach)
    assert attach.after == after


def test_noise_is_given_up_and_the_end_is_quiet() -> None:
    wait = quiet(CommandReport("prompt", None))
    wait.hear(attached(end=10), 9.5)
    with pytest.raises(WaitedInVain):
        wait.tick(10)

    wait.hear(Exited(0), 10)
    assert wait.result == 10


def test_the_end_is_waited_for_with_its_status() -> None:
    wait = EndWait(view(Mode.OBSERVE), 0, None)
    wait.linked(0)
    wait.hear(CommandReport("prompt", None), 0)
    wait.hear(attached(), 0)
    wait.hear(Output(10, b"bye"), 1)

    assert wait.result is None
    wait.hear(Exited(-9), 1)
    assert wait.result == -9


def test_a_whole_session_is_passed_on_once_and_what_is_gone_is_counted() -> None:
    seen: list[bytes] = []
    whole = Whole(view(Mode.OBSERVE), seen.append)
    whole.linked(0)
    whole.hear(attached(end=9), 0)
    assert (whole.tick(5), whole.next_deadline(5)) == ([], math.inf)

    whole.hear(Gap(0, 4), 1)
    whole.hear(Output(4, b"first"), 1)
    whole.cut(GONE, 2)
    whole.linked(2)
    whole.hear(attached(end=9), 2)
    whole.hear(Output(7, b"stlast"), 3)
    whole.hear(Exited(3), 3)

    assert seen == [b"first", b"last"]
    assert (whole.missing, whole.result) == (4, 3)


def reading(start: int | None = None, limit: int | None = None) -> Reading:
    made = Reading(view(Mode.OBSERVE), start, limit, 0)
    made.linked(0)
    made.hear(attached(start=4, end=10), 0)
    return made


def test_what_there_is_is_read_and_no_more() -> None:
    made = reading()
    made.hear(Output(4, b"abc"), 0)
    assert made.result is None
    made.hear(Output(7, b"def"), 0)

    assert made.result == Piece(ONE, 4, 0, b"abcdef")


def test_what_is_gone_before_it_is_counted() -> None:
    made = reading(start=1)
    made.hear(Gap(1, 4), 0)
    made.hear(Output(4, b"abcdef"), 0)

    assert made.result == Piece(ONE, 4, 3, b"abcdef")


@pytest.mark.parametrize("printed", [b"ab", b"abc"])
def test_no_more_than_the_limit_is_read(printed: bytes) -> None:
    made = reading(limit=2)
    made.hear(Output(4, b"a"), 0)
    assert made.result is None
    made.hear(Output(5, printed[1:]), 0)

    assert made.result == Piece(ONE, 4, 0, b"ab")


@pytest.mark.parametrize("start", [None, 1])
def test_what_is_gone_up_to_the_end_leaves_nothing_to_read(start: int | None) -> None:
    made = reading(start=start)

    made.hear(Gap(1, 10), 0)

    assert made.result == Piece(ONE, 10, 10 - (start or 4), b"")


def test_what_is_read_in_another_life_is_said_to_be() -> None:
    made = Reading(view(Mode.OBSERVE), None, None, 0)
    made.linked(0)
    made.hear(attached(end=0, life=2), 0)

    assert made.result == Piece(Incarnation(2), 0, 0, b"")


def test_at_the_end_there_is_nothing() -> None:
    assert reading(start=10).result == Piece(ONE, 10, 0, b"")


def test_a_stream_that_does_not_come_is_given_up() -> None:
    made = reading()
    made.hear(Exited(0), 0)

    assert made.result is None
    with pytest.raises(WaitedInVain):
        made.tick(READING)


@given(st.lists(st.integers(1, 4), max_size=8), st.integers(0, 12))
def test_every_byte_is_seen_once_whatever_breaks(sizes: list[int], cut: int) -> None:
    stream = bytes(range(97, 97 + sum(sizes)))
    made = Reading(view(Mode.OBSERVE), None, None, 0)
    made.linked(0)
    made.hear(attached(end=len(stream)), 0)
    at = 0
    for size in sizes:
        if made.result is None and at >= cut:
            made.cut(GONE, 0)
            made.linked(0)
            made.hear(attached(end=len(stream)), 0)
        if made.result is None:
            begin = max(0, at - 1)  # A holder may send a byte again.
            made.hear(Output(begin, stream[begin : at + size]), 0)
        at += size

    assert made.result == Piece(ONE, 0, 0, stream)


def tail(start: int | None, *, from_now: bool = False) -> Tail:
    made = Tail(view(Mode.OBSERVE), start=start, from_now=from_now)
    if made.linked(0) == [CommandRequest(NO_CLIENT)]:
        made.hear(CommandReport("prompt", None), 0)
    made.hear(attached(end=10), 0)
    return made


def test_bytes_that_come_twice_are_handed_out_once_and_a_gap_is_told() -> None:
    follow = tail(10)
    for message in (
        Output(10, b"abc"),
        Output(11, b"bcd"),
        State("frozen", ONE),
        Gap(14, 20),
        Output(20, b"x"),
    ):
        assert follow.hear(message, 0) == []
    assert follow.tick(0) == []

    assert follow.take() == [
        Output(10, b"abc"),
        Output(13, b"d"),
        State("frozen", ONE),
        Gap(14, 20),
        Output(20, b"x"),
    ]
    assert follow.take() == []
    assert (follow.end, follow.next_deadline(0)) == (21, math.inf)


def test_from_now_on_nothing_older_is_handed_out() -> None:
    follow = tail(None, from_now=True)
    for message in (Gap(0, 4), Output(4, b"older,now"), Output(13, b"!"), Gap(9, 14)):
        follow.hear(message, 0)

    assert follow.take() == [Output(10, b"now"), Output(13, b"!"), Gap(10, 14)]


def test_the_end_is_handed_out_and_nothing_follows() -> None:
    follow = tail(0)
    follow.hear(Exited(0), 0)

    assert follow.result
    assert follow.take() == [Exited(0)]
