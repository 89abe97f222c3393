from pathlib import Path

import pytest

from holdfast.cli.main import main
from holdfast.cli.verbs import drain
from holdfast.model.process_status import DrainedSession, DrainReport


def test_what_has_left_and_what_has_not_is_shown(
    capsys: pytest.CaptureFixture[str],
) -> None:
    left = DrainedSession("s_a", "box", "s_a.3")
    stayed = DrainedSession("s_b", "web", "", "it is not in a capsule")

    drain.show(
        DrainReport(
            count_=2, left=(left,), stayed=(stayed,), left_count=1, stayed_count=1
        )
    )

    said = capsys.readouterr()
    assert said.out.splitlines()[1].split() == ["box", "s_a", "s_a.3"]
    assert "stays: it is not in a capsule" in said.out
    assert "1 on disk, 1 not." in said.err
    assert "holdfast restore --all" in said.err


def test_a_drain_that_cannot_begin_says_why(
    capsys: pytest.CaptureFixture[str],
) -> None:
    drain.show(DrainReport(failed="the logbook cannot be written"))

    assert "Nothing was begun: the logbook" in capsys.readouterr().err


def test_what_has_moved_is_shown_with_where_it_is(
    capsys: pytest.CaptureFixture[str],
) -> None:
    moved = DrainedSession("s_a", "box", host="beta")

    drain.show(DrainReport(count_=1, left=(moved,), left_count=1, moved_count=1))

    said = capsys.readouterr()
    assert said.out.splitlines()[1].split() == ["box", "s_a", "at", "beta"]
    assert said.err == "1 moved, 0 on disk, 0 not.\n"


@pytest.mark.parametrize("words", [["drain", "--to", "nowhere"], ["evacuate", "beta"]])
def test_only_a_host_that_is_known_is_gone_to(
    words: list[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    for name in ("RUNTIME", "CONFIG", "STATE"):
        monkeypatch.setenv(f"HOLDFAST_{name}_DIR", str(tmp_path / name.lower()))

    assert main(words) == 64
    assert "no host" in capsys.readouterr().err


def test_where_nothing_runs_nothing_is_listed(
    capsys: pytest.CaptureFixture[str],
) -> None:
    drain.show(DrainReport())

    said = capsys.readouterr()
    assert said.out == ""
    assert said.err == "0 on disk, 0 not.\n"


@pytest.mark.parametrize("text", ["90", "0s", "367d", "x"])
def test_a_deadline_is_a_time(text: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["drain", "--deadline", text]) == 64
    assert "a time such as 90s" in capsys.readouterr().err
