import pytest

from holdfast.cli.arguments import (
    limit_from_text,
    pattern_from,
    program_from,
    signal_from,
    signal_name,
    size_from,
    variable_from,
    window_from,
)
from holdfast.cli.session_table import age
from holdfast.model.errors import MalformedArgument, UsageError


@pytest.mark.parametrize("text", ["TERM", "term", "SIGTERM", "15"])
def test_a_signal_has_several_spellings(text: str) -> None:
    assert signal_from(text) == 15


@pytest.mark.parametrize("text", ["", "0", "-1", "99", "SIG", "TERMINATE", "None"])
def test_what_is_no_signal_is_refused(text: str) -> None:
    with pytest.raises(UsageError):
        signal_from(text)


def test_every_signal_can_be_shown() -> None:
    assert (signal_name(9), signal_name(40)) == ("SIGKILL", "signal 40")


def test_a_size_is_columns_by_rows() -> None:
    assert size_from("120x40") == size_from("120X40") == (120, 40)


def test_a_unit_runs_a_program_by_its_whole_path() -> None:
    assert program_from(None) is None
    assert program_from("/opt/a b/holdfast") == "/opt/a b/holdfast"


@pytest.mark.parametrize("text", ["", "holdfast", "./holdfast", "/bin/x\nUser=root"])
def test_a_program_that_systemd_would_not_find_is_refused(text: str) -> None:
    with pytest.raises(MalformedArgument, match="/usr/bin/holdfast"):
        program_from(text)


@pytest.mark.parametrize("text", ["", "x", "80", "80x", "-1x2", "1x2x3", "1 x2", "8x٨"])
def test_what_is_no_size_is_refused(text: str) -> None:
    with pytest.raises(UsageError):
        size_from(text)


def test_a_window_has_a_size_that_can_be_kept() -> None:
    assert window_from("1M") == window_from("1048576") == 1 << 20
    assert window_from("256MiB") == 256 << 20


@pytest.mark.parametrize("text", ["", "1", "1023K", "257M", "1G", "16 M", "M", "\x1b"])
def test_a_window_of_another_size_is_refused(text: str) -> None:
    with pytest.raises(MalformedArgument, match="1M to 256M"):
        window_from(text)


def test_a_value_may_hold_anything() -> None:
    assert variable_from("A=b=\x1b") == ("A", "b=\x1b")


@pytest.mark.parametrize(
    ("seconds", "shown"),
    [(-5, "now"), (0, "now"), (59, "59s"), (60, "1m"), (7300, "2h"), (200_000, "2d")],
)
def test_an_age_is_shown_in_its_largest_unit(seconds: float, shown: str) -> None:
    assert age(seconds) == shown


def test_a_pattern_is_for_bytes_and_says_what_is_wrong_with_it() -> None:
    assert pattern_from("caf.$").search("café".encode("latin-1"))
    with pytest.raises(MalformedArgument, match="a pattern: missing"):
        pattern_from("(")


def test_limits_are_read_as_people_write_them() -> None:
    assert limit_from_text("memory", "2G") == 2 << 30
    assert limit_from_text("cpus", "1.5") == 1500
    assert limit_from_text("pids", "500") == 500


@pytest.mark.parametrize(
    ("name", "text"),
    [("memory", "0"), ("memory", "x"), ("cpus", "nan"), ("cpus", "x"), ("pids", "1.5")],
)
def test_what_limits_nothing_is_refused(name: str, text: str) -> None:
    with pytest.raises(MalformedArgument):
        limit_from_text(name, text)
