"""`verify` must fail where a promise is broken, and say which."""

import pytest
from tests.scenarios.broken_holdfast import BREAKS
from tests.scenarios.verifying import folder, left, verified

from holdfast.linux.criu import program

PLANTED = [
    ("upgrade_ends_sessions", "1", "upgraded: the program is the same, and goes on"),
    (
        "attach_begins_anew",
        "1",
        "another client attaches, and sees the same program",
    ),
    ("read_hides_the_gap", "1", "a window that overflowed says how much is gone"),
    ("recover_replays", "5", "no effect happened again"),
    ("run_forgets_keys", "6", "it is told how it ended, and did not run again"),
    ("run_claims_success", "6", "while it runs, nothing says that it has ended"),
    ("everybody_is_root", "7", "bytes arrive from the holder of the turn alone"),
    ("log_drops_an_entry", "7", "the logbook has one order without a gap"),
    ("export_is_edited", "7", "its chain of hashes is whole"),
    ("blame_names_the_wrong_one", "8", "an alias: `blame` names who staged it"),
    ("gate_lets_eve_in", "8", "a rule refuses eve before the first byte"),
    ("reaper_sleeps", "9", "the one that nobody comes back to is reaped"),
]

PLANTED_IN_IMAGES = [
    ("restore_forgets_memory", "2", "restored with its memory"),
    ("checkpoint_hides_cuts", "3", "what will be cut is listed by its peer"),
    ("fork_begins_anew", "4", "both live, with the same memory at first"),
]


def test_every_break_is_planted() -> None:
    assert [one for one, _, _ in PLANTED + PLANTED_IN_IMAGES] == list(BREAKS)


@pytest.mark.parametrize(("broken", "mode", "what"), PLANTED)
def test_a_broken_promise_is_found(broken: str, mode: str, what: str) -> None:
    _found(broken, mode, what)


@pytest.mark.skipif(program.find().program is None, reason="there is no CRIU here")
@pytest.mark.parametrize(("broken", "mode", "what"), PLANTED_IN_IMAGES)
def test_a_broken_promise_about_images_is_found(
    broken: str, mode: str, what: str
) -> None:
    _found(broken, mode, what)


def _found(broken: str, mode: str, what: str) -> None:
    with folder() as place:
        status, report = verified(place, mode, "--no-controls", broken=broken)

        assert status == 1
        assert report["failed"] is True
        (found,) = report["modes"]
        assert found["verdict"] == "failed"
        failed = [one for one in found["checks"] if one["outcome"] == "broken"]
        assert any(what in one["what"] for one in failed), failed
        assert left(place) == []
