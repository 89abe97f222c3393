"""What a command did, beside what was expected of it."""

import pytest

from holdfast.core.autonomy.effects import (
    MAX_NAMED,
    Comparison,
    Effects,
    Listing,
    Seen,
    compare,
    difference,
    observed_fields,
)
from holdfast.model.expectations import Expectation

OLD = (1, 10, 5, 0o644)
NEW = (1, 12, 9, 0o644)


def test_what_differs_between_two_listings_was_done() -> None:
    before = Listing({"a": OLD, "b": OLD, "d/": OLD}, {(7, 1): "bash"}, frozenset({80}))
    after = Listing(
        {"a": NEW, "c": OLD, "d/": OLD},
        {(7, 1): "bash", (9, 2): "node"},
        frozenset({80, 8080}),
    )

    seen = difference(before, after)

    assert (seen.made, seen.changed, seen.deleted) == (("c",), ("a",), ("b",))
    assert (seen.processes, seen.ports, seen.missing) == (("node",), (8080,), "")


def test_a_process_with_the_number_of_one_that_ended_is_another() -> None:
    before, after = Listing({}, {(7, 1): "old"}), Listing({}, {(7, 2): "new"})

    assert difference(before, after).processes == ("new",)


@pytest.mark.parametrize("which", ["before", "after"])
def test_what_one_of_the_listings_lacks_is_not_known_of_the_difference(
    which: str,
) -> None:
    whole, part = Listing({}, {}), Listing({}, {}, missing="too many")
    pair = (part, whole) if which == "before" else (whole, part)

    assert difference(*pair).missing == "too many"


def test_what_an_unfinished_listing_lacks_is_taken_for_nothing() -> None:
    whole = Listing({"a": OLD, "b": OLD}, {(7, 1): "node"}, frozenset({80}))
    part = Listing({"a": NEW}, {}, missing="too long", has_processes=False)

    assert difference(part, whole) == Seen(changed=("a",), missing="too long")
    assert difference(whole, part) == Seen(changed=("a",), missing="too long")


def test_what_is_seen_and_named_is_matched() -> None:
    expected = Expectation(
        (
            "build",
            "*.log"[1:],
        ),
        (8080,),
        ("node",),
    )
    seen = Seen(("build/", "build/a.o"), (), (".log",), ("node",), (8080,))

    assert compare(expected, seen) == Comparison(Effects.MATCHED)


def test_nothing_is_expected_by_an_empty_expectation() -> None:
    assert compare(Expectation(), Seen()).effects is Effects.MATCHED
    assert compare(Expectation(), Seen(made=("x",))).effects is Effects.UNINTENDED


@pytest.mark.parametrize(
    "seen",
    [
        Seen(made=("src/x",)),
        Seen(changed=("src/x",)),
        Seen(deleted=("src/x",)),
        Seen(processes=("miner",)),
        Seen(ports=(4444,)),
    ],
)
def test_whatever_was_not_expected_is_an_unintended_effect(seen: Seen) -> None:
    expected = Expectation(("build",), (8080,), ("node",))

    found = compare(expected, seen)

    assert found.effects is Effects.UNINTENDED
    assert found.files + found.processes + found.ports != ()


def test_a_name_that_only_begins_like_an_expected_one_is_another() -> None:
    found = compare(Expectation(("build",)), Seen(made=("build-me.sh",)))

    assert found.files == ("build-me.sh",)


def test_what_was_not_looked_at_whole_is_undecided() -> None:
    found = compare(Expectation(("a",)), Seen(("a",), missing="too many files"))

    assert found == Comparison(Effects.UNDECIDED, why="too many files")


def test_an_unintended_effect_stands_although_not_all_was_looked_at() -> None:
    found = compare(Expectation(), Seen(("a",), missing="too many files"))

    assert found.effects is Effects.UNINTENDED


@pytest.mark.parametrize("pattern", ["*", "**", "?*", "*/x"])
def test_an_expectation_of_every_file_says_nothing(pattern: str) -> None:
    found = compare(Expectation((pattern,)), Seen(("a/x",) if "x" in pattern else ()))

    assert found.effects is Effects.UNDECIDED


def test_the_book_names_what_was_unintended_and_counts_the_rest() -> None:
    files = tuple(f"f{number}" for number in range(MAX_NAMED + 3))
    found = Comparison(Effects.UNINTENDED, files, ("node",), (80, 81))

    fields = observed_fields("a_b", 4, found, Seen(made=files, ports=(80, 81)))

    assert str(fields["files"]).split("\n") == list(files[:MAX_NAMED])
    assert (fields["processes"], fields["ports"]) == ("node", "80\n81")
    assert (fields["more"], fields["made"], fields["opened"]) == (3, len(files), 2)
    assert (fields["actor"], fields["number"], fields["as"]) == ("a_b", 4, "unintended")
