"""Ten programs are put to disk and brought back, while somebody watches.

`make capsule-cycles CYCLES=100` does more of the same.
"""

import os
import re
import subprocess
import sys

import pytest
from tests.scenarios.capsule_workloads import WORKLOADS
from tests.scenarios.capsules import NOBODY

from holdfast.linux.capsule import trial
from holdfast.linux.criu import program

pytestmark = [
    pytest.mark.skipif(
        program.find().program is None, reason="there is no CRIU here: `make criu`"
    ),
    pytest.mark.skipif(bool(trial.why_not()), reason="no capsule can be made here"),
]

ALL = len(WORKLOADS)
USERS = [(os.getuid(), ALL)] if os.getuid() else [(0, 3), (NOBODY, ALL)]
"""Who, and how many of the programs: as root the first three are enough each time."""


@pytest.mark.parametrize(("user", "cycles"), USERS)
def test_nothing_is_lost_and_nothing_lives_twice(user: int, cycles: int) -> None:
    words = ["-m", "tests.scenarios.capsule_cycles", "--cycles", str(cycles)]
    other = ["--user", str(user)] if user != os.getuid() else []

    done = subprocess.run(
        [sys.executable, *words, *other],
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )

    assert done.returncode == 0, done.stdout + done.stderr
    assert re.match(rf"{cycles} cycles, 0 faults", done.stdout)
