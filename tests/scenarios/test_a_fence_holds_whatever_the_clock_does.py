"""A lease ends in time, whoever stands still and whatever the wall clock says."""

import os
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest
from tests.scenarios.elsewhere import Place, RelayPlace, places, relay
from tests.scenarios.leased import (
    LATEST,
    TTL,
    Ticking,
    boottime,
    host_at_terminal,
    needs_cgroups,
)
from tests.scenarios.support import eventually

pytestmark = needs_cgroups

SHIM = Path(__file__).with_name("stepped_clock.c")
HOUR = 3600
DAY = 86400
AFTER_RESUME = 0.1
"""Seconds that a workload may run after a resume, until one of us is scheduled."""


@pytest.fixture
def point() -> Iterator[RelayPlace]:
    with relay("--lease-ttl", str(TTL)) as made:
        yield made


def keeper_of(place: Place) -> dict[str, int]:
    found: dict[str, int] = place.facts("status")["keeper"]
    return found


def wait_until(at: float) -> None:
    while boottime() < at:
        time.sleep(0.01)


def is_renewed(web: Ticking, before: float) -> bool:
    return float(web.facts()["expires"]) > before + TTL / 2


def tree(leader: int) -> list[int]:
    """Return a process and all that descends from it."""
    children = Path(f"/proc/{leader}/task/{leader}/children").read_text().split()
    return [leader, *(pid for one in children for pid in tree(int(one)))]


def test_with_keeper_and_holder_stopped_the_trustee_fences(
    point: RelayPlace, tmp_path: Path
) -> None:
    with places(1) as (here,), host_at_terminal(here, point.url) as host:
        web = Ticking(here, tmp_path)
        keeper = int(keeper_of(here)["pid"])
        host.send_signal(signal.SIGSTOP)
        web.stop_before_expiry()
        expiry = float(web.facts()["expires"])
        os.kill(keeper, signal.SIGSTOP)

        wait_until(expiry + 2 * LATEST)

        assert not web.runs, "it was not fenced"
        assert web.last - expiry <= LATEST
        os.kill(keeper, signal.SIGCONT)
        host.send_signal(signal.SIGCONT)
        eventually("it goes on", lambda: web.runs)


def test_after_a_time_in_which_nothing_ran_it_is_fenced_at_once(
    point: RelayPlace, tmp_path: Path
) -> None:
    with places(1) as (here,), host_at_terminal(here, point.url) as host:
        web = Ticking(here, tmp_path)
        keeper = keeper_of(here)
        ours = [host.pid, *(int(keeper[one]) for one in ("pid", "trustee", "nursery"))]
        ours.append(int(web.facts()["holder"]))
        work = tree(int(web.facts()["pid"]))
        point.process.send_signal(signal.SIGSTOP)
        expiry = float(web.facts()["expires"])
        for pid in (*work, *ours):
            os.kill(pid, signal.SIGSTOP)

        wait_until(expiry + 1.0)
        resumed = boottime()
        for pid in (*work, *ours):
            os.kill(pid, signal.SIGCONT)
        wait_until(resumed + 1.0)

        assert not web.runs, "it was not fenced"
        assert web.last - resumed <= AFTER_RESUME
        point.process.send_signal(signal.SIGCONT)
        eventually("it goes on", lambda: web.runs)


@pytest.mark.skipif(shutil.which("cc") is None, reason="no compiler for the shim")
def test_a_wall_clock_that_steps_by_an_hour_changes_nothing(
    point: RelayPlace, tmp_path: Path
) -> None:
    library, steps = tmp_path / "stepped.so", tmp_path / "steps"
    subprocess.run(
        ["cc", "-shared", "-fPIC", "-O1", "-o", library, SHIM, "-ldl"],  # noqa: S607
        check=True,
    )
    steps.write_text("0")
    with places(1) as (here,):
        here.folders |= {"LD_PRELOAD": str(library), "STEPPED_CLOCK": str(steps)}
        here.up(point.url)
        web = Ticking(here, tmp_path)
        for shift in (HOUR, -HOUR):
            steps.write_text(str(shift))
            before = float(web.facts()["expires"])

            eventually("it is renewed", partial(is_renewed, web, before))
            eventually("it runs", lambda: web.runs)
        point.process.send_signal(signal.SIGSTOP)
        web.fenced()
        assert here.do("log", "web").count("lease expired") == 1
        point.process.send_signal(signal.SIGCONT)


class Shifted(Place):
    """A machine that was booted a day before this one."""

    def command(self, *words: str) -> list[str]:
        """Return the words that run a verb there."""
        return ["unshare", "-T", "--boottime", str(DAY), *super().command(*words)]


def test_a_machine_with_another_boot_time_fences_by_its_own(
    point: RelayPlace, tmp_path: Path
) -> None:
    with places(1, Shifted) as (here,):
        here.up(point.url)
        web = Ticking(here, tmp_path)
        web.shift = DAY
        eventually("it runs", lambda: web.runs)
        assert float(web.facts()["expires"]) > DAY

        point.process.send_signal(signal.SIGSTOP)
        web.fenced()

        point.process.send_signal(signal.SIGCONT)
        eventually("it goes on", lambda: web.runs)
