import math

import pytest

from holdfast.core.session.idle_sessions import Action
from holdfast.host.reaper import FASTEST, SLOWEST, ReaperDriver, policy_of
from holdfast.model.settings import Reaping


def settings(**chosen: float) -> Reaping:
    made = Reaping()
    for name, value in chosen.items():
        setattr(made, name, value)
    return made


@pytest.mark.parametrize(
    ("after", "warning", "pace"),
    [
        (8 * 3600, 600, 200),
        (24 * 3600, 3600, SLOWEST),
        (120, 600, 10),
        (3600, 0, 300),
        (0, 60, 20),
        (0, 0, SLOWEST),
        (1, 1, FASTEST),
    ],
)
def test_it_looks_as_often_as_the_settings_make_it_worth(
    after: float, warning: float, pace: float
) -> None:
    assert policy_of(settings(after=after, warning=warning)).pace == pace


def test_a_policy_is_what_the_settings_say() -> None:
    caps = policy_of(settings(sessions=20, memory=5, checkpoint=False))

    assert caps.window == math.inf
    assert (caps.max_resident, caps.max_memory) == (20, 5)
    assert caps.action is Action.END
    usual = policy_of(settings(after=60))
    assert (usual.max_resident, usual.max_memory) == (None, None)
    assert usual.action is Action.CHECKPOINT


def test_one_that_is_off_says_so() -> None:
    report = ReaperDriver().report()

    assert not report.on
    assert report.standings == ()
