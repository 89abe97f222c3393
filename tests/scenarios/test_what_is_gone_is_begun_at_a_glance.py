"""The overview lists what was lost or is on disk, and begins it again."""

import pytest
from tests.scenarios.looker import looking
from tests.scenarios.losing import a_machine, begun, holdfast, lose
from tests.scenarios.support import Machine

from holdfast.linux.criu import program

__all__ = ["a_machine"]

ENTER = "\r"


def test_a_lost_session_is_started_again_with_a_yes(here: Machine) -> None:
    session = begun(here, "sh", "-c", "echo here I am; exec sleep 600")
    lose(session)
    with looking() as user:
        user.sees("web", "lost", "Enter starts it again")

        user.press(ENTER)
        user.sees("start web again?")
        user.press("y")

        user.sees("it was started again", "reconstructed")
        assert user.leaves() == 0


@pytest.mark.skipif(
    program.find().program is None, reason="there is no CRIU here: `make criu`"
)
def test_a_session_on_disk_goes_on_with_a_yes(here: Machine) -> None:
    del here
    done = holdfast("new", "--capsule", "-d", "-n", "box", "--", "sleep", "600")
    if "no capsule can be made here" in done.stderr:
        pytest.skip(done.stderr)
    assert holdfast("checkpoint", "box", "--stop").returncode == 0
    with looking() as user:
        user.sees("box", "on disk", "Enter restores it")

        user.press(ENTER)
        user.sees("restore box")
        user.press("y")

        user.sees("restored from disk", "running")
        assert user.leaves() == 0
