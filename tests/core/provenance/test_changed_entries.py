import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.core.book.logbook import MAX_LINE
from holdfast.core.provenance.changed_entries import (
    MAX_NAME,
    MAX_TEXT,
    Changed,
    changed_fields,
    initial_fields,
    lost_fields,
    read_changed,
)
from holdfast.core.shell.shell_state import Change, ChangeKind, Item, ItemKind
from holdfast.wire.lines import encode_line

DEPLOY = Item(ItemKind.ALIAS, "deploy")
ADDED = Change(DEPLOY, ChangeKind.ADDED, b"\x01" * 16)

items = st.builds(Item, st.sampled_from(ItemKind), st.text(max_size=20))
found = st.builds(Change, items, st.sampled_from(ChangeKind), st.binary(max_size=16))


@given(st.lists(found, max_size=8), st.integers(0, 9), st.integers(0, 9))
def test_what_is_written_is_read_back(
    changes: list[Change], first: int, last: int
) -> None:
    fields = changed_fields(first, last, changes)

    assert read_changed(fields) == Changed(first, last, (), tuple(changes), 0)


@given(st.dictionaries(items, st.binary(max_size=16), max_size=8))
def test_what_a_shell_had_is_read_back(had: dict[Item, bytes]) -> None:
    (fields,) = initial_fields(had, 4)

    assert read_changed(fields) == Changed(0, 0, tuple(had.items()), (), 0)


def test_it_is_written_so_that_people_can_read_it() -> None:
    fields = changed_fields(3, 3, [ADDED])

    assert fields["changes"] == "+ alias " + "01" * 16 + " deploy"
    assert (fields["number"], fields["first"], fields["more"]) == (3, 3, 0)


@pytest.mark.parametrize("letter", ["\0", "\U0001f600", "\ud800", "x"])
def test_what_does_not_fit_is_counted_and_the_entry_fits_a_line(letter: str) -> None:
    many = [
        Change(Item(ItemKind.FUNCTION, letter * MAX_NAME), ChangeKind.ADDED, b"\xff")
    ] * 299
    fields = changed_fields(1, 1, many)

    assert len(str(fields["changes"])) <= MAX_TEXT
    assert len(encode_line(fields)) < MAX_LINE - 1024
    said = read_changed(fields)
    assert said.changes
    assert len(said.changes) + said.more == 299


def test_an_item_with_an_endless_name_is_only_counted() -> None:
    endless = Change(Item(ItemKind.TRAP, "x" * (MAX_NAME + 1)), ChangeKind.ADDED, b"")

    assert read_changed(changed_fields(1, 2, [endless, ADDED])) == Changed(
        1, 2, (), (ADDED,), 1
    )


def test_what_a_shell_had_takes_several_entries_but_not_any_number() -> None:
    had = {Item(ItemKind.FUNCTION, f"{n}" * 100): b"\1" * 16 for n in range(1000)}
    entries = [read_changed(fields) for fields in initial_fields(had, 3)]

    assert len(entries) == 3
    listed = sum(len(one.initial) for one in entries)
    assert [one.more for one in entries] == [0, 0, len(had) - listed]


@pytest.mark.parametrize(
    "line",
    ["nonsense", "? alias 00 x", "+ thing 00 x", "+ alias zz x", "+ alias 00 %ff"],
)
def test_a_line_that_makes_no_sense_counts_as_left_out(line: str) -> None:
    fields = changed_fields(1, 1, [ADDED])
    fields["changes"] = f"{fields['changes']}\n{line}"

    assert read_changed(fields) == Changed(1, 1, (), (ADDED,), 1)


def test_an_entry_without_its_members_says_nothing() -> None:
    assert read_changed({"more": None}) == Changed(0, 0, (), (), 0)


def test_what_is_lost_belongs_to_no_command_and_leaves_nothing_out() -> None:
    lost = lost_fields()

    assert (lost["number"], lost["first"], lost["more"]) == (0, 0, 0)
