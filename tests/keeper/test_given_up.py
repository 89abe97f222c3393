import pytest

from holdfast.keeper.given_up import MAX_KEPT, MAX_WHY, GivenUp


def test_each_holder_that_was_given_up_is_a_line_in_the_log(
    capsys: pytest.CaptureFixture[str],
) -> None:
    given_up = GivenUp()

    given_up.note("s_one", "died before it had deposited")
    given_up.note("s_one", "LogTampered: entry 7")

    first, second = capsys.readouterr().err.splitlines()
    assert "holder.given-up id=s_one count=1 why='died before" in first
    assert "count=2 why='LogTampered: entry 7'" in second
    [told] = given_up.status()
    assert (told.id, told.count_) == ("s_one", 2)
    assert told.why == "LogTampered: entry 7"


def test_a_reason_is_one_line_and_bounded(capsys: pytest.CaptureFixture[str]) -> None:
    given_up = GivenUp()

    given_up.note("s_one", "a\nb\x1b[2J" + "c" * MAX_WHY)

    [line] = capsys.readouterr().err.splitlines()
    assert "\x1b" not in line
    [told] = given_up.status()
    assert len(told.why) == MAX_WHY


def test_what_is_remembered_is_bounded() -> None:
    given_up = GivenUp()
    for number in range(MAX_KEPT + 1):
        given_up.note(f"s_{number}", "why")

    assert given_up.status()[0].id == "s_1"
    assert len(given_up.status()) == MAX_KEPT
