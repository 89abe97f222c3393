import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.core.client.command_output import (
    Following,
    Gathered,
    Ran,
    Stop,
    without_end_mark,
)
from holdfast.model.errors import CommandGoesOn, EndUnknown
from holdfast.model.ids import ClientId
from holdfast.wire.commands import ShellCommand


@given(
    st.lists(st.binary(min_size=1, max_size=9), max_size=9),
    st.integers(0, 40),
    st.integers(0, 40),
    st.integers(1, 20),
)
def test_the_end_of_a_stretch_is_gathered_and_the_rest_is_counted(
    parts: list[bytes], start: int, size: int, limit: int
) -> None:
    gathered, stream = Gathered(limit), b""
    for part in parts:
        gathered.add(len(stream), part)
        stream += part
    end = min(start + size, len(stream))
    if end < start or len(stream) - end > limit:
        return

    found, left_out = gathered.between(start, end)
    assert stream[start:end].endswith(found)
    assert len(found) + left_out == end - start
    if end == len(stream):
        assert len(found) == min(limit, end - start)


def test_nothing_is_gathered_and_nothing_left_out_at_first() -> None:
    assert Gathered(4).between(0, None) == (b"", 0)
    assert Gathered(4).since(0) == b""


def test_twice_the_limit_is_kept_and_then_no_more_than_it() -> None:
    gathered = Gathered(2)
    gathered.add(0, b"0123")
    assert gathered.since(0) == b"0123"

    gathered.add(4, b"4")
    assert gathered.since(0) == b"34"


def test_what_came_before_a_gap_is_left_out() -> None:
    gathered = Gathered(100)
    gathered.add(0, b"before")
    gathered.add(50, b"after")

    assert gathered.between(0, 55) == (b"after", 50)


def test_what_still_runs_is_gathered_so_far() -> None:
    gathered = Gathered(100)
    gathered.add(10, b"so far")

    assert gathered.between(13, None) == (b"far", 0)


def test_what_is_looked_through_is_all_that_is_kept() -> None:
    gathered = Gathered(4)
    gathered.add(10, b"0123456")

    assert gathered.since(12) == b"23456"
    assert gathered.since(0) == b"0123456"
    assert gathered.between(10, None, 2) == (b"56", 5)


MARK = b"\x1b[1m\x1b[7m%\x1b[27m\x1b[1m\x1b[0m" + b" " * 79 + b"\r \r"


@pytest.mark.parametrize("output", [b"", b"one\r\n", b"no line end"])
def test_what_zsh_adds_before_its_prompt_is_taken_away(output: bytes) -> None:
    assert without_end_mark(output + MARK) == output
    assert without_end_mark(output + MARK.replace(b"%", b"#")) == output


@pytest.mark.parametrize(
    "output", [b"100%\r\n", b"50%   \r", MARK + b"more", b"# comment\r\n", b"% \r \r"]
)
def test_what_only_looks_like_it_stays(output: bytes) -> None:
    assert without_end_mark(output) == output


def ran(stop: Stop, status: int | None) -> Ran:
    command = ShellCommand(
        number=7,
        client=ClientId(""),
        line="make",
        start=5,
        end=9,
        status=status,
        duration_ms=3,
        cwd="/",
    )
    return Ran(command, b"", 0, stop)


def test_what_stopped_in_time_with_a_known_end_is_settled() -> None:
    ran(Stop.ENDED, 2).demand_settled(1)
    ran(Stop.ASKED, None).demand_settled(1)


def test_what_goes_on_or_ended_nobody_knows_how_is_not_settled() -> None:
    with pytest.raises(CommandGoesOn) as late:
        ran(Stop.LATE, None).demand_settled(40)
    with pytest.raises(EndUnknown) as unknown:
        ran(Stop.ENDED, None).demand_settled(40)

    assert late.value.facts == {"start": 5, "waited_ms": 40, "state": "not known"}
    assert unknown.value.facts == {"number": 7}


# ── while it is printed ───────────────────────────────────────────────────────

MARK = b"\x1b[1m\x1b[7m%\x1b[27m\x1b[1m\x1b[0m" + b" " * 79 + b"\r \r"


def over(start: int, end: int | None) -> ShellCommand:
    return msgspec.structs.replace(ran(Stop.ENDED, 0).command, start=start, end=end)


def running(start: int) -> ShellCommand:
    return over(start, None)


def gathered(*parts: bytes, start: int = 20) -> Gathered:
    made = Gathered(100)
    for part in parts:
        made.add(start, part)
        start += len(part)
    return made


def test_each_byte_of_a_command_is_passed_on_once() -> None:
    following, output = Following(4), gathered(b"echo\r\n", start=14)

    assert following.follow(running(20), output) == b""
    output.add(20, b"ab")
    assert following.follow(running(20), output) == b"ab"
    assert following.follow(running(20), output) == b""
    output.add(22, b"cdef$ ")
    assert following.follow(over(20, 26), output) == b"cdef"
    assert (bytes(following.head), following.lost) == (b"abcd", 0)


def test_what_may_be_the_end_mark_of_zsh_waits_until_that_is_known() -> None:
    following, output = Following(0), gathered(b"done" + MARK)

    assert following.follow(running(20), output) == b"done"
    end = 24 + len(MARK)
    assert following.follow(over(20, end), output) == b""

    following = Following(0)
    output = gathered(b"done" + MARK[:-40], b"more")
    assert following.follow(running(20), output) == b"done" + MARK[:-40] + b"more"


def test_a_percentage_does_not_wait() -> None:
    assert Following(0).follow(running(20), gathered(b"50%")) == b"50%"


def test_what_was_gone_before_it_was_read_is_counted_and_is_no_head() -> None:
    following, output = Following(9), Gathered(100)
    output.add(50, b"late")

    assert following.follow(running(20), output) == b"late"
    assert (following.lost, bytes(following.head)) == (30, b"")


def test_what_is_in_neither_end_is_counted() -> None:
    ran = Ran(over(20, 60), b"tail", 36, head=b"head")

    assert ran.omitted == 32
