import subprocess
import sys
from collections import Counter

import pytest

from holdfast.testing import sim
from holdfast.testing.situations import MINIMUM


@pytest.mark.parametrize("seed", range(6))
def test_every_invariant_holds(seed: int) -> None:
    assert sim.run_seed(seed).failure == ""


def test_the_same_seed_gives_the_same_run_in_another_process() -> None:
    here = sim.run_seed(11)
    program = "from holdfast.testing.sim import run_seed; print(run_seed(11).trace)"

    there = subprocess.check_output(
        [sys.executable, "-c", program], text=True, env={"PYTHONHASHSEED": "77"}
    )

    assert there.strip() == here.trace


def test_another_seed_gives_another_run() -> None:
    assert sim.run_seed(1).trace != sim.run_seed(2).trace


def test_a_situation_reached_too_rarely_is_named() -> None:
    reached = Counter(MINIMUM)
    reached["seize"] -= 1

    assert list(sim.missed(reached, seeds=100)) == ["seize"]
    assert sim.missed(Counter(), seeds=99) == {}


def test_one_seed_tells_its_story(capsys: pytest.CaptureFixture[str]) -> None:
    status = sim.main(["--seed", "3"])

    told = capsys.readouterr().out
    assert status == 0
    assert "situations reached" in told
    assert "every invariant held" in told


def test_many_seeds_end_in_a_count(capsys: pytest.CaptureFixture[str]) -> None:
    status = sim.main(["--seeds", "2", "--jobs", "1"])

    assert status == 0
    assert capsys.readouterr().out.endswith("2 passed, 0 failed\n")
