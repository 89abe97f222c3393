import json

import pytest

from holdfast.cli.main import main


def test_the_tour_runs_the_core_and_says_what_is_missing(
    capsys: pytest.CaptureFixture[str],
) -> None:
    status = main(["tour", "--seeds", "1"])

    told = capsys.readouterr().out
    assert status == 0
    assert "seized: epoch 2, 4 inputs thrown away" in told
    assert "does not verify at entry 3" in told
    assert "`holdfast new` opens a live session" in told


def test_the_tour_is_there_for_programs_too(
    capsys: pytest.CaptureFixture[str],
) -> None:
    main(["tour", "--json", "--seeds", "1"])

    facts = json.loads(capsys.readouterr().out)
    assert facts["story"]["refused"] == "not-your-turn"
    assert (facts["worlds"], facts["failed"]) == (1, 0)
