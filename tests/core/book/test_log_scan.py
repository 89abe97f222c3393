"""Entries read in passing, compared with those that are taken apart."""

import pytest
from tests.core.book.test_checkpoint import SESSION, Story, scanned

from holdfast.core.book.log_scan import scan
from holdfast.core.book.logbook import Anchor, EntryKind, genesis
from holdfast.model.errors import LogTampered
from holdfast.model.ids import ActorId


def test_a_line_that_was_changed_moved_or_made_up_is_noticed_in_passing() -> None:
    story = Story().tell(
        ("input", "a_anna", "c_one", "keys"),
        ("input", "a_anna", "c_one", "keys"),
        ("input", "a_anna", "c_one", "keys"),
    )
    lines = [entry.line for entry in story.entries]
    begin = Anchor(genesis(SESSION).index, genesis(SESSION).hash)
    lower = Anchor(begin.index, begin.hash, incarnation=2)
    for wrong, after in (
        ([lines[0], lines[2]], begin),
        (
            [lines[0], lines[1].replace(b'"sequence":2', b'"sequence":9'), lines[2]],
            begin,
        ),
        ([lines[0], b"{}"], begin),
        ([lines[0].replace(b"s_one", b"s_two")], begin),
        ([lines[0].replace(b'"kind":"input"', b'"kind":"nothing"')], begin),
        ([lines[0]], lower),
    ):
        with pytest.raises(LogTampered):
            list(scan(wrong, SESSION, after))


def test_an_actor_of_any_form_is_taken_apart_closely() -> None:
    story = Story().tell(("input", 'a "quoted" one', "c_one", "keys"))

    [entry] = scanned(story.entries)

    assert entry.fields["actor"] == ActorId('a "quoted" one')


def test_what_decides_something_is_taken_apart() -> None:
    story = Story().tell(
        ("grant", "a_anna", "input"),
        ("input", "a_anna", "c_one", "keys"),
        ("settle", "cut"),
        ("settle", "applied"),
        ("refused", "a_bot", "c_two"),
    )

    granted, given, cut, applied, refused = scanned(story.entries)

    assert granted.fields["rights"] == "input"
    assert list(given.fields) == ["actor", "client", "sequence", "input"]
    assert cut.fields["written"] == 1
    assert applied.fields == {"of": 1, "as": "applied"}
    assert (refused.kind, refused.fields) == (EntryKind.REFUSED, {})
    assert [one.hash for one in (granted, given)] == [
        one.hash for one in story.entries[:2]
    ]
