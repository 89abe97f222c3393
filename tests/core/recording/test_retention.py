from holdfast.core.recording.retention import Bounds, KeptRecording, removable

FOUND = [KeptRecording(name, 10, at) for name, at in (("c", 30), ("a", 10), ("b", 20))]


def names(bounds: Bounds, now: float = 40.0) -> str:
    return "".join(one.name for one in removable(FOUND, bounds, now))


def test_nothing_is_removed_while_all_bounds_hold() -> None:
    assert names(Bounds(3, 30, 30.0)) == ""
    assert names(Bounds(3, 30, 0.0), now=1e12) == ""


def test_the_oldest_go_while_there_are_too_many_or_too_much() -> None:
    assert names(Bounds(2, 30, 0.0)) == "a"
    assert names(Bounds(3, 15, 0.0)) == "ab"
    assert names(Bounds(0, 0, 0.0)) == "abc"


def test_what_is_too_old_goes() -> None:
    assert names(Bounds(3, 30, 15.0)) == "ab"
