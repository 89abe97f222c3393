"""What happens with the images of a session is told to those who watch."""

import json
import os
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.scenarios.capsules import HOLDFAST, Account, account
from tests.scenarios.test_a_session_goes_on_from_disk import lose
from tests.scenarios.test_every_event_is_told import OF_IMAGES

from holdfast.linux.criu import program

pytestmark = pytest.mark.skipif(
    program.find().program is None, reason="there is no CRIU here: `make criu`"
)


class Watched:
    """A real `holdfast watch` of everything, and what it has printed."""

    def __init__(self, here: Account, output: Path) -> None:
        self._output = output
        with output.open("wb") as printed:
            self.program = subprocess.Popen(
                [HOLDFAST, "watch", "--json"],
                env=here.variables,
                cwd=here.place / "home",
                stdout=printed,
            )

    def told(self, event: str) -> dict[str, Any]:
        """Wait until an event was told; return it."""
        until = time.monotonic() + 60
        while True:
            whole = self._output.read_text().rpartition("\n")[0].splitlines()
            for line in whole:
                found: dict[str, Any] = json.loads(line)
                if found["event"] == event:
                    return found
            assert time.monotonic() < until, whole
            time.sleep(0.05)


@pytest.fixture
def here() -> Iterator[Account]:
    with account(os.getuid()) as made:
        yield made


def test_who_watches_is_told_of_images_and_of_the_lives_that_follow(
    here: Account, tmp_path: Path
) -> None:
    session = here.new("box", "--capsule")
    here.run("box", "true")
    watched = Watched(here, tmp_path / "watched")
    try:
        watched.told("session.seen")
        here.ask("checkpoint", "box", "--label", "one")
        imaged = watched.told("session.checkpointed")
        here.ask("fork", "-d", "box")
        forked = watched.told("session.forked")
        here.ask("checkpoint", "box", "--stop")
        stopped = watched.told("session.stopped")
        here.ask("restore", "-d", "box")
        restored = watched.told("session.restored")
        lose(here)
        here.ask("recover", "-d", "box")
        recovered = watched.told("session.recovered")
    finally:
        watched.program.kill()
        watched.program.wait()

    assert (imaged["image"], imaged["label"]) == (f"{session}.1", "one")
    assert (stopped["image"], stopped["label"]) == (f"{session}.3", "")
    assert imaged["size"] > 0
    assert imaged["actor"] == stopped["actor"] != ""
    assert (restored["incarnation"], recovered["incarnation"]) == (2, 3)
    ours = {"event", "session", "host", "at_ms", "name"}
    for one in (imaged, forked, stopped, restored, recovered):
        (name,) = [known for known in OF_IMAGES if known == one["event"]]
        assert one.keys() - ours == set(name.fields)
