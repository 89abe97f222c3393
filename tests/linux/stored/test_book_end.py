from pathlib import Path

import pytest

from holdfast.linux.stored import places
from holdfast.linux.stored.book_end import (
    first_entries,
    has_ended,
    last_entries,
    life_of,
    stopped_in,
    undone_in,
)
from holdfast.model.ids import Incarnation, SessionId

ONE = SessionId("s_" + "a" * 16)


@pytest.fixture(autouse=True)
def book(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    monkeypatch.setenv("HOLDFAST_STATE_DIR", str(tmp_path / "state"))
    return places.session_log(ONE)


def test_a_book_that_is_not_there_has_no_entries() -> None:
    assert last_entries(ONE) == []
    assert first_entries(ONE) == []


def test_whole_entries_are_read_and_a_torn_one_is_left_out(book: Path) -> None:
    line = '{"index":0,"kind":"opened","incarnation":1}\n'
    book.write_text(line + '[1]\n{"index":1,"kind":"exi')

    assert [one["kind"] for one in first_entries(ONE)] == ["opened"]


def test_an_end_is_of_the_life_in_which_it_was_written() -> None:
    entries: list[dict[str, object]] = [
        {"kind": "opened", "incarnation": 1},
        {"kind": "exited", "incarnation": 2},
        {"kind": "detached"},
    ]

    assert has_ended(entries, Incarnation(2))
    assert not has_ended(entries, Incarnation(1))
    assert not has_ended([], Incarnation(1))
    assert life_of(entries[-1]) == 1


def test_a_life_is_in_the_last_image_that_took_its_place() -> None:
    entries: list[dict[str, object]] = [
        {"kind": "stopped", "incarnation": 1, "image": 1},
        {"kind": "imaged", "incarnation": 2, "image": 2},
        {"kind": "stopped", "incarnation": 2, "image": 3},
        {"kind": "stopped", "incarnation": 2, "image": 4},
        {"kind": "stopped", "incarnation": 2, "image": None},
    ]

    assert stopped_in(entries, Incarnation(2)) == 4
    assert stopped_in(entries, Incarnation(1)) == 1
    assert stopped_in(entries[:2], Incarnation(2)) == 0


def test_what_a_roll_back_has_undone_is_known(book: Path) -> None:
    book.write_text(
        '{"index":0,"kind":"opened"}\n'
        '{"index":7,"kind":"recovered","image":null}\n'
        '{"index":8,"kind":"input","data":"\\"kind\\":\\"recovered\\""}\n'
        '{"index":20,"kind":"recovered","image":1,"through":11}\n'
        '{"index":30,"kind":"recovered","image":2,"through":29}\n'
        '{"index":31,"kind":"recovered","through":1'
    )

    assert undone_in(ONE) == [range(12, 20), range(30, 30)]


def test_of_a_book_that_is_not_there_nothing_is_undone() -> None:
    assert undone_in(ONE) == []
