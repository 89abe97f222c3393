from dataclasses import replace

import pytest

from holdfast.core.autonomy.ladder import Ladder, Step
from holdfast.core.book.host_book import book_of, draft, seal_key
from holdfast.core.book.logbook import Entry, EntryKind
from holdfast.core.policy.applied_policy import (
    NOTHING,
    TAMPERED,
    Applied,
    closed,
    digest_of,
    in_force,
    read_record,
)
from holdfast.core.policy.policy import Policy
from holdfast.core.policy.policy_file import read_policy
from holdfast.model.actors import ActorKind
from holdfast.model.errors import PolicyTampered
from holdfast.model.ids import host_id
from holdfast.model.verdicts import Verdict
from holdfast.wire.lines import decode_line, encode_line

KEY = seal_key(bytes(32))
OTHER = seal_key(b"x" * 32)
BOOK = book_of(host_id(bytes(32)))
FREE = b'[default]\nagent = "allow"\n'
FIRST = Applied(FREE, "", "a_b", 5, 1)
NEXT = Applied(b"", "ff", "a_b", 9, 2)


def last(applied: Applied | None) -> Entry:
    digest = "" if applied is None else applied.digest
    return draft(None, BOOK, EntryKind.APPLIED, {"policy": digest}, 1, KEY)


def test_a_record_is_read_as_it_was_written() -> None:
    for one in (FIRST, NEXT):
        assert read_record(one.to_bytes(KEY), KEY) == one


def test_the_digest_is_that_of_the_text_and_of_the_plug_ins() -> None:
    assert FIRST.digest == digest_of(FREE)
    assert NEXT.digest == digest_of(b"", "ff") == digest_of(b"ff")
    assert NOTHING.digest == digest_of(b"")


def test_the_ladder_is_part_of_the_record_and_of_the_digest() -> None:
    step = Step("a_b", "/usr/bin/ls", Verdict.ASK, Verdict.PREVIEW, "")
    ladder = Ladder().stepped(step)
    climbed = replace(FIRST, ladder=ladder.to_text())

    assert read_record(climbed.to_bytes(KEY), KEY) == climbed
    assert climbed.digest != FIRST.digest == climbed.file_digest
    assert climbed.policy().rungs == ladder.rungs
    assert FIRST.policy() == read_policy(FREE)
    again = replace(climbed, ladder=ladder.stepped(step).to_text())
    assert again.digest != climbed.digest


def test_no_byte_of_a_record_can_be_changed() -> None:
    raw = FIRST.to_bytes(KEY)
    for at in range(len(raw)):
        changed = raw[:at] + bytes([raw[at] ^ 1]) + raw[at + 1 :]
        with pytest.raises(PolicyTampered):
            read_record(changed, KEY)
    with pytest.raises(PolicyTampered):
        read_record(raw + b"\n", KEY)
    with pytest.raises(PolicyTampered):
        read_record(raw, OTHER)


def test_a_record_whose_members_are_of_another_type_is_none() -> None:
    odd = Applied(FREE, by=3).to_bytes(KEY)  # type: ignore[arg-type]

    with pytest.raises(PolicyTampered):
        read_record(odd, KEY)


@pytest.mark.parametrize(
    "more", [{"seal": 3}, {"seal": "ü"}, {"at": "5"}, {"extra": 1}, {}]
)
def test_a_record_has_these_members_and_no_others(more: dict[str, str | int]) -> None:
    first, _, text = FIRST.to_bytes(KEY).partition(b"\n")
    members = {**decode_line(first), **more}
    if not more:
        del members["seal"]

    with pytest.raises(PolicyTampered):
        read_record(encode_line(members) + b"\n" + text, KEY)


def test_what_the_book_names_is_in_force() -> None:
    record = FIRST.to_bytes(KEY)

    assert in_force(record, None, last(FIRST), KEY) == FIRST
    assert in_force(record, b"half of", last(FIRST), KEY) == FIRST
    assert in_force(None, None, None, KEY) == NOTHING
    assert in_force(None, b"half of", last(None), KEY) == NOTHING


def test_an_apply_that_was_cut_off_after_its_entry_counts() -> None:
    record, cut_off = FIRST.to_bytes(KEY), NEXT.to_bytes(KEY)

    assert in_force(record, cut_off, last(NEXT), KEY) == NEXT
    assert in_force(None, cut_off, last(NEXT), KEY) == NEXT
    assert in_force(record, cut_off, last(FIRST), KEY) == FIRST


@pytest.mark.parametrize(
    ("record", "named", "floor", "why"),
    [
        (FIRST.to_bytes(KEY), NEXT, 0, "not the one"),
        (FIRST.to_bytes(OTHER), FIRST, 0, "was changed"),
        (None, FIRST, 0, "was removed"),
        (FIRST.to_bytes(KEY), None, 0, "knows of no"),
        (None, None, 5, "knows of no"),
        (FIRST.to_bytes(KEY), FIRST, 6, "put back"),
    ],
)
def test_nothing_else_is(
    record: bytes | None, named: Applied | None, floor: int, why: str
) -> None:
    with pytest.raises(PolicyTampered, match=why):
        in_force(record, None, last(named), KEY, floor)


def test_a_closed_policy_denies_all_but_humans_and_judges_those_as_before() -> None:
    text = '[default]\nagent = "allow"\n[[rule]]\nname = "disks"\nverdict = "deny"\n'
    shut = closed(read_policy(text.encode()), 'a "quoted" \\ \x1b' + "x" * 500)

    assert [rule.name for rule in shut.rules] == [TAMPERED, "disks"]
    assert shut.rules[0].verdict is Verdict.DENY
    assert shut.default[ActorKind.HUMAN] is Verdict.ALLOW
    for kind in (ActorKind.AGENT, ActorKind.SERVICE, ActorKind.DEVICE):
        assert shut.default[kind] is Verdict.DENY
    assert closed(closed(Policy(), "a"), "b").rules[0].why == "b"
