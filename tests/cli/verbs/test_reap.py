import pytest

from holdfast.cli.verbs import reap
from holdfast.model.process_status import ReapReport, ReapStanding

DUE = ReapStanding("s_a", "web", 7200.0, "", "idle-window", 90.0, 5_000_000)
KEPT = ReapStanding("s_b", "db", 0.0, "it is kept")
NOW = DUE._replace(id="s_c", name="now", reap_in=0.0, reason="memory-cap")


def test_what_is_reaped_and_what_is_not_is_shown(
    capsys: pytest.CaptureFixture[str],
) -> None:
    report = ReapReport(
        on=True,
        after=28800.0,
        warning=600.0,
        sessions_=20,
        memory=4 << 30,
        standings=(DUE, KEPT, NOW),
        count_=5,
    )

    reap.show(report)

    said = capsys.readouterr()
    _, due, kept, now = said.out.splitlines()
    assert due.split(maxsplit=6) == [
        "web",
        "s_a",
        "2h",
        "5",
        "MB",
        "in",
        "1m   nobody uses it",
    ]
    assert kept.split() == ["db", "s_b", "-", "0", "MB", "it", "is", "kept"]
    assert "now" in now
    assert "too much memory" in now
    assert "idle for 8h or more than 20 sessions or more than 4G of memory" in said.err
    assert "sessions that agents began" in said.err
    assert "and 2 more" in said.err


def test_that_nothing_is_reaped_is_said(capsys: pytest.CaptureFixture[str]) -> None:
    reap.show(ReapReport())

    assert "Nothing is reaped" in capsys.readouterr().err


def test_everybody_s_sessions_are_called_so(
    capsys: pytest.CaptureFixture[str],
) -> None:
    reap.show(ReapReport(on=True, people=True, after=60.0))

    assert "everybody's sessions; idle for 1m" in capsys.readouterr().err
