"""All logbooks of a host are read, checked, and read on where they were left."""

from pathlib import Path

import pytest
from tests.core.autonomy.book import BOT
from tests.core.autonomy.written_book import acts, write_book

from holdfast.linux.stored import places
from holdfast.linux.stored.act_traces import ActTraces
from holdfast.model.ids import SessionId

ONE, OTHER = SessionId("s_" + "a" * 16), SessionId("s_" + "b" * 16)


@pytest.fixture
def logs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOLDFAST_STATE_DIR", str(tmp_path))
    return places.log_dir()


def test_the_acts_of_all_sessions_are_found(logs: Path) -> None:
    count = write_book(logs, ONE, acts(BOT, 3)) + write_book(logs, OTHER, acts(BOT, 2))
    traces = ActTraces()

    traces.look()

    found = [*traces.acts()]
    assert [act.session for act in found] == [ONE] * 3 + [OTHER] * 2
    assert all(act.is_clean for act in found)
    assert (traces.count, traces.troubles) == (count, {})
    assert [trace.session for trace in traces.traces()] == [ONE, OTHER]


def test_a_second_look_reads_what_was_added(logs: Path) -> None:
    write_book(logs, ONE, acts(BOT, 9))
    path = logs / f"{ONE}.log"
    whole = path.read_bytes()
    lines = whole.splitlines(keepends=True)
    traces = ActTraces()
    path.write_bytes(b"".join(lines[:20]) + lines[20][:10])
    traces.look()
    before = traces.count

    with path.open("r+b") as file:
        file.write(whole)
    traces.look()

    assert before == 20
    assert (traces.count, len([*traces.acts()])) == (55, 9)


def test_a_book_that_was_changed_counts_up_to_there_and_is_named(logs: Path) -> None:
    write_book(logs, ONE, acts(BOT, 3))
    path = logs / f"{ONE}.log"
    lines = path.read_bytes().splitlines(keepends=True)
    lines[7] = lines[7].replace(b'"expects":"{}"', b'"expects":"[]"')
    path.write_bytes(b"".join(lines))
    traces = ActTraces()

    traces.look()
    traces.look()

    assert {*traces.troubles} == {ONE}
    assert len([*traces.acts()]) == 2


def test_a_book_that_is_gone_or_another_one_is_not_remembered(logs: Path) -> None:
    write_book(logs, ONE, acts(BOT, 3))
    write_book(logs, OTHER, acts(BOT, 3))
    traces = ActTraces()
    traces.look()
    (logs / f"{ONE}.log").unlink()
    (logs / "another").write_bytes((logs / f"{OTHER}.log").read_bytes())
    write_book(logs, ONE, acts(BOT, 1))
    (logs / f"{OTHER}.log").unlink()

    traces.look()

    assert len([*traces.acts()]) == 1


def test_files_that_are_no_books_are_passed_over(logs: Path) -> None:
    (logs / "s_x.log").write_text("no book")
    traces = ActTraces()

    traces.look()

    assert [*traces.acts()] == []
