import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.core.book.logbook import Entry, EntryKind
from holdfast.core.telemetry.session_counts import (
    LAYOUT,
    MAX_COUNT,
    SIZE,
    CountTotals,
    SessionCounts,
    layout_from,
    layout_text,
    numbers_from,
)
from holdfast.model.ids import FIRST_INCARNATION, Epoch, Index
from holdfast.wire.lines import Value

Fields = dict[str, Value]


def entry(kind: EntryKind, **fields: Value) -> Entry:
    return Entry(Index(0), b"", b"", kind, FIRST_INCARNATION, Epoch(1), 0, fields)


def told(counts: SessionCounts) -> dict[tuple[str, ...], float]:
    totals = CountTotals()
    totals.take(LAYOUT, numbers_from(counts.to_bytes(), len(LAYOUT)))
    return {
        (name.removeprefix("holdfast_"), *labels): number
        for (name, labels), number in totals.values().items()
    }


@pytest.mark.parametrize(
    ("kind", "fields", "expected"),
    [
        (
            EntryKind.INPUT,
            {"actor_kind": "agent", "verdict": "ask"},
            {("inputs_total", "agent", "ask", "admitted"): 1},
        ),
        (
            EntryKind.INPUT,
            {"actor_kind": "human", "verdict": "allow", "originators": "a_x"},
            {
                ("inputs_total", "human", "allow", "admitted"): 1,
                ("inputs_staged_by_others_total", "human"): 1,
            },
        ),
        (
            EntryKind.REFUSED,
            {"actor_kind": "agent", "verdict": None},
            {("inputs_total", "agent", "none", "refused"): 1},
        ),
        (EntryKind.SETTLED, {"as": "applied"}, {}),
        (
            EntryKind.SETTLED,
            {"as": "unknown"},
            {("inputs_unfinished_total", "unknown"): 1},
        ),
        (EntryKind.ASKED, {"ticket": 1}, {("approvals_asked_total",): 1}),
        (EntryKind.ANSWERED, {"yes": True}, {("approvals_answered_total", "yes"): 1}),
        (EntryKind.ANSWERED, {"yes": False}, {("approvals_answered_total", "no"): 1}),
        (
            EntryKind.EXEC,
            {"as": "refused", "count": 7},
            {("execs_total", "refused"): 7},
        ),
        (
            EntryKind.TURN,
            {"reason": "seized", "dropped_inputs": 4},
            {
                ("turns_total", "seized"): 1,
                ("thrown_away_inputs_total",): 4,
            },
        ),
        (EntryKind.TURN, {"reason": "taken"}, {("turns_total", "taken"): 1}),
        (
            EntryKind.FROZEN,
            {"dropped_inputs": 2},
            {("freezes_total",): 1, ("thrown_away_inputs_total",): 2},
        ),
        (EntryKind.FENCED, {}, {("fences_total", "fenced"): 1}),
        (EntryKind.UNFENCED, {}, {("fences_total", "lifted"): 1}),
        (EntryKind.OPENED, {}, {("incarnations_total", "new"): 1}),
        (EntryKind.OPENED, {"parent": "s_x"}, {("incarnations_total", "forked"): 1}),
        (
            EntryKind.RECOVERED,
            {"image": None},
            {("incarnations_total", "recovered"): 1},
        ),
        (EntryKind.RECOVERED, {"image": 3}, {("incarnations_total", "restored"): 1}),
        (
            EntryKind.RECOVERED,
            {"image": 3, "origin": "h_x"},
            {("incarnations_total", "moved"): 1},
        ),
        (EntryKind.RESUMED, {}, {("takeovers_total",): 1}),
        (EntryKind.IMAGED, {"image": 1}, {("checkpoints_total", "running"): 1}),
        (EntryKind.FORKED, {"image": 1}, {("checkpoints_total", "forked"): 1}),
        (EntryKind.STOPPED, {"to": "h_x"}, {("checkpoints_total", "moved"): 1}),
        (
            EntryKind.STOPPED,
            {"why": "population-cap"},
            {
                ("checkpoints_total", "stopped"): 1,
                ("reaps_total", "population-cap"): 1,
            },
        ),
        (EntryKind.ENDING, {"signal": 1}, {}),
        (
            EntryKind.ENDING,
            {"signal": 1, "why": "idle-window"},
            {("reaps_total", "idle-window"): 1},
        ),
        (EntryKind.EXITED, {"how": "0"}, {("exits_total", "ok"): 1}),
        (EntryKind.EXITED, {"how": "3"}, {("exits_total", "failed"): 1}),
        (EntryKind.EXITED, {"how": "-9"}, {("exits_total", "signal"): 1}),
        (EntryKind.EXITED, {"how": "unknown"}, {("exits_total", "unknown"): 1}),
        (EntryKind.FINISHED, {"status": 0}, {("commands_total", "ok"): 1}),
        (EntryKind.FINISHED, {"status": 2}, {("commands_total", "failed"): 1}),
        (EntryKind.FINISHED, {"status": None}, {("commands_total", "unknown"): 1}),
        (
            EntryKind.LIMITED,
            {"limit": "memory", "count": 2},
            {("limits_met_total", "memory"): 2},
        ),
        (EntryKind.UNBOUND, {"port": 80}, {("listeners_gone_total",): 1}),
        (EntryKind.SIGNED, {"actor": "a_x"}, {}),
    ],
)
def test_an_entry_counts_as_what_it_tells_of(
    kind: EntryKind, fields: Fields, expected: dict[tuple[str, ...], float]
) -> None:
    counts = SessionCounts()
    counts.stored(entry(kind, **fields))

    assert told(counts) == expected


