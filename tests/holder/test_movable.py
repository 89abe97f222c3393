import subprocess
from pathlib import Path

import pytest

from holdfast.core.capsule.runtime_choice import Choice
from holdfast.holder.moment import boottime
from holdfast.holder.movable import (
    authority_for,
    cgroup_for,
    demand_inside,
    first_expiry,
)
from holdfast.linux import cgroups
from holdfast.linux.cgroups import sweep
from holdfast.linux.stored import relays
from holdfast.model.errors import NotMovable
from holdfast.model.ids import SessionId
from holdfast.model.session_requests import Creation

pytestmark = pytest.mark.usefixtures("own_folders")
needs_cgroups = pytest.mark.skipif(
    cgroups.ground().folder is None, reason="no cgroup can be made here"
)
ASKED = Creation(movable=True)
CAPSULE = Choice(is_capsule=True)


def test_what_is_not_movable_has_no_authority_and_no_expiry() -> None:
    relays.add("https://one")

    assert authority_for(Creation(), CAPSULE) == ""
    assert first_expiry("") == 0.0


def test_what_is_plain_cannot_be_movable() -> None:
    with pytest.raises(NotMovable, match="capsule"):
        authority_for(ASKED, Choice(is_capsule=False))


@needs_cgroups
def test_without_a_relay_nothing_is_movable() -> None:
    with pytest.raises(NotMovable, match="no relay"):
        authority_for(ASKED, CAPSULE)


@needs_cgroups
def test_the_first_relay_decides_and_a_next_life_keeps_it() -> None:
    relays.add("https://one")
    relays.add("https://two")

    assert authority_for(ASKED, CAPSULE) == "https://one"
    assert authority_for(ASKED, CAPSULE, "https://three") == "https://three"


def test_a_new_life_may_speak_for_a_while() -> None:
    assert boottime() < first_expiry("https://one") < boottime() + 60


@needs_cgroups
def test_it_has_a_cgroup_of_its_own() -> None:
    with cgroup_for(SessionId("s_movable"), "https://one", had_lives=True) as made:
        sweep(Path(made).parent)

        assert made.endswith("holdfast-s_movable")
        assert Path(made).exists()

    sweep(Path(made).parent)
    assert not Path(made).exists()


def test_a_leader_that_no_fence_would_reach_is_not_started() -> None:
    with subprocess.Popen(["sleep", "60"], start_new_session=True) as leader:  # noqa: S607  # whichever there is
        demand_inside("", "", leader.pid)
        with pytest.raises(NotMovable, match="into its cgroup"):
            demand_inside("https://one", "/nowhere", leader.pid)

        assert leader.wait(10) < 0
