from dataclasses import replace

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.core.session import recovery
from holdfast.core.session.paint_requests import Past, Picture
from holdfast.core.session.recovery import (
    LeaderMark,
    OutputTail,
    StartFacts,
    begin_anew,
    painting_for,
    read_facts,
    read_tail,
)
from holdfast.model.errors import MalformedMessage
from holdfast.model.geometry import Size
from holdfast.model.ids import Incarnation, SessionId

SESSION = SessionId("s_aaaaaaaaaaaaaaaa")
FACTS = StartFacts(
    session=SESSION,
    incarnation=Incarnation(2),
    name="web",
    first_name="first",
    command=("bash", "-l"),
    cwd="/srv",
    environment={"TOKEN": "secret"},
    is_grounded=False,
    size=(80, 24),
    window=1 << 20,
    integration=True,
    exec_gate=False,
    creator="a_x",
    created_ms=17,
    leader=LeaderMark(77, 1234, "boot"),
)
KEPT = Picture(900, Size(80, 24), b"\x1b[2J", exact=True)
PAST = Past(is_whole=True, begin=0, sizes=((0, Size(80, 24)),), kept=KEPT)
TAIL = OutputTail(
    Incarnation(2),
    99,
    "web",
    keep=False,
    size=(80, 24),
    start=5,
    data=b"x",
    painting=PAST,
)


def test_what_is_written_down_is_read_again() -> None:
    assert read_facts(FACTS.to_bytes(), SESSION) == FACTS
    bare = replace(FACTS, environment=None)
    assert read_facts(bare.to_bytes(), SESSION) == bare
    assert read_tail(TAIL.to_bytes()) == TAIL
    assert TAIL.end == 6


@given(st.text(st.characters()) | st.just("\udcff\ud800"))
def test_words_folder_and_variables_need_not_be_text(odd: str) -> None:
    facts = replace(FACTS, command=(odd,), cwd=odd, environment={odd: odd})

    assert read_facts(facts.to_bytes(), SESSION) == facts


@given(st.binary(max_size=60))
def test_no_bytes_are_fatal(raw: bytes) -> None:
    with pytest.raises(MalformedMessage):
        read_facts(raw, SESSION)
    with pytest.raises(MalformedMessage):
        read_tail(raw)


def test_facts_of_another_session_or_without_a_command_are_none() -> None:
    with pytest.raises(MalformedMessage, match="another"):
        read_facts(FACTS.to_bytes(), SessionId("s_bbbbbbbbbbbbbbbb"))
    with pytest.raises(MalformedMessage):
        read_facts(replace(FACTS, command=()).to_bytes(), SESSION)


def test_another_version_is_not_guessed_at() -> None:
    with pytest.raises(MalformedMessage):
        read_facts(msgspec.msgpack.encode((2, FACTS)), SESSION)
    with pytest.raises(MalformedMessage):
        read_tail(msgspec.msgpack.encode((2, TAIL)))


@pytest.mark.parametrize("start", [-1, 0])
def test_a_tail_that_is_too_much_is_none(start: int) -> None:
    data = bytes(recovery.MAX_TAIL + 1 + start)
    tail = replace(TAIL, start=start, data=data)

    with pytest.raises(MalformedMessage, match="too much"):
        read_tail(tail.to_bytes())


def test_a_keyframe_counts_if_the_stream_can_be_followed_from_it() -> None:
    assert painting_for(PAST, 0) == PAST
    later = painting_for(PAST, 900)
    assert (later.kept, later.begin, later.is_whole) == (KEPT, 900, False)
    assert painting_for(PAST, 901).kept is None
    assert painting_for(PAST._replace(kept=None), 3).kept is None


def test_what_follows_a_tail_ends_its_modes_and_its_line() -> None:
    plain = begin_anew(b"$ ", "told\nand more")

    assert plain.startswith(b"\x18\x1b\\")
    assert b"\x1b[?1049l" not in plain
    for mode in (b"1000", b"1006", b"2004", b"1004"):
        assert b"\x1b[?%sl" % mode in plain
    assert plain.endswith(b"\r\ntold\r\nand more\r\n")
    assert b"\x1b[?1049l" in begin_anew(b"\x1b[?1049hvim", "told")
    assert b"\x1b[?1049l" not in begin_anew(b"\x1b[?1049h\x1b[?1049l", "told")


def test_a_banner_says_what_is_gone_and_what_was_kept() -> None:
    told = recovery.banner(Incarnation(2), "ann", "12:00", "11:59")

    assert "recovered at 12:00 by ann (incarnation 2)" in told
    assert "as it was kept at 11:59" in told
    assert "Gone: the processes" in told
    without = recovery.banner(Incarnation(2), "ann", "12:00", "")
    assert "Of its output nothing was kept." in without
