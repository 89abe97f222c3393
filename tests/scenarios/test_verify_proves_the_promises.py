"""`verify`, whole, on this machine; and what it leaves when it is broken off."""

import signal
import subprocess
import time
from pathlib import Path

import pytest
from tests.scenarios.support import eventually
from tests.scenarios.verifying import command, environment, folder, left, verified

from holdfast.verify.mode import MODES

BUSY = 480
"""Seconds that it may take on a busy machine; a quiet one needs a fifth of that."""


@pytest.mark.timeout(BUSY)
def test_every_mode_is_injected_and_no_promise_is_broken(tmp_path: Path) -> None:
    page = tmp_path / "report.html"
    with folder() as place:
        status, report = verified(place, "--report", str(page))

        verdicts = {one["name"]: one["verdict"] for one in report["modes"]}
        broken = [
            check
            for one in report["modes"]
            for check in one["checks"]
            if check["outcome"] == "broken"
        ]
        assert broken == []
        assert list(verdicts) == [one.name for one in MODES]
        for name in ("disconnect", "no-replay", "half-applied", "several-actors"):
            assert verdicts[name] == "passed"
        assert verdicts["deputy"] == "passed"
        assert status == 0
        assert left(place) == []
    for one in report["modes"]:
        assert all(check["why"] for check in one["checks"] if _is_missing(check))
    assert {one["injection"] for one in report["controls"]} >= {"server killed"}
    shell = [one for one in report["controls"] if one["program"] == "bare shell"]
    assert shell[0]["survived"] is False
    assert page.read_text().count("<article") == len(MODES)


def _is_missing(check: dict[str, str]) -> bool:
    return check["outcome"] == "unavailable"


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
@pytest.mark.parametrize("moment", [0.5, 2.5])
def test_broken_off_it_leaves_nothing(number: signal.Signals, moment: float) -> None:
    with folder() as place:
        program = subprocess.Popen(
            command("1"),
            env=environment(place),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )
        eventually("an account is there", lambda: list(place.iterdir()))
        time.sleep(moment)  # Somewhere in the midst of it.

        program.send_signal(number)
        program.communicate(timeout=60)

        assert program.returncode != 0
        eventually("nothing is left", lambda: not left(place))
