"""What a scenario has started is ended, also what it starts in that moment."""

import os
import select
import subprocess
from pathlib import Path

import pytest
from tests.scenarios.leftovers import end_everything

HOPS = 5000
"""After so many a process that nobody ends does so by itself."""

WANDERER = f"""
[ "$1" -lt {HOPS} ] || exit
setsid sh "$0" $(($1 + 1)) &
"""


@pytest.mark.parametrize("count", [1, 3])
def test_a_process_that_is_always_about_to_be_another_is_ended(
    tmp_path: Path, count: int
) -> None:
    script = tmp_path / "wander.sh"
    script.write_text(WANDERER)
    ours, theirs = os.pipe()
    for _ in range(count):
        subprocess.Popen(
            ["sh", str(script), "0"],  # noqa: S607  # whichever there is
            env={**os.environ, "HOLDFAST_RUNTIME_DIR": str(tmp_path)},
            pass_fds=[theirs],
        ).wait()
    os.close(theirs)

    end_everything(str(tmp_path))

    # Its end is told by the last that has the pipe.
    ready, _, _ = select.select([ours], [], [], 1.0)
    os.close(ours)
    assert ready