def test_a_successor_counts_on_where_the_file_ends() -> None:
    first = SessionCounts()
    first.add("holdfast_attaches_total", "human")
    second = SessionCounts.from_bytes(first.to_bytes())
    second.add("holdfast_attaches_total", "human")

    assert told(second) == {("attaches_total", "human"): 2}
    assert len(second.to_bytes()) == SIZE


def test_a_file_that_was_cut_off_counts_as_far_as_it_goes() -> None:
    counts = SessionCounts()
    counts.add("holdfast_attaches_total", "human")
    raw = counts.to_bytes()

    assert told(SessionCounts.from_bytes(raw[:9])) == {("attaches_total", "human"): 1}
    assert told(SessionCounts.from_bytes(b"")) == {}


def test_what_is_not_known_is_counted_as_other_and_makes_no_new_series() -> None:
    counts = SessionCounts()
    counts.add("holdfast_turns_total", "a secret")
    counts.stored(entry(EntryKind.ENDING, why="rm -rf /"))

    assert told(counts) == {
        ("turns_total", "other"): 1,
        ("reaps_total", "other"): 1,
    }


def test_a_number_never_goes_down_and_never_overflows() -> None:
    counts = SessionCounts()
    counts.add("holdfast_gap_bytes_total", "slow", amount=MAX_COUNT)
    counts.add("holdfast_gap_bytes_total", "slow", amount=5)
    counts.add("holdfast_gap_bytes_total", "reattach", amount=-5)

    assert told(counts) == {("gap_bytes_total", "slow"): MAX_COUNT}


def test_whether_something_is_new_is_known_until_it_is_written() -> None:
    counts = SessionCounts()
    assert not counts.is_changed
    counts.observe("holdfast_seize_seconds", 0.002)
    assert counts.is_changed
    counts.to_bytes()
    assert not counts.is_changed


def test_a_duration_is_in_the_first_bucket_that_holds_it() -> None:
    counts = SessionCounts()
    for seconds in (0.0, 0.001, 0.0011, 5.0, -1.0):
        counts.observe("holdfast_seize_seconds", seconds)
    totals = CountTotals()
    totals.take(LAYOUT, numbers_from(counts.to_bytes(), len(LAYOUT)))

    seen = totals.distributions()["holdfast_seize_seconds"]

    assert seen.counts == (3, 1, 0, 0, 0, 0, 0, 0, 0, 1)
    assert seen.total == pytest.approx(5.0021)
    assert totals.distributions()["holdfast_restore_seconds"].total == 0


def test_a_layout_is_read_back_as_it_was_written() -> None:
    assert layout_from(layout_text()) == LAYOUT


def test_files_of_several_layouts_are_added_up_by_what_their_numbers_are() -> None:
    totals = CountTotals()
    attached = ("holdfast_attaches_total", ("human",))
    totals.take((attached, ("holdfast_gone_total", ())), (2, 9))
    totals.take((("holdfast_freezes_total", ()), attached), (1, 3))

    assert totals.values() == {attached: 5, ("holdfast_freezes_total", ()): 1}


VALUES = st.none() | st.booleans() | st.integers() | st.text(max_size=8)
NAMES = st.sampled_from(
    ["actor_kind", "verdict", "as", "reason", "why", "how", "status", "count", "image"]
)


@given(st.lists(st.tuples(st.sampled_from(EntryKind), st.dictionaries(NAMES, VALUES))))
def test_no_entry_raises_or_lowers_anything(
    entries: list[tuple[EntryKind, Fields]],
) -> None:
    counts = SessionCounts()
    before = (0,) * len(LAYOUT)
    for kind, fields in entries:
        counts.stored(entry(kind, **fields))
        after = numbers_from(counts.to_bytes(), len(LAYOUT))
        assert all(old <= new for old, new in zip(before, after, strict=True))
        before = after
