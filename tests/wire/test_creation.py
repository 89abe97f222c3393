import json

import pytest

from holdfast.wire.creation import (
    ALSO_PROVEN,
    CHANGE,
    PROVEN,
    RECOVERY,
    change_bytes,
    proven_bytes,
    recovery_bytes,
)

WHOLE = {name: f"some {name}" for name in PROVEN}


@pytest.mark.parametrize("name", PROVEN)
def test_every_member_that_matters_is_proven(name: str) -> None:
    assert proven_bytes({**WHOLE, name: "another"}) != proven_bytes(WHOLE)
    assert proven_bytes({**WHOLE, name: None}) != proven_bytes(WHOLE)


@pytest.mark.parametrize("name", ALSO_PROVEN)
def test_what_was_added_later_is_proven_where_it_is_given(name: str) -> None:
    assert proven_bytes({**WHOLE, name: 7}) != proven_bytes(WHOLE)
    assert proven_bytes({**WHOLE, name: 7}) != proven_bytes({**WHOLE, name: 8})
    assert proven_bytes({**WHOLE, name: 0}) == proven_bytes(WHOLE)


def test_what_others_add_on_the_way_changes_nothing() -> None:
    added = {"do": "create", "token": "t", "id": "s", "proof": "p"}

    assert proven_bytes({**added, **WHOLE}) == proven_bytes(WHOLE)


def test_what_is_missing_is_null_and_the_order_does_not_count() -> None:
    some = {"cwd": "/", "command": ["a", "\udc80"]}
    told = json.loads(json.dumps({**dict(reversed(some.items())), "name": None}))

    assert proven_bytes(told) == proven_bytes(some)


@pytest.mark.parametrize("name", CHANGE)
def test_every_member_of_a_change_that_matters_is_proven(name: str) -> None:
    whole = {one: f"some {one}" for one in CHANGE}

    assert change_bytes({**whole, name: "another"}) != change_bytes(whole)
    assert change_bytes({**whole, "ticket": 1}) == change_bytes(whole)


@pytest.mark.parametrize("name", RECOVERY)
def test_every_member_of_a_recovery_is_proven(name: str) -> None:
    whole = {one: f"some {one}" for one in RECOVERY}

    assert recovery_bytes({**whole, name: "another"}) != recovery_bytes(whole)


def test_a_proof_for_another_life_is_none_for_a_new_session() -> None:
    both = {**WHOLE, **{one: f"some {one}" for one in RECOVERY}}

    assert recovery_bytes(both) != proven_bytes(both)


def test_which_image_is_restored_is_proven() -> None:
    whole = {one: f"some {one}" for one in RECOVERY}
    of = {one: recovery_bytes({**whole, "image": one}) for one in (0, 2, 3)}

    assert len({*of.values()}) == 3
    assert of[0] == recovery_bytes(whole)


def test_what_becomes_of_open_files_is_proven() -> None:
    whole = {one: f"some {one}" for one in RECOVERY} | {"image": 2}
    wishes = ("", "put-back", "as-is")

    written = {recovery_bytes({**whole, "open_files": one}) for one in wishes}

    assert len(written) == 3
    assert recovery_bytes(whole) in written
