import json

import pytest

from holdfast.linux.painter_packets import Packet
from holdfast.model.errors import OffsetAhead, PeerError, ScreenForgotten, UsageError
from holdfast.painter.keyframes import GhosttyEmulator
from holdfast.painter.paintings import Paintings


def ask(easel: Paintings, do: str, data: bytes = b"", **more: object) -> Packet:
    return easel.handle(Packet({"do": do, "session": "s", **more}, data))


def begun(at: int = 0, keyframe: bytes = b"", limit: int = 4) -> Paintings:
    easel = Paintings(GhosttyEmulator, limit)
    ask(easel, "reset", keyframe, size=[20, 5], at=at)
    return easel


def text(easel: Paintings, session: str = "s") -> str:
    read = json.loads(ask(easel, "screen", session=session).data)
    return "\n".join(read["lines"]).rstrip("\n")


def test_output_is_painted_and_counted() -> None:
    easel = begun(at=100)
    answer = ask(easel, "feed", b"hello", at=100)

    assert answer.header == {"ok": True, "at": 105, "size": [20, 5]}
    assert text(easel) == "hello"


def test_what_was_painted_before_is_passed_over() -> None:
    easel = begun()
    ask(easel, "feed", b"hello", at=0)
    ask(easel, "feed", b"lo, you", at=3)
    ask(easel, "feed", b"he", at=0)

    assert text(easel) == "hello, you"


def test_a_gap_is_refused_unless_it_is_skipped() -> None:
    easel = begun()
    ask(easel, "feed", b"a\x1b[3", at=0)

    with pytest.raises(OffsetAhead):
        ask(easel, "feed", b"b", at=9)
    assert ask(easel, "skip", at=9).header["at"] == 9
    ask(easel, "feed", b"1b", at=9)
    assert text(easel) == "a1b"


def test_a_keyframe_is_painted_without_being_counted() -> None:
    easel = begun(at=7, keyframe=b"before ")
    ask(easel, "draw", b"and ")
    ask(easel, "feed", b"after", at=7)

    assert text(easel) == "before and after"


def test_a_link_reaches_the_emulator_as_nothing() -> None:
    easel = begun()
    ask(easel, "feed", b"\x1b]8", at=0)
    ask(easel, "feed", b";;http://x\x07y", at=3)

    assert text(easel) == "y"


def test_the_cursor_is_told_in_the_form_it_was_asked_for() -> None:
    easel = begun()
    ask(easel, "feed", b"\x1b[2;3H", at=0)

    assert ask(easel, "answer", query="CURSOR").data == b"\x1b[2;3R"
    assert ask(easel, "answer", query="PRIVATE_CURSOR").data == b"\x1b[?2;3;1R"
    assert ask(easel, "answer", query="CLIPBOARD").data == b""


def test_the_session_not_used_for_longest_is_put_away() -> None:
    easel = begun(limit=2)
    ask(easel, "reset", session="t", size=[9, 9], at=0)
    ask(easel, "feed", b"used", at=0)
    ask(easel, "reset", session="u", size=[9, 9], at=0)

    assert text(easel) == "used"
    with pytest.raises(ScreenForgotten):
        text(easel, "t")


def test_a_session_that_was_dropped_is_forgotten() -> None:
    easel = begun()
    ask(easel, "drop")
    ask(easel, "drop")

    with pytest.raises(ScreenForgotten):
        text(easel)


def test_a_size_that_cannot_be_changes_nothing() -> None:
    easel = begun()
    ask(easel, "feed", b"here", at=0)

    with pytest.raises(UsageError):
        ask(easel, "resize", size=[0, 5])
    with pytest.raises(UsageError):
        ask(easel, "reset", size=[80, 5000], at=0)
    assert ask(easel, "resize", size=[2, 5]).header["size"] == [2, 5]
    assert text(easel) == "he\nre"


def test_what_is_no_request_is_refused() -> None:
    with pytest.raises(PeerError):
        ask(begun(), "dance")


def test_rows_are_given_as_they_are_drawn_with_those_above_and_the_modes() -> None:
    easel = begun()
    ask(easel, "reset", size=[6, 3], at=0)
    ask(
        easel,
        "feed",
        b"one\r\ntwo\r\n\x1b[41m\x1b[K\x1b[m\r\n\x1b[?1000h\x1b[31mred",
        at=0,
    )

    head, _, rows = ask(easel, "rows", above=0, count=3).data.partition(b"\n")
    told = json.loads(head)
    assert told["above"] == 1
    assert (told["first"], told["cursor"], told["modes"]) == (0, [2, 3], [1000])
    assert rows.split(b"\r\n")[:2] == [b"two", b"\x1b[48;5;1m      "]
    assert b"38;5;1mred" in rows
    head, _, rows = ask(easel, "rows", above=99, count=2).data.partition(b"\n")
    assert json.loads(head)["first"] == 1
    assert rows.startswith(b"one\r\ntwo")
    assert rows.count(b"\r\n") == 1
    assert ask(easel, "rows", above=0, count=0).data.endswith(b"\n")
