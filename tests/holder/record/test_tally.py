"""What a holder counts, and that it is there for its successor and for readers."""

import time
from pathlib import Path

import pytest
from tests.holder.input_world import SESSION, World

from holdfast.core.book.logbook import EntryKind
from holdfast.core.telemetry.session_counts import LAYOUT, numbers_from
from holdfast.holder.record.tally import SessionTally
from holdfast.linux.stored import count_files
from holdfast.model.ids import SessionId
from holdfast.wire import messages as wire

FROZEN = "holdfast_freezes_total"


def tally_of(session: SessionId) -> SessionTally:
    tally = SessionTally()
    tally.open(session)
    return tally


@pytest.mark.usefixtures("own_folders")
def test_what_was_counted_is_there_for_readers_and_for_the_next_holder() -> None:
    first = tally_of(SESSION)
    first.count(FROZEN)
    second = tally_of(SESSION)
    second.count(FROZEN, amount=2)
    second.took("holdfast_seize_seconds", 0.01)

    found = count_files.totals()

    assert found.values() == {(FROZEN, ()): 3}
    assert sum(found.distributions()["holdfast_seize_seconds"].counts) == 1


@pytest.mark.usefixtures("own_folders")
def test_a_session_that_has_ended_counts_on_without_a_file() -> None:
    tally = tally_of(SESSION)
    tally.count(FROZEN)

    tally.end()
    tally.end()
    tally.count(FROZEN)

    assert not [*Path(count_files.folder()).glob("s_*")]
    assert count_files.totals().values() == {(FROZEN, ()): 1}


def test_a_restore_is_counted_and_what_was_not_restored_is_not() -> None:
    tally = SessionTally()
    tally.restored(0.0)
    assert not tally.counts.is_changed
    tally.restored(time.monotonic())

    place = LAYOUT.index(("holdfast_restore_seconds", ("0",)))
    assert numbers_from(tally.counts.to_bytes(), len(LAYOUT))[place] == 1


@pytest.mark.usefixtures("own_folders")
def test_a_disk_that_refuses_is_tried_again_and_nothing_is_lost() -> None:
    tally = tally_of(SESSION)
    folder = Path(count_files.folder())
    folder.rename(folder.with_name("elsewhere"))
    folder.write_text("in the way")

    tally.count(FROZEN)
    assert tally.counts.is_changed
    folder.unlink()
    folder.with_name("elsewhere").rename(folder)
    tally.keep()

    assert count_files.totals().values() == {(FROZEN, ()): 1}


def test_a_place_that_is_not_ours_stops_no_session(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOLDFAST_RUNTIME_DIR", str(tmp_path / "file"))
    (tmp_path / "file").touch()

    tally = tally_of(SESSION)
    tally.count(FROZEN)

    assert [one.name for one in tmp_path.iterdir()] == ["file"]


def test_entries_are_counted_once_the_book_has_caught_up(here: World) -> None:
    counts = here.session.tally.counts
    here.session.settle()
    before = numbers(here)
    here.session.driver.record(EntryKind.UNBOUND, {"port": 80})
    assert numbers(here) == before

    here.session.book.sync()
    here.turn(1)

    assert numbers(here)["holdfast_listeners_gone_total", ()] == 1
    assert counts is here.context.tally.counts


def test_a_seize_is_counted_with_how_long_it_took(here: World) -> None:
    one, two = here.join(), here.join("bea")
    here.requests.take(one.connection, wire.Take())
    here.requests.take(two.connection, wire.Seize(wire.Halt.NONE))
    here.session.settle()

    found = numbers(here)

    assert found["holdfast_turns_total", ("seized",)] == 1
    assert (
        sum(found["holdfast_seize_seconds", (str(place),)] for place in range(10)) == 1
    )


def numbers(here: World) -> dict[tuple[str, tuple[str, ...]], int]:
    raw = here.session.tally.counts.to_bytes()
    return dict(zip(LAYOUT, numbers_from(raw, len(LAYOUT)), strict=True))
